import CLinux
import Foundation
import SystemCalls
import Varlink

/// A thread that serves Varlink connections and does what it is told meanwhile.
final class DeviceLoop: @unchecked Sendable {
    private let lock = NSLock()
    private var work: [() -> Void] = []
    private var isOver = false
    private let bell: [Int32]
    private let ended = DispatchSemaphore(value: 0)

    // For the thread alone.
    var servers: [Server] = []
    var connections: [Connection] = []

    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe2(&ends, O_CLOEXEC | O_NONBLOCK)
        bell = ends
        Thread.detachNewThread { [self] in
            while turn() {}
            for server in servers { server.stop(removePath: true) }
            for connection in connections { connection.close() }
            ended.signal()
        }
    }

    /// Has the thread do something, and waits until that is done.
    func perform<Value: Sendable>(_ item: @escaping @Sendable () -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Value?
        lock.withLock {
            work.append {
                result = item()
                done.signal()
            }
        }
        ring()
        done.wait()
        guard let result else { preconditionFailure("the loop has ended") }
        return result
    }

    func stop() {
        lock.withLock { isOver = true }
        ring()
        ended.wait()
        for descriptor in bell { close(descriptor) }
    }

    private func ring() { _ = write(bell[1], "!", 1) }

    private func turn() -> Bool {
        let (items, goesOn) = lock.withLock {
            defer { work = [] }
            return (work, !isOver)
        }
        for item in items { item() }
        guard goesOn else { return false }
        let accepting = servers.filter(\.wantsAccept)
        let serving = connections
        var entries = [pollfd(fd: bell[0], events: Int16(POLLIN), revents: 0)]
        entries += accepting.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        entries += serving.map { connection in
            let events = (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
            return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), -1) > 0 else { return true }
        var drain = [UInt8](repeating: 0, count: 64)
        if entries[0].revents != 0 { _ = read(bell[0], &drain, drain.count) }
        for (server, entry) in zip(accepting, entries.dropFirst()) where entry.revents != 0 { server.onAcceptable() }
        for (connection, entry) in zip(serving, entries.dropFirst(1 + accepting.count)) {
            let events = Int32(entry.revents)
            if events & POLLIN != 0 { connection.onReadable() }
            if events & POLLOUT != 0 { connection.onWritable() }
            if events & (POLLHUP | POLLERR) != 0 { connection.onHangup() }
        }
        return true
    }
}
