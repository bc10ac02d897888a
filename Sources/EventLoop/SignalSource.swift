internal import CLinux
internal import CSystemd
public import SystemCalls

/// A signal as signalfd(2) reports it.
public struct ReceivedSignal: Equatable, Sendable {
    public let number: Int32
    /// Who sent it with kill(2) and the like; 0 when the kernel did.
    public let senderPID: Int32
    public let senderUID: UInt32
}

/// Signals that are taken in the loop, until cancelled or let go of. They stay blocked in the thread even then.
public final class SignalSource {
    fileprivate final class One {
        private let source: SourceHandle
        init(_ source: consuming SourceHandle) { self.source = source }
    }
    fileprivate var sources: [One] = []

    public func cancel() { sources = [] }
}

extension EventLoop {
    /// Blocks the signals in this thread and hands them to `handler` instead. A process with several threads has to
    /// block them in all; what is spawned later inherits the mask unless its spawner resets it. One source per signal:
    /// EBUSY.
    public func signals(
        _ signals: [Int32], priority: Int64 = Priority.normal, handler: @escaping (ReceivedSignal) -> Void
    ) throws(SystemError) -> SignalSource {
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        let failure = pthread_sigmask(SIG_BLOCK, &mask, nil)
        guard failure == 0 else { throw SystemError("pthread_sigmask", errno: Errno(rawValue: failure)) }
        let all = SignalSource()
        for signal in signals {
            let callback = Callback(handler)
            var source: OpaquePointer?
            let result = sd_event_add_signal(
                self.handle, &source, signal,
                { _, info, pointer in
                    guard let pointer, let info else { return 0 }
                    let callback = Unmanaged<Callback<ReceivedSignal>>.fromOpaque(pointer).takeUnretainedValue()
                    callback.run(
                        ReceivedSignal(
                            number: Int32(info.pointee.ssi_signo), senderPID: Int32(bitPattern: info.pointee.ssi_pid),
                            senderUID: info.pointee.ssi_uid))
                    return 0
                }, callback.retained())
            let handle = try SourceHandle(owning: source, of: callback, result, "sd_event_add_signal")
            try check(sd_event_source_set_priority(handle.pointer, priority), "sd_event_source_set_priority")
            all.sources.append(SignalSource.One(handle))
        }
        return all
    }
}
