internal import CSystemd
public import SystemCalls

/// One thread's event loop (sd-event(3)): descriptors and timers, each with a handler.
///
/// Sources with a lower priority value go first; among equals, the one that has waited longest. Handlers may cancel any
/// source, their own included, and may add new ones. Not Sendable: the loop and all its sources belong to one thread.
public final class EventLoop {
    /// Priorities as sd-event has them; any other value is as good.
    public enum Priority {
        public static let important: Int64 = -100
        public static let normal: Int64 = 0
        public static let idle: Int64 = 100
    }

    /// The `sd_event` behind, for sd_bus_attach_event(3). Valid as long as the loop.
    public let handle: OpaquePointer
    private let posted = PostedHandlers()
    private var postedSource: SourceHandle?
    private var serviceWatchdog: TimerSource?

    public init() throws(SystemError) {
        var event: OpaquePointer?
        try check(sd_event_new(&event), "sd_event_new")
        guard let event else { throw SystemError("sd_event_new", errno: .noMemory) }
        handle = event
        var source: OpaquePointer?
        let result = sd_event_add_defer(event, &source, PostedHandlers.dispatch, posted.retained())
        postedSource = try SourceHandle(owning: source, of: posted, result, "sd_event_add_defer")
        try check(sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)), "sd_event_source_set_enabled")
    }

    deinit {
        serviceWatchdog = nil
        postedSource = nil
        sd_event_unref(handle)
    }

    /// Handles events until `exit(code:)`; returns its code.
    public func run() throws(SystemError) -> Int32 {
        try check(sd_event_loop(handle), "sd_event_loop")
    }

    /// Waits for an event and runs the handler of one source; false when none came in time. nil waits without limit.
    @discardableResult
    public func runOnce(timeoutMicroseconds: UInt64? = nil) throws(SystemError) -> Bool {
        try check(sd_event_run(handle, timeoutMicroseconds ?? UInt64.max), "sd_event_run") > 0
    }

    /// Lets `run()` return once the current handler is done; what is posted by then is not run. code: 0 or above.
    public func exit(code: Int32) {
        sd_event_exit(handle, code < 0 ? 1 : code)
    }

    /// CLOCK_MONOTONIC in nanoseconds as it was when the loop last woke up, rounded down to microseconds; outside of
    /// `run()`, now.
    public var now: Int64 {
        var microseconds: UInt64 = 0
        guard sd_event_now(handle, CLOCK_MONOTONIC, &microseconds) >= 0 else { return Clocks.monotonic }
        return Int64(clamping: microseconds) &* 1000
    }

    /// Runs a handler once, after the current one has returned; in the order of posting. A handler that is posted by a
    /// posted one waits for the next turn of the loop, so that others have theirs in between.
    public func post(_ handler: @escaping () -> Void) {
        posted.handlers.append(handler)
        // Fails only when the loop has come to its end; then nothing runs any more.
        sd_event_source_set_enabled(postedSource?.pointer, Int32(SD_EVENT_ONESHOT))
    }

    /// Has systemd's service watchdog answered (WatchdogSec=): calls `ping` now and then twice in each WATCHDOG_USEC,
    /// from the loop, so that a loop that hangs is noticed. Returns that time in microseconds; nil, and no timer, where
    /// the service manager asked for none. Takes WATCHDOG_USEC and WATCHDOG_PID out of the environment.
    /// sd_event_set_watchdog(3) is not used: it finds NOTIFY_SOCKET in the environment at each ping, where it must not
    /// stay.
    public func enableServiceWatchdog(ping: @escaping () -> Void) throws(SystemError) -> UInt64? {
        var microseconds: UInt64 = 0
        guard try check(sd_watchdog_enabled(1, &microseconds), "sd_watchdog_enabled") > 0 else { return nil }
        let interval = max(Int64(clamping: microseconds / 2), 1000) &* 1000
        let timer = try timer(priority: Priority.normal, accuracyMicroseconds: UInt64(interval / 8000)) {
            [unowned(unsafe) self] in
            ping()
            serviceWatchdog?.arm(at: Clocks.monotonic + interval)
        }
        serviceWatchdog = timer
        ping()
        timer.arm(at: Clocks.monotonic + interval)
        return microseconds
    }
}

/// What `EventLoop.post` was given and has not run yet.
private final class PostedHandlers: Retained {
    var handlers: [() -> Void] = []

    static let dispatch: sd_event_handler_t = { _, pointer in
        guard let pointer else { return 0 }
        let queue = Unmanaged<PostedHandlers>.fromOpaque(pointer).takeUnretainedValue()
        let handlers = queue.handlers
        queue.handlers = []
        for handler in handlers { handler() }
        return 0
    }
}
