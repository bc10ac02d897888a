internal import CLinux
public import SystemCalls

/// Many descriptors of one kind behind one source of the loop: an epoll(7) of their own below the loop's.
///
/// sd-event asks the kernel for all that is ready before each handler that it runs: with a hundred connections ready, a
/// hundred times a hundred. A group asks once for up to `turn` of its members; those that had no turn come first in the
/// next one. Between two turns every other source has its own; a turn ends early once it has taken long.
public final class IOGroup {
    /// Members that are served before other sources have their turn.
    public static let turn = 16
    /// Nanoseconds after which no further member is served before them.
    private static let longestTurn: Int64 = 5_000_000

    private let epoll: FileDescriptor
    private var source: IOSource?
    /// By a number that is never used again: what the kernel has said of a member that is gone finds no other.
    private var handlers: [UInt64: Callback<IOReadiness>] = [:]
    private var lastNumber: UInt64 = 0
    private let ready: UnsafeMutablePointer<epoll_event>
    /// What of `ready` an early end of the turn has left: first in the next, or one that is slow and always ready would
    /// have every turn.
    private var left = 0..<0

    fileprivate init(_ epoll: consuming FileDescriptor) {
        self.epoll = epoll
        ready = .allocate(capacity: Self.turn)
    }

    deinit {
        source = nil
        ready.deallocate()
    }

    /// Calls `handler` when the descriptor is ready, as `EventLoop.watch` does, until the member is cancelled or let go
    /// of: before the descriptor is closed.
    public func watch(_ descriptor: Int32, _ interest: Interest, handler: @escaping (IOReadiness) -> Void)
        throws(SystemError) -> IOGroupMember
    {
        lastNumber += 1
        let number = lastNumber
        try control(EPOLL_CTL_ADD, descriptor, number, interest)
        handlers[number] = Callback(handler)
        return IOGroupMember(self, number, descriptor)
    }

    fileprivate func control(_ operation: Int32, _ descriptor: Int32, _ number: UInt64, _ interest: Interest)
        throws(SystemError)
    {
        var event = epoll_event()
        event.events = interest.rawValue
        event.data.u64 = number
        if epoll_ctl(epoll.rawValue, operation, descriptor, &event) != 0 { throw SystemError("epoll_ctl") }
    }

    /// One that was cancelled may have left its descriptor's number to another.
    fileprivate func change(_ number: UInt64, _ descriptor: Int32, _ interest: Interest) throws(SystemError) {
        if handlers[number] != nil { try control(EPOLL_CTL_MOD, descriptor, number, interest) }
    }

    fileprivate func remove(_ number: UInt64, _ descriptor: Int32) {
        guard handlers.removeValue(forKey: number) != nil else { return }
        try? control(EPOLL_CTL_DEL, descriptor, number, [])
    }

    fileprivate func start(on loop: EventLoop, priority: Int64) throws(SystemError) {
        source = try loop.watch(epoll.rawValue, .readable, priority: priority) { [unowned(unsafe) self] _ in serve() }
    }

    private func serve() {
        if left.isEmpty {
            // EINTR cannot be, as nothing is waited for.
            left = 0..<max(0, Int(epoll_wait(epoll.rawValue, ready, Int32(Self.turn), 0)))
        }
        let end = Clocks.monotonic + Self.longestTurn
        while let index = left.popFirst() {
            // The handler of one before it may have cancelled it.
            guard let handler = handlers[ready[index].data.u64] else { continue }
            handler.run(IOReadiness(rawValue: ready[index].events))
            if Clocks.monotonic >= end { return }
        }
    }
}

/// A watched descriptor of a group, until cancelled or let go of. Level-triggered.
public final class IOGroupMember {
    private let group: IOGroup
    private let number: UInt64
    private let descriptor: Int32

    fileprivate init(_ group: IOGroup, _ number: UInt64, _ descriptor: Int32) {
        self.group = group
        self.number = number
        self.descriptor = descriptor
    }

    /// Waits for something else from now on.
    public func setInterest(_ interest: Interest) throws(SystemError) {
        try group.change(number, descriptor, interest)
    }

    /// The handler is not called any more. To be done before the descriptor is closed.
    public func cancel() { group.remove(number, descriptor) }

    deinit { cancel() }
}

extension EventLoop {
    /// A group without members yet; it stops when it and all of its members are let go of.
    public func group(priority: Int64 = Priority.normal) throws(SystemError) -> IOGroup {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("epoll_create1") }
        let group = IOGroup(FileDescriptor(owning: descriptor))
        try group.start(on: self, priority: priority)
        return group
    }
}
