internal import CSystemd
public import SystemCalls

/// A handler that runs when other handlers have run, until cancelled or let go of.
public final class RoundSource {
    private var source: SourceHandle?

    init(_ source: consuming SourceHandle) { self.source = consume source }

    public func cancel() { source = nil }
}

extension EventLoop {
    /// Calls `handler` before the loop waits again, if any other source's handler has run since (sd_event_add_post(3)).
    /// With several sources ready at once it is called after at least the first of them and at least once after the
    /// last. It takes its turn by `priority`: at `.idle`, a source that is always ready keeps it from running at all.
    public func beforeWaiting(priority: Int64 = Priority.normal, handler: @escaping () -> Void) throws(SystemError)
        -> RoundSource
    {
        let callback = Callback<Void> { handler() }
        var source: OpaquePointer?
        let result = sd_event_add_post(
            self.handle, &source,
            { _, pointer in
                guard let pointer else { return 0 }
                Unmanaged<Callback<Void>>.fromOpaque(pointer).takeUnretainedValue().run(())
                return 0
            }, callback.retained())
        let handle = try SourceHandle(owning: source, of: callback, result, "sd_event_add_post")
        try check(sd_event_source_set_priority(handle.pointer, priority), "sd_event_source_set_priority")
        return RoundSource(handle)
    }
}
