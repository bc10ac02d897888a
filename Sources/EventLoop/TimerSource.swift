internal import CLinux
internal import CSystemd
public import SystemCalls

/// A one-shot timer on CLOCK_MONOTONIC, to be armed again and again; stopped when let go of.
public final class TimerSource {
    private var source: SourceHandle?

    init(_ source: consuming SourceHandle) { self.source = consume source }

    /// Fires once at a time in nanoseconds of CLOCK_MONOTONIC, rounded up to a microsecond: never early. A time that
    /// has passed fires in the next turn of the loop. Replaces what was armed before.
    public func arm(at nanoseconds: Int64) {
        guard let pointer = source?.pointer else { return }
        // Both fail only when the loop has come to its end.
        sd_event_source_set_time(pointer, Self.microseconds(notBefore: nanoseconds))
        sd_event_source_set_enabled(pointer, Int32(SD_EVENT_ONESHOT))
    }

    /// For tests too: the clock is read too late to show a fraction of a microsecond.
    package static func microseconds(notBefore nanoseconds: Int64) -> UInt64 {
        let time = max(nanoseconds, 0)
        return UInt64(time / 1000) + (time % 1000 == 0 ? 0 : 1)
    }

    /// Does not fire any more, until armed again.
    public func disarm() {
        guard let pointer = source?.pointer else { return }
        sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF))
    }

    public func cancel() { source = nil }
}

extension EventLoop {
    /// A timer, disarmed at first. accuracyMicroseconds: by how much it may be late to share a wake-up with others; at
    /// least 1.
    public func timer(
        priority: Int64 = Priority.normal, accuracyMicroseconds: UInt64 = 1, handler: @escaping () -> Void
    ) throws(SystemError) -> TimerSource {
        let callback = Callback<Void> { handler() }
        var source: OpaquePointer?
        // 0 would mean the default of 250 ms.
        let result = sd_event_add_time(
            self.handle, &source, CLOCK_MONOTONIC, UInt64.max, max(accuracyMicroseconds, 1),
            { _, _, pointer in
                guard let pointer else { return 0 }
                Unmanaged<Callback<Void>>.fromOpaque(pointer).takeUnretainedValue().run(())
                return 0
            }, callback.retained())
        let handle = try SourceHandle(owning: source, of: callback, result, "sd_event_add_time")
        try check(sd_event_source_set_enabled(handle.pointer, Int32(SD_EVENT_OFF)), "sd_event_source_set_enabled")
        try check(sd_event_source_set_priority(handle.pointer, priority), "sd_event_source_set_priority")
        return TimerSource(handle)
    }
}
