internal import CLinux
public import SystemCalls

/// Tells when the time of day was set, and when the board resumed from suspend (the kernel treats both alike), until
/// cancelled or let go of. Costs no wake-ups.
public final class ClockChangeSource {
    private let timer: FileDescriptor
    private var source: IOSource?

    fileprivate init(_ timer: consuming FileDescriptor) { self.timer = timer }

    public func cancel() { source = nil }

    deinit { cancel() }

    /// A CLOCK_REALTIME timer at the end of time, which the kernel cancels when the clock jumps (timerfd_create(2)).
    private func arm() throws(SystemError) {
        var time = itimerspec()
        time.it_value.tv_sec = time_t.max
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        // ECANCELED: the clock jumped since the last read; the timer is armed all the same.
        if timerfd_settime(timer.rawValue, flags, &time, nil) != 0, linux_errno() != ECANCELED {
            throw SystemError("timerfd_settime")
        }
    }

    /// Whether the clock has jumped; armed again either way.
    private func hasChanged() -> Bool {
        var expirations: UInt64 = 0
        let count = read(timer.rawValue, &expirations, MemoryLayout<UInt64>.size)
        if count < 0, linux_errno() == EAGAIN || linux_errno() == EINTR { return false }
        do throws(SystemError) { try arm() } catch { cancel() }
        return true
    }

    fileprivate func start(on loop: EventLoop, priority: Int64, handler: @escaping () -> Void) throws(SystemError) {
        try arm()
        source = try loop.watch(timer.rawValue, .readable, priority: priority) { [unowned(unsafe) self] _ in
            if hasChanged() { handler() }
        }
    }
}

extension EventLoop {
    /// Calls `handler` after each jump of CLOCK_REALTIME: it was set, or the board has resumed from suspend.
    public func clockChange(priority: Int64 = Priority.normal, handler: @escaping () -> Void) throws(SystemError)
        -> ClockChangeSource
    {
        let descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError("timerfd_create") }
        let change = ClockChangeSource(FileDescriptor(owning: descriptor))
        try change.start(on: self, priority: priority, handler: handler)
        return change
    }
}
