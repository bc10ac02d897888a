internal import CLinux
internal import SystemCalls
internal import Varlink

/// A command as a background task of the app that it is called in.
final class AppTask {
    /// Seconds between SIGTERM and SIGKILL where the task is over.
    private static let lastMoment = 1.0

    private let session: Session
    private let command: TaskCommand
    private let socket: String
    private let connection: DaemonConnection
    /// Seconds that were asked for; nil: all that the app has.
    private let budget: Double?
    /// When the task was asked for.
    private let begun = Clocks.monotonic
    private var identifier: Int64?
    /// The task's time is about to run out: what is left, in seconds, and when that was said.
    private var warning: (left: Double, at: Int64)?
    private var failure: VarlinkError?

    /// Asks for the task; nil when the daemon does not take us for an app.
    static func begin(_ wish: TaskOptions, _ command: TaskCommand, _ session: Session) throws(CommandFailure)
        -> AppTask?
    {
        guard let socket = session.variable("CURFEW_SOCKET"), !socket.isEmpty,
            !(session.variable("CURFEW_APP") ?? "").isEmpty
        else { return nil }
        let name = wish.name ?? command.name
        let limit = ApplicationInterface.taskNameLimit
        guard name.utf8.count <= limit, name == name.printable else {
            throw CommandFailure(
                code: .usage, text: "a task's name has \(limit) bytes at most, and no control characters")
        }
        let connection = try DaemonConnection.connect(
            to: ApplicationInterface.name, at: socket, root: "", loop: session.loop)
        let task = AppTask(session, command, socket, connection, budget: wish.budget)
        return try task.begin(name, wish) ? task : nil
    }

    private init(
        _ session: Session, _ command: TaskCommand, _ socket: String, _ connection: DaemonConnection, budget: Double?
    ) {
        self.budget = budget
        self.session = session
        self.command = command
        self.socket = socket
        self.connection = connection
    }

    /// False: we are no app's process.
    private func begin(_ name: String, _ wish: TaskOptions) throws(CommandFailure) -> Bool {
        // With our own pid: the task does not outlive us, whatever ends us.
        let parameters: JSONObject = [
            "name": .string(name), "keepAwake": wish.keepAwake ? true : .null,
            "processIdentifier": .integer(Int64(getpid())), "timeAllowed": JSON(wish.budget),
        ]
        connection.begin("BeginBackgroundTask", parameters, more: true) { [weak self] in self?.hear($0) }
        let isAnswered = session.loop.run(patience: DaemonConnection.patience) { identifier != nil || failure != nil }
        switch failure {
        case .error(name: ApplicationInterface.name + ".NotAnApp", parameters: _)? where identifier == nil:
            return false
        case let error? where identifier == nil: throw refusal(error)
        default:
            if !isAnswered { throw refusal(.timedOut) }
            return true
        }
    }

    private func hear(_ response: Response) {
        switch response {
        case .reply(let reply, _) where identifier == nil: identifier = reply["identifier"]?.intValue ?? 0
        case .reply(let reply, _): warning = (reply["timeRemaining"]?.doubleValue ?? 0, Clocks.monotonic)
        case .error(let name, let parameters): failure = .error(name: name, parameters: parameters)
        case .connectionClosed: failure = failure ?? connection.lost
        }
    }

    private func refusal(_ error: VarlinkError) -> CommandFailure {
        guard case .error(let name, let parameters) = error else {
            return .of(error, app: command.name, doing: "run", session: session)
        }
        switch name {
        case ApplicationInterface.name + ".BackgroundTimeDenied":
            let reason = parameters["reason"]?.stringValue ?? "no reason given"
            return .failed("\(command.name) was not run: no background time for it: \(reason)".printable)
        case ApplicationInterface.name + ".TooManyBackgroundTasks":
            let limit = parameters["limit"]?.intValue.map { "\($0)" } ?? "all it may"
            return .failed("\(command.name) was not run: the app holds \(limit) background tasks already; end some")
        default: return .of(error, app: command.name, doing: "run", session: session)
        }
    }

    /// Nothing is left of it, its own time is not over, and the daemon has it no more: another process of the app has
    /// ended it.
    private func isEndedByApp() -> Bool {
        guard let warning, warning.left <= 0 else { return false }
        if let budget, Double(warning.at - begun) / 1e9 >= budget { return false }
        let held = call("GetState")?["tasks"]?.arrayValue ?? []
        return !held.contains { $0["identifier"]?.intValue == identifier }
    }

    /// Runs the command until its end, or that of its time; the exit code.
    func perform() throws(CommandFailure) -> Int32 {
        defer { end() }
        let run = try CommandRun(command, mayHeadGroup: true, session.loop)
        try run.go()
        run.wait { warning != nil || failure != nil }
        if !run.hasEnded, isEndedByApp() {
            session.console.error(
                "curfew: its app has ended the background task of \(command.name), which goes on without one\n")
            run.wait()
            return run.finish().exitCode
        }
        if failure != nil, warning == nil, !run.hasEnded {
            session.console.error(
                "curfew: curfewd has ended; \(command.name) goes on, and is not told when its time runs out\n")
            run.wait()
        }
        guard !run.hasEnded, let warning else { return run.finish().exitCode }
        expire(run, warning.left, warning.at)
        throw CommandFailure(
            code: .timeIsOver,
            text: "the background time of \(command.name) ran out, so it was ended; curfew tasks shows what apps have "
                + "left, and curfew-app(5) how to ask for more (task-budget)")
    }

    /// SIGTERM now, and SIGKILL before its app would be killed for it.
    private func expire(_ run: CommandRun, _ left: Double, _ at: Int64) {
        run.child.signal(SIGTERM)
        // A task without any had a limit of its own, as a rule: no app is killed for it, and there is a moment left.
        let patience = left > 0 ? left - min(0.5, left / 10) : Self.lastMoment
        run.wait(until: at + Int64(patience * 1e9))
        // What it leaves of its group has no more time either.
        run.child.signal(SIGKILL)
        _ = run.finish()
    }

    private func end() {
        // It may have ended by itself, or with its time.
        if let identifier { _ = call("EndBackgroundTask", ["identifier": .integer(identifier)]) }
    }

    /// On a connection of its own: the other one waits for the last word on the task.
    private func call(_ method: String, _ parameters: JSONObject = [:]) -> JSONObject? {
        let connection = try? DaemonConnection.connect(
            to: ApplicationInterface.name, at: socket, root: "", loop: session.loop)
        return try? connection?.call(method, parameters, timeout: 2_000_000_000, mayRepeat: false)
    }
}
