internal import CLinux
internal import CSystemd
public import SystemCalls

/// What is waited for on a descriptor (epoll(7)). Errors and a hang-up are always reported.
public struct Interest: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// EPOLLIN
    public static let readable = Interest(rawValue: EPOLLIN.rawValue)
    /// EPOLLOUT
    public static let writable = Interest(rawValue: EPOLLOUT.rawValue)
    /// EPOLLPRI: cgroup.events, PSI triggers, sysfs attributes.
    public static let priority = Interest(rawValue: EPOLLPRI.rawValue)
    /// EPOLLRDHUP: the peer of a stream socket has closed, or shut down its writing half.
    public static let peerClosed = Interest(rawValue: EPOLLRDHUP.rawValue)
}

/// What has happened on a descriptor.
public struct IOReadiness: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = IOReadiness(rawValue: EPOLLIN.rawValue)
    public static let writable = IOReadiness(rawValue: EPOLLOUT.rawValue)
    public static let priority = IOReadiness(rawValue: EPOLLPRI.rawValue)
    public static let peerClosed = IOReadiness(rawValue: EPOLLRDHUP.rawValue)
    /// EPOLLHUP: both directions are closed; there may still be something to read.
    public static let hangup = IOReadiness(rawValue: EPOLLHUP.rawValue)
    /// EPOLLERR: also the reading end of a pipe was closed. With `.priority` on a cgroup.events file it means nothing.
    public static let error = IOReadiness(rawValue: EPOLLERR.rawValue)
}

/// A watched descriptor, until cancelled or let go of. Level-triggered: the handler is called again as long as the
/// condition holds.
public final class IOSource {
    private var source: SourceHandle?

    init(_ source: consuming SourceHandle) { self.source = consume source }

    /// Waits for something else from now on.
    public func setInterest(_ interest: Interest) throws(SystemError) {
        guard let pointer = source?.pointer else { return }
        try check(sd_event_source_set_io_events(pointer, interest.rawValue), "sd_event_source_set_io_events")
    }

    /// Off: nothing is reported, not even a hang-up, until on again.
    public func setEnabled(_ enabled: Bool) throws(SystemError) {
        guard let pointer = source?.pointer else { return }
        let state = enabled ? SD_EVENT_ON : SD_EVENT_OFF
        try check(sd_event_source_set_enabled(pointer, Int32(state)), "sd_event_source_set_enabled")
    }

    /// The handler is not called any more. To be done before the descriptor is closed.
    public func cancel() { source = nil }
}

extension EventLoop {
    /// Calls `handler` when the descriptor is ready. The descriptor stays the caller's, who cancels the source before
    /// closing it. Regular files cannot be watched (EPERM).
    public func watch(
        _ descriptor: Int32, _ interest: Interest, priority: Int64 = Priority.normal,
        handler: @escaping (IOReadiness) -> Void
    ) throws(SystemError) -> IOSource {
        let callback = Callback(handler)
        var source: OpaquePointer?
        let result = sd_event_add_io(
            self.handle, &source, descriptor, interest.rawValue,
            { _, _, events, pointer in
                guard let pointer else { return 0 }
                let callback = Unmanaged<Callback<IOReadiness>>.fromOpaque(pointer).takeUnretainedValue()
                callback.run(IOReadiness(rawValue: events))
                return 0
            }, callback.retained())
        let handle = try SourceHandle(owning: source, of: callback, result, "sd_event_add_io")
        try check(sd_event_source_set_priority(handle.pointer, priority), "sd_event_source_set_priority")
        return IOSource(handle)
    }
}
