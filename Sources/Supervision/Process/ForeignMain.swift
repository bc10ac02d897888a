internal import EventLoop
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// A main process that is no child of our asking: MAINPID= has named it, or it was taken over. How it has ended the
/// kernel tells its parent alone, which is our keeper where that has ended before.
final class ForeignMain {
    let handle: ProcessHandle
    private unowned(unsafe) let supervisor: Supervisor
    private let didEnd: (ExitStatus) -> Void
    /// nil: not known, and how it ends will not be.
    private let start: UInt64?
    /// nil once it has ended.
    private var source: IOSource?
    private var question: Int64?

    init(_ handle: ProcessHandle, _ supervisor: Supervisor, didEnd: @escaping (ExitStatus) -> Void)
        throws(SystemError)
    {
        self.handle = handle
        self.supervisor = supervisor
        self.didEnd = didEnd
        start = handle.startTime
        source = try supervisor.loop.watch(handle.descriptor, .readable) { [unowned(unsafe) self] _ in ended() }
    }

    deinit { if let question { supervisor.keeper.forget(question: question) } }

    /// nil once it has ended.
    var pid: Int32? { source == nil ? nil : handle.pid }

    private func ended() {
        source = nil
        if let start {
            question = supervisor.keeper.askEnd(of: handle.pid, startedAt: start) { [unowned(unsafe) self] end in
                question = nil
                tell(end.map { ExitStatus($0) } ?? .unknown)
            }
        }
        if question == nil { tell(.unknown) }
    }

    /// By this end its process may let go of us.
    private func tell(_ status: ExitStatus) { withExtendedLifetime(self) { didEnd(status) } }
}

extension ExitStatus {
    init(_ end: ProcessExit) {
        switch end.cause {
        case .exited(let code): self = .exited(code)
        case .signalled(let number, _): self = .signalled(number)
        }
    }
}
