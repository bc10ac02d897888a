internal import ArgumentParser
internal import CLinux
internal import Configuration
internal import SystemCalls

struct TryCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Run any program as an app on a private board, and see what would become of it.",
        usage: """
            curfew try [--delegate D] [--script FILE] -- CMD [ARG ...]
            curfew try --app FILE [--script FILE] [-- CMD [ARG ...]]
            """,
        discussion: """
            A private curfewd in a temporary folder runs CMD as its only app and brings it to the front. Then single \
            keys say what happens: \(TryPlay.keys). Time is skipped, not waited for. Each handler's time, each task \
            and each end is printed, and at the end a verdict: how long handlers took, what was killed, why, and what \
            to do about it.

            With --script FILE (- for stdin) the steps come from there, one a line:
              front, background, sleep, wake, memory-warning [critical], skip 5 minutes
              lock, unlock, lid closed|open, charger on|off, battery 15, thermal serious, low-power on|off
              expect CONDITION                     it must be so now
              wait-for CONDITION [within 10s]      it must become so
            where CONDITION is active, inactive, background, suspended, ended, task NAME, tasks or no-tasks.

            Exit code: 0 all is well, 1 something was killed or failed, or a step did not hold, 2 usage, or a mistake \
            in FILE. No rights are needed; where no control group can be written, the app is not frozen.

            Examples:
              curfew try -- python3 uploader.py
              curfew try --script ci/trial -- ./uploader
              curfew try --app deploy/uploader.toml
            """)

    @Option(help: ArgumentHelp("Perform the steps in FILE; - for stdin.", valueName: "FILE"), completion: .file())
    var script: String?
    @Option(
        help: ArgumentHelp("Take the app's settings from FILE, an apps/NAME.toml.", valueName: "FILE"),
        completion: .file(extensions: ["toml"]))
    var app: String?
    @Option(help: ArgumentHelp("How the app hears of transitions: varlink (default), none; hooks, signals with --app."))
    var delegate: Delegate?
    @Argument(parsing: .postTerminator, help: "The program, after --.", completion: .file())
    var command: [String] = []
    @OptionGroup var global: GlobalOptions

    enum Delegate: String, ExpressibleByArgument, CaseIterable { case varlink, hooks, signals, none }

    func validate() throws {
        if global.root != nil { throw ValidationError("A trial makes a root of its own: leave --root out.") }
        if app == nil, command.first?.isEmpty ?? true {
            throw ValidationError("Give the program after two dashes: curfew try -- CMD ARG ...")
        }
        if app == nil, let delegate, delegate == .hooks || delegate == .signals {
            throw ValidationError("Which \(delegate.rawValue)? Name them in an app's file: --app FILE")
        }
        if script == nil, !Terminal.isTerminal(0) {
            throw ValidationError("Keys need a terminal; elsewhere say what to do with --script FILE.")
        }
    }

    func run(_ session: Session) throws(CommandFailure) {
        let script = try readScript(session)
        let subject = try makeApp()
        guard let tool = Program.ownPath else { throw .failed("/proc/self/exe cannot be read") }
        let program = try PrivateDaemon.find(besides: tool)
        let root: PrivateRoot
        let output: AppOutput
        do throws(SystemError) {
            root = try PrivateRoot(purpose: "try")
            output = try AppOutput(session.loop)
            try root.writeApp(subject.name, subject.text)
        } catch {
            throw .failed("the trial cannot make its folder: \(error.text)")
        }
        defer { root.remove() }
        // The app may be of another user, and is to find the daemon's sockets.
        if geteuid() == 0 { chmod(root.path, 0o711) }
        let board = try PrivateBoard(
            session, root, program: program, arguments: ["--trial", "--pass-output"], output: output.writer.rawValue,
            subject: "the trial")
        let play = TryPlay(session, board, app: subject.name, output: output)
        let verdict: TryVerdict
        do throws(CommandFailure) {
            verdict = try perform(script, play, subject, program)
        } catch {
            play.story.isOver = true
            throw board.abandon(error)
        }
        play.story.isOver = true
        board.end(patience: 8)
        show(verdict, session)
        if !verdict.isGood { throw CommandFailure(code: .failed, text: "") }
    }

    private func perform(_ script: TryScript?, _ play: TryPlay, _ subject: TryApp, _ program: String)
        throws(CommandFailure) -> TryVerdict
    {
        let terminal = script == nil ? RawTerminal(0) : nil
        defer { terminal?.restore() }
        for remark in subject.remarks { play.story.note(remark, .caution) }
        try play.begin(program: program, inBackground: subject.startsInBackground)
        let failedStep: String?
        if let script {
            failedStep = try play.perform(script, file: self.script == "-" ? "script" : self.script ?? "script")
        } else {
            try play.followKeys(0)
            failedStep = nil
        }
        try play.finish()
        var verdict = play.verdict
        verdict.failedStep = failedStep
        return verdict
    }

    private func show(_ verdict: TryVerdict, _ session: Session) {
        if session.isJSON { return session.say(verdict.json.line) }
        session.say("")
        for line in verdict.lines(session.style, width: session.console.width) { session.say(line) }
    }

    private func readScript(_ session: Session) throws(CommandFailure) -> TryScript? {
        guard let script else { return nil }
        let bytes: [UInt8]
        do throws(SystemError) {
            // A pipe may have a name too: <(...) of a shell.
            bytes =
                try script == "-"
                ? Self.readInput() : FileDescriptor.open(script, O_RDONLY).readAll(limit: 1 << 20)
        } catch {
            throw CommandFailure(code: .usage, text: "the script cannot be read: \(error.text)")
        }
        let read = TryScript(String(decoding: bytes, as: UTF8.self))
        guard read.mistakes.isEmpty else {
            let name = script == "-" ? "script" : script
            let lines = read.mistakes.map { "\(name):\($0.line): \($0.text)" }
            throw CommandFailure(code: .usage, text: lines.joined(separator: "\n").printableLines)
        }
        return read
    }

    private static func readInput() throws(SystemError) -> [UInt8] {
        try FileDescriptor.duplicate(of: 0).readAll(limit: 1 << 20)
    }

    private func makeApp() throws(CommandFailure) -> TryApp {
        var directory = [CChar](repeating: 0, count: 4096)
        let here = getcwd(&directory, directory.count).map { String(cString: $0) } ?? "/"
        let variables = ((try? Files.read("/proc/self/environ")) ?? []).split(separator: 0)
        let environment = variables.map { String(decoding: $0, as: UTF8.self) }
        var exec: [String]?
        if let first = command.first {
            let path = try CommandPath.find(first)
            exec = [Files.absolute(path)] + command.dropFirst()
        }
        guard let app else {
            return TryApp(
                command: exec ?? [], name: TaskCommand(arguments: command, path: "").plainName,
                delegate: delegate?.rawValue, directory: here, environment: environment)
        }
        return try TryApp(
            file: app, command: exec, delegate: delegate?.rawValue, directory: here, environment: environment)
    }
}
