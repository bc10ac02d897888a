import CLinux
import SystemCalls
import Testing
import Varlink

/// A small level-triggered event loop over poll(2), for connections and servers.
final class PollLoop {
    private var connections: [Connection] = []
    private var servers: [Server] = []
    private(set) var closed: [(connection: Connection, reason: CloseReason)] = []
    /// Times poll(2) came back with something: a loop that spins shows here.
    private(set) var wakes = 0

    func add(_ connection: Connection) {
        connections.append(connection)
        connection.onClosed = { [self] connection, reason in remove(connection, reason) }
    }

    func add(_ server: Server) {
        servers.append(server)
        server.onConnected = { [self] in connections.append($0) }
        server.onDisconnected = { [self] in remove($0, $1) }
    }

    private func remove(_ connection: Connection, _ reason: CloseReason) {
        // Still open here: the owner stops watching before the number can mean something else.
        #expect(fcntlIsOpen(connection.descriptor))
        connections.removeAll { $0 === connection }
        closed.append((connection, reason))
    }

    func stop() {
        for server in servers { server.stop(removePath: true) }
        for connection in connections { connection.close() }
        servers = []
    }

    func reason(_ connection: Connection) -> CloseReason? { closed.first { $0.connection === connection }?.reason }

    /// Until `condition`, at most 20 s; whether it came true.
    func run(until condition: () -> Bool) -> Bool {
        let deadline = Clocks.monotonic + 20_000_000_000
        while !condition() {
            let left = deadline - Clocks.monotonic
            if left <= 0 || !turn(milliseconds: Int32(left / 1_000_000) + 1) { return condition() }
        }
        return true
    }

    /// Until nothing is ready. What one local socket sends is ready at the other when send(2) returns.
    func runUntilQuiet() {
        var turns = 0
        while turn(milliseconds: 0) {
            turns += 1
            if turns > 20_000 {
                Issue.record("the loop spins")
                return
            }
        }
    }

    /// One wait; false where it found nothing.
    func turn(milliseconds: Int32) -> Bool {
        let watchedServers = servers.filter(\.wantsAccept)
        let watched = connections
        var entries = watchedServers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        entries += watched.map { connection in
            let events = (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
            return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
        }
        guard poll(&entries, UInt(entries.count), milliseconds) > 0 else { return false }
        wakes += 1
        for (server, entry) in zip(watchedServers, entries) where entry.revents != 0 { server.onAcceptable() }
        for (connection, entry) in zip(watched, entries.dropFirst(watchedServers.count)) {
            let events = Int32(entry.revents)
            if events & POLLIN != 0 { connection.onReadable() }
            if events & POLLOUT != 0 { connection.onWritable() }
            if events & (POLLHUP | POLLERR) != 0 { connection.onHangup() }
        }
        return true
    }
}

func fcntlIsOpen(_ descriptor: Int32) -> Bool { linux_get_flags(descriptor) >= 0 }

struct Received: Equatable {
    let text: String
    let ended: Bool

    init(_ text: String, ended: Bool) {
        self.text = text
        self.ended = ended
    }
}

/// The plain end of a socket: what a peer does without any code of ours.
final class RawPeer {
    private let socket: FileDescriptor

    init(socket: consuming FileDescriptor) { self.socket = consume socket }

    /// close(2) alone may not be the end of it: a child that another test is about to start has a copy up to its exec.
    deinit { _ = shutdown(socket.rawValue, Int32(SHUT_RDWR)) }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = linux_unix_send(socket.rawValue, Array(bytes[sent...]), bytes.count - sent)
            if count < 0 { break }
            sent += count
        }
        #expect(sent == bytes.count)
    }

    /// What has arrived by now, and whether the stream has ended.
    func receive() -> Received {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = linux_unix_receive(socket.rawValue, &buffer, buffer.count)
            if count <= 0 {
                return Received(String(decoding: all, as: UTF8.self), ended: count == 0 || Errno.current != .again)
            }
            all += buffer[0..<count]
        }
    }

    /// What comes up to the end of the stream, which has ended on the other side by now; a child that another test is
    /// about to start may have a copy of that end up to its exec.
    func receiveToEnd() -> Received {
        var text = ""
        let deadline = Clocks.monotonic + 10_000_000_000
        while true {
            let next = receive()
            text += next.text
            if next.ended || Clocks.monotonic > deadline { return Received(text, ended: next.ended) }
            var entry = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 1000)
        }
    }

    func shutdownWriting() { _ = shutdown(socket.rawValue, Int32(SHUT_WR)) }
}
