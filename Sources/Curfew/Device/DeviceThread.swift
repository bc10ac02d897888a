internal import CLinux
internal import Synchronization
internal import SystemCalls
internal import Varlink

/// The one thread that talks to the device, so that no thread of the concurrency pool ever waits for a socket. It
/// sleeps in poll(2) until a socket, a timer or a thread with work for it wakes it.
final class DeviceThread: Sendable {
    typealias Work = @Sendable (DeviceLink) -> Void

    private struct Inbox {
        var work: [Work] = []
        var isOpen = true
    }

    private let inbox = Mutex(Inbox())
    /// eventfd(2): there is work.
    private let bell: FileDescriptor

    init() throws(CurfewError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .systemCallFailed(SystemError("eventfd").text) }
        bell = FileDescriptor(owning: descriptor)
    }

    /// Starts the thread, with what it works on: made, used and freed there.
    func start(_ makeLink: @escaping @Sendable () -> DeviceLink) throws(CurfewError) {
        let start = Unmanaged.passRetained(Start(self, makeLink))
        let error = linux_start_thread(
            "curfew-device",
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                start.thread.run(start.makeLink)
                return nil
            }, start.toOpaque())
        guard error == 0 else {
            start.release()
            throw .systemCallFailed(SystemError("pthread_create", errno: Errno(rawValue: error)).text)
        }
    }

    private final class Start: Sendable {
        let thread: DeviceThread
        let makeLink: @Sendable () -> DeviceLink

        init(_ thread: DeviceThread, _ makeLink: @escaping @Sendable () -> DeviceLink) {
            self.thread = thread
            self.makeLink = makeLink
        }
    }

    /// Has the thread do something, in the order of the calls. False, and nothing is done, after `stop`.
    @discardableResult
    func perform(_ work: @escaping Work) -> Bool {
        let isTaken = inbox.withLock { inbox in
            if inbox.isOpen { inbox.work.append(work) }
            return inbox.isOpen
        }
        if isTaken { ring() }
        return isTaken
    }

    /// Has the thread do what it was given before, close its connections, and end.
    func stop() {
        inbox.withLock { $0.isOpen = false }
        ring()
    }

    private func ring() {
        var one: UInt64 = 1
        // A full counter rings too.
        _ = write(bell.rawValue, &one, MemoryLayout.size(ofValue: one))
    }

    private func run(_ makeLink: () -> DeviceLink) {
        let link = makeLink()
        while true {
            let (work, isOpen) = inbox.withLock { inbox in
                defer { inbox.work = [] }
                return (inbox.work, inbox.isOpen)
            }
            for item in work { item(link) }
            guard isOpen else { return link.close() }
            link.onTime()
            wait(link)
        }
    }

    private func wait(_ link: DeviceLink) {
        let connections = link.connections
        var entries = [pollfd(fd: bell.rawValue, events: Int16(POLLIN), revents: 0)]
        entries += connections.map { connection in
            let events = (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
            return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), timeout(until: link.nextTime)) > 0 else { return }
        if entries[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(bell.rawValue, &count, MemoryLayout.size(ofValue: count))
        }
        link.onReady(zip(connections, entries.dropFirst()).map { ($0, Int32($1.revents)) })
    }

    /// For poll(2): milliseconds, rounded up; -1 for no limit.
    private func timeout(until time: Int64?) -> Int32 {
        guard let time else { return -1 }
        return Int32(clamping: (max(0, time - Clocks.monotonic) + 999_999) / 1_000_000)
    }
}
