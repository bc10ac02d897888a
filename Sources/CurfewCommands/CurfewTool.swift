internal import ArgumentParser
internal import Configuration

/// The `curfew` command as a function, so that it can be tested.
public enum CurfewTool {
    /// The version of the tool; the daemon's is the same.
    public static let version = "0.1.0"

    /// arguments: without the program's name. Returns the exit code: 0 done, 1 failed, 2 usage, 3 no such app, 4 the
    /// daemon is not running.
    public static func run(_ arguments: [String], console: Console = .standard) -> Int32 {
        run(arguments, console, variable: { Terminal.variable($0) })
    }

    /// The same, in another environment.
    static func run(_ arguments: [String], _ console: Console, variable: @escaping (String) -> String?) -> Int32 {
        do {
            var command = try CurfewCommand.parseAsRoot(arguments)
            guard let sessionCommand = command as? any SessionCommand else {
                try command.run()
                return 0
            }
            let session = Session(console, sessionCommand.global, variable: variable)
            try sessionCommand.run(session)
            return session.exitCode
        } catch let failure as CommandFailure {
            if !failure.text.isEmpty {
                console.error(console.errorStyle.paint("curfew:", .bad) + " " + failure.text.printableLines + "\n")
            }
            return failure.code.rawValue
        } catch {
            let isSuccess = CurfewCommand.exitCode(for: error).isSuccess
            let message = isSuccess ? CurfewCommand.fullMessage(for: error) : usage(error, arguments)
            if !message.isEmpty { (isSuccess ? console.output : console.error)(message + "\n") }
            return isSuccess ? 0 : CommandFailure.Code.usage.rawValue
        }
    }

    /// What is wrong with a command line: for an unknown command, the one that may have been meant.
    private static func usage(_ error: any Error, _ arguments: [String]) -> String {
        let known = CurfewCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }.compactMap {
            $0.configuration.commandName
        }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--root" { rest = rest.dropFirst() }
            if argument.hasPrefix("-") { continue }
            if known.contains(argument) || argument == "help" || argument == DemoAppCommand.name { break }
            let question = Suggestion.closest(to: argument, among: known).map { "; did you mean '\($0)'?" } ?? ""
            return "curfew: no command '\(argument)'\(question) (curfew --help lists them)".printable
        }
        return CurfewCommand.fullMessage(for: error)
    }
}

/// A command that runs in a session.
protocol SessionCommand: ParsableCommand {
    var global: GlobalOptions { get }
    func run(_ session: Session) throws(CommandFailure)
}

/// What every command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Put DIR before every path: sockets, configuration, reports.", valueName: "DIR"),
        completion: .directory)
    var root: String?

    @Flag(help: "Print JSON, for programs.")
    var json = false
}

struct CurfewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curfew",
        abstract: "Watch and steer the apps that curfewd supervises.",
        discussion: """
            New here? `curfew demo` shows in ten seconds what Curfew does, with nothing installed. Then put a file \
            into /etc/curfew/apps (see curfew-app(5)), run `curfew check`, `curfew reload` and `curfew status`.

            Exit codes: 0 done, 1 failed, 2 usage, 3 no such app, 4 curfewd is not running.
            """,
        version: "curfew \(CurfewTool.version)",
        groupedSubcommands: [
            CommandGroup(
                name: "Look",
                subcommands: [
                    StatusCommand.self, TasksCommand.self, MonitorCommand.self, ReportsCommand.self,
                    ReportCommand.self, ReplayCommand.self,
                ]),
            CommandGroup(
                name: "Apps",
                subcommands: [
                    LaunchCommand.self, ActivateCommand.self, BackgroundCommand.self, TerminateCommand.self,
                ]),
            CommandGroup(name: "Background tasks", subcommands: [RunCommand.self]),
            CommandGroup(name: "Device", subcommands: [SleepCommand.self, WakeCommand.self, LowPowerCommand.self]),
            CommandGroup(
                name: "Configuration",
                subcommands: [
                    CheckCommand.self, ReloadCommand.self, ConfigCommand.self, ProfileCommand.self, UpgradeCommand.self,
                ]),
            CommandGroup(name: "Try", subcommands: [DemoCommand.self, TryCommand.self, DemoAppCommand.self]),
        ])

    @OptionGroup(title: "Global options") var global: GlobalOptions
}
