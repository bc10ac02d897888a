internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// A main process that is no child of our asking: MAINPID= has named it, or it was taken over. How it has ended the
/// kernel tells its parent alone, which is our keeper where that has ended before.
final class ForeignMain {
    /// nil: it has ended before this loop.
    let handle: ProcessHandle?
    private unowned(unsafe) let supervisor: Supervisor
    private let didEnd: (ExitStatus) -> Void
    /// nil: not known, and how it ends will not be.
    let identity: UInt64?
    private let number: Int32
    /// nil once it has ended.
    private var source: IOSource?
    private var question: Int64?

    init(_ handle: ProcessHandle, _ supervisor: Supervisor, didEnd: @escaping (ExitStatus) -> Void)
        throws(SystemError)
    {
        self.handle = handle
        self.supervisor = supervisor
        self.didEnd = didEnd
        identity = handle.identity
        number = handle.pid
        source = try supervisor.loop.watch(handle.descriptor, .readable) { [unowned(unsafe) self] _ in ended() }
        if let identity { supervisor.keeper.follow(number, identity: identity) }
    }

    /// One that an earlier loop has followed and that is gone: `didEnd` hears how it has ended.
    init(gone pid: Int32, identity: UInt64, _ supervisor: Supervisor, didEnd: @escaping (ExitStatus) -> Void) {
        handle = nil
        self.supervisor = supervisor
        self.didEnd = didEnd
        self.identity = identity
        number = pid
        supervisor.keeper.follow(pid, identity: identity)
    }

    deinit {
        if let question { supervisor.keeper.forget(question: question) }
        if let identity { supervisor.keeper.follow(number, identity: identity, false) }
    }

    /// nil once it has ended.
    var pid: Int32? { source == nil ? nil : number }

    func ended() {
        source = nil
        if let identity {
            question = supervisor.keeper.askEnd(of: number, identity: identity) { [unowned(unsafe) self] end in
                question = nil
                tell(end.map { ExitStatus($0) } ?? .unknown)
            }
        }
        if question == nil { tell(.unknown) }
    }

    /// By this end its process may let go of us.
    private func tell(_ status: ExitStatus) { withExtendedLifetime(self) { didEnd(status) } }
}

extension AppProcess {
    /// MAINPID=: another process of the same control group is the main one from now on.
    func followMainPID(_ pid: Int32) {
        guard pid != mainPID, heldExit == nil, supervisor.groups != nil, group != nil else { return }
        // Ours again: the kernel will say how it ends.
        if let child, child.pid == pid, !child.isOver {
            foreignMain = nil
            return tellOfMainProcess()
        }
        guard let handle = try? ProcessHandle.open(pid), hasInGroup(handle) else {
            supervisor.log.caused(by: app.name, .warning, "MAINPID=\(pid) is no process of \(app.name): ignored")
            return
        }
        guard let main = try? ForeignMain(handle, supervisor, didEnd: { [unowned(unsafe) self] in mainDidEnd($0) })
        else { return }
        foreignMain = main
        tellOfMainProcess()
    }

    private func tellOfMainProcess() { supervisor.detailsDidChange(app.id) }

    /// A process that is not our child: into our group, and followed from here.
    func takeOver(_ handle: ProcessHandle) throws(SystemError) {
        // Before it is moved, which cannot be taken back.
        let main = try ForeignMain(handle, supervisor) { [unowned(unsafe) self] in mainDidEnd($0) }
        guard handle.holdsPid else { throw SystemError("take over", "\(handle.pid)", errno: .noProcess) }
        try group?.add(handle.pid)
        // The pid may have changed hands before it was moved.
        guard handle.holdsPid else { throw SystemError("take over", "\(handle.pid)", errno: .noProcess) }
        foreignMain = main
        isSpawned = true
    }

    /// As an earlier loop did.
    func followAgain(_ pid: Int32, _ identity: UInt64) {
        let didEnd: (ExitStatus) -> Void = { [unowned(unsafe) self] in mainDidEnd($0) }
        if let handle = try? ProcessHandle.open(pid), handle.identity == identity,
            let main = try? ForeignMain(handle, supervisor, didEnd: didEnd)
        {
            foreignMain = main
        } else {
            foreignMain = ForeignMain(gone: pid, identity: identity, supervisor, didEnd: didEnd)
        }
    }
}

extension ExitStatus {
    init(_ end: ProcessExit) {
        switch end.cause {
        case .exited(let code): self = .exited(code)
        case .signalled(let number, _): self = .signalled(number)
        }
    }
}
