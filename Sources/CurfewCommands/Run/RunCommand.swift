internal import ArgumentParser
internal import Configuration

struct RunCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a command as a background task.",
        usage: "curfew run [--name N] [--keep-awake] [--budget 10min] -- CMD [ARG ...]",
        discussion: """
            Inside an app, CMD is a background task of that app: the app is not suspended before CMD has ended. When \
            the app's background time, or the budget, is about to run out, CMD gets SIGTERM, and SIGKILL at the end.

            Outside an app, or with --root, CMD is a task of its own, task-NAME, in a control group of its own, and \
            all its processes are ended with its budget.

            Exit code: CMD's own, 128+N when signal N ended it; 124 its time ran out, 125 curfew failed, 126 CMD \
            cannot be executed, 127 CMD was not found; 4 curfewd is not running (CMD was not run), 2 usage.

            Examples:
              curfew run -- rsync -a /data backup:
              curfew run --name nightly --keep-awake --budget 30min -- ./nightly.sh
            """)

    @Option(help: ArgumentHelp("The task's name; CMD's, if not given.", valueName: "N"))
    var name: String?
    @Flag(help: "Keep the board awake while CMD runs, where the policy allows it.")
    var keepAwake = false
    @Option(
        help: ArgumentHelp("CMD may run for so long: 90s, 10min, 1h 30min.", valueName: "TIME"),
        transform: DurationArgument.seconds)
    var budget: Double?
    @Argument(parsing: .postTerminator, help: "The command, after --.", completion: .file())
    var command: [String] = []
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if command.first?.isEmpty ?? true {
            throw ValidationError("Give the command after two dashes: curfew run -- CMD ARG ...")
        }
        if name?.isEmpty == true {
            throw ValidationError("A name of nothing: without --name the task is called as the command is.")
        }
        if let budget, budget <= 0 {
            throw ValidationError("A budget of nothing: --budget takes a time such as 10min.")
        }
    }

    func run(_ session: Session) throws(CommandFailure) {
        let command = TaskCommand(arguments: command, path: try CommandPath.find(command[0]))
        let wish = TaskOptions(name: name, keepAwake: keepAwake, budget: budget)
        do throws(CommandFailure) {
            if global.root == nil, let task = try AppTask.begin(wish, command, session) {
                session.exitCode = try task.perform()
            } else {
                session.exitCode = try AdoptedTask(wish, command, session).perform()
            }
        } catch {
            switch error.code {
            case .failed: throw CommandFailure(code: .cannotRun, text: error.text)
            case .notRunning:
                throw CommandFailure(code: .notRunning, text: "\(error.text); \(command.name) was not run")
            default: throw error
            }
        }
    }
}

/// What `curfew run` was told to run.
struct TaskCommand {
    /// The first is its name as it was given.
    let arguments: [String]
    /// Its file.
    let path: String

    /// The last part of its name.
    var name: String {
        let base = arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        return base.isEmpty ? "command" : base.printable
    }

    /// The name of its task where that has to be an app's: [a-z0-9-], without dashes at its ends.
    var plainName: String { Self.plain(name) }

    static func plain(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.lowercased().utf8 {
            let isPlain = (97...122).contains(byte) || (48...57).contains(byte)
            if isPlain { bytes.append(byte) } else if let last = bytes.last, last != 45 { bytes.append(45) }
        }
        bytes = Array(bytes.prefix(AdoptedTask.nameLimit))
        while bytes.last == 45 { bytes.removeLast() }
        return bytes.isEmpty ? "command" : String(decoding: bytes, as: UTF8.self)
    }
}

/// What is asked of the device for a command.
struct TaskOptions {
    let name: String?
    let keepAwake: Bool
    /// Seconds.
    let budget: Double?
}

/// A duration on the command line.
enum DurationArgument {
    /// Seconds of "10min".
    static func seconds(_ text: String) throws -> Double {
        do throws(DurationText.Malformed) {
            return Double(try DurationText.nanoseconds(text)) / 1e9
        } catch {
            throw ValidationError("expected \(error.expected)")
        }
    }
}
