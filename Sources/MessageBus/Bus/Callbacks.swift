internal import CLinux
internal import CSystemd
internal import SystemCalls

/// What a C callback finds behind its userdata pointer. The slot or source owns one reference and lets go of it when
/// freed, which libsystemd puts off until a handler that is running has returned.
class RetainedByBus {
    func retained() -> UnsafeMutableRawPointer { Unmanaged<RetainedByBus>.passRetained(self).toOpaque() }

    /// An event source that has been made for it: it lets go of it when freed.
    func owned(by source: OpaquePointer?, _ priority: Int32, _ result: Int32, _ operation: String)
        throws(SystemError) -> OpaquePointer
    {
        guard result >= 0, let source else {
            Unmanaged<RetainedByBus>.passUnretained(self).release()
            throw SystemError(operation, errno: Errno(rawValue: -result))
        }
        sd_event_source_set_destroy_callback(source, RetainedByBus.release)
        let isSet = sd_event_source_set_priority(source, Int64(priority))
        if isSet < 0 { sd_event_source_disable_unref(source) }
        try check(isSet, "sd_event_source_set_priority")
        return source
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        if let pointer { Unmanaged<RetainedByBus>.fromOpaque(pointer).release() }
    }
}

final class BusCallback<Argument>: RetainedByBus {
    let run: (Argument) -> Void
    init(_ run: @escaping (Argument) -> Void) { self.run = run }
}

/// The result of a libsystemd call, or its negative errno as an error.
@discardableResult
func check(_ result: Int32, _ operation: String, _ subject: String = "") throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(operation, subject, errno: Errno(rawValue: -result)) }
    return result
}

/// A one-shot timer on CLOCK_MONOTONIC, stopped when let go of.
final class Delay {
    private let source: OpaquePointer

    init(event: OpaquePointer, priority: Int32, handler: @escaping () -> Void) throws(SystemError) {
        let callback = BusCallback<Void> { handler() }
        var source: OpaquePointer?
        let result = sd_event_add_time(
            event, &source, CLOCK_MONOTONIC, UInt64.max, 1,
            { _, _, pointer in
                guard let pointer else { return 0 }
                Unmanaged<BusCallback<Void>>.fromOpaque(pointer).takeUnretainedValue().run(())
                return 0
            }, callback.retained())
        self.source = try callback.owned(by: source, priority, result, "sd_event_add_time")
        stop()
    }

    /// Runs the handler once in so many nanoseconds; 0: in the next turn of the loop.
    func start(nanoseconds: Int64) {
        let due = nanoseconds > 0 ? Clocks.monotonic + nanoseconds : 0
        sd_event_source_set_time(source, UInt64(due / 1000 + 1))
        sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT))
    }

    func stop() { sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)) }

    deinit { sd_event_source_disable_unref(source) }
}
