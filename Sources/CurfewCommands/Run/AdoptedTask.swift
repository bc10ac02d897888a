internal import CLinux
internal import Configuration
internal import SystemCalls
internal import Varlink

/// A command as a task of its own, `task-NAME`, that the daemon takes over from the tool.
final class AdoptedTask {
    static let prefix = "task-"
    /// What an app's name leaves for it.
    static let nameLimit = 63 - prefix.utf8.count
    /// How long the daemon's word on an end may take.
    private static let patience: Int64 = 2_000_000_000

    private let session: Session
    private let command: TaskCommand
    private let wish: TaskOptions
    private let name: String
    private var app: String { Self.prefix + name }

    private var isSynchronized = false
    private var isLost = false
    /// The task's; 0: not known yet.
    private var identifier: Int64 = 0
    /// The last end that the daemon has recorded under that name, and what tasks had begun before it.
    private var end: (record: TerminationRecord, begun: Set<Int64>)?
    /// Our task's: an older one of that name may have ended while we asked for ours.
    private var termination: TerminationRecord? { end.flatMap { $0.begun.contains(identifier) ? $0.record : nil } }
    /// Tasks of the app, by identifier: the command may begin more of them.
    private var begun: Set<Int64> = []
    /// Those whose time was about to run out, for which there was a SIGTERM; or has run out.
    private var expired: Set<Int64> = []

    init(_ wish: TaskOptions, _ command: TaskCommand, _ session: Session) throws(CommandFailure) {
        self.session = session
        self.command = command
        self.wish = wish
        name = wish.name ?? command.plainName
        guard AppName.isWellFormed(Self.prefix + name) else {
            let fitting = TaskCommand.plain(name)
            throw CommandFailure(
                code: .usage,
                text: "the name of a task of its own is 1 to \(Self.nameLimit) of the characters a-z, 0-9 and -: "
                    + "--name \(fitting)")
        }
    }

    /// Runs the command until its end, or that of its budget; the exit code.
    func perform() throws(CommandFailure) -> Int32 {
        let control = try session.control()
        let monitor = try watch()
        defer { withExtendedLifetime(monitor) {} }
        let run = try CommandRun(command, mayHeadGroup: false, session.loop)
        do throws(VarlinkError) {
            let reply = try control.call(
                "AdoptTask",
                [
                    "name": .string(name), "processIdentifier": .integer(Int64(run.child.pid)),
                    "keepAwake": wish.keepAwake ? true : .null, "budget": JSON(wish.budget),
                ], mayRepeat: false)
            identifier = reply["identifier"]?.intValue ?? 0
        } catch {
            throw .of(error, app: app, doing: "run", session: session)
        }
        try run.go()
        run.wait()
        let exit = run.finish()
        _ = session.loop.run(patience: Self.patience) { termination != nil || isLost }
        guard expired.contains(identifier) || termination?.namespace == "backgroundTask" else { return exit.exitCode }
        let report = termination?.report.map { " (\(session.tool) report \($0))" } ?? ""
        let more = "give it more with --budget"
        throw CommandFailure(code: .timeIsOver, text: "the budget of \(app) ran out, so it was ended; \(more)\(report)")
    }

    /// Listens for the end of the task, from before its begin.
    private func watch() throws(CommandFailure) -> DaemonConnection {
        let monitor = try DaemonConnection.connect(root: session.root, loop: session.loop)
        monitor.begin("Monitor", more: true) { [weak self] response in
            switch response {
            case .reply(let reply, _): self?.hear(MonitorChange(reply))
            case .error, .connectionClosed: self?.isLost = true
            }
        }
        let isAnswered = session.loop.run(patience: DaemonConnection.patience) { isSynchronized || isLost }
        if !isSynchronized { throw .of(isAnswered ? .closed : .timedOut, app: nil, doing: "watched", session: session) }
        return monitor
    }

    private func hear(_ change: MonitorChange) {
        switch change.kind {
        case "synchronized": isSynchronized = true
        // An older task of the same name may be known from before.
        case "termination" where isSynchronized && change.app == app: end = (TerminationRecord(change.detail), begun)
        case "task" where isSynchronized && change.app == app:
            let task = BackgroundTaskRecord(change.detail)
            // Between its begin and its end there is only one thing to say of a task: that its time runs out.
            let isNew = begun.insert(task.identifier).inserted
            if task.ended == "expired" || task.ended == nil && !isNew { expired.insert(task.identifier) }
        default: break
        }
    }
}
