internal import CLinux
internal import Configuration
internal import Lifecycle
internal import SystemCalls

/// The app that is tried: its name, and its file as the private daemon gets it.
struct TryApp {
    let name: String
    private(set) var startsInBackground = false
    /// What is not as it would be on a board.
    private(set) var remarks: [String] = []
    private var file: AppFileText
    /// The program and its arguments.
    private let exec: [String]

    /// From a command alone. command: the first is an absolute path. environment: "NAME=value".
    init(command: [String], name: String, delegate: String?, directory: String, environment: [String]) {
        self.name = name.hasPrefix(AppName.reservedPrefix) ? "app" : name
        exec = command
        file = AppFileText("")
        file.set(.delegate, TomlText.string(delegate ?? "varlink"))
        set(directory: directory, environment: environment, [])
    }

    /// From an app's file; command: what it runs in place of its own program, as above.
    init(
        file path: String, command: [String]?, delegate: String?, directory: String, environment: [String]
    ) throws(CommandFailure) {
        let bytes: [UInt8]
        do throws(SystemError) {
            // It may be a pipe: <(...) of a shell.
            bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
        } catch {
            throw CommandFailure(code: .usage, text: "the app's file cannot be read: \(error.text)")
        }
        let base = path.split(separator: "/").last.map(String.init) ?? path
        let name = base.hasSuffix(".toml") ? String(base.dropLast(5)) : base
        // A desk need not have the board's users.
        let anyAccounts = Accounts(user: { _ in .unknown }, group: { _ in .unknown })
        let configuration: AppConfiguration
        switch AppConfiguration.parse(bytes, name: name, file: path, accounts: anyAccounts) {
        case .valid(let app): configuration = app
        case .invalid(_, let errors):
            let lines = errors.map { "\($0.file):" + ($0.line.map { "\($0):" } ?? "") + " \($0.message)" }
            throw CommandFailure(code: .usage, text: lines.joined(separator: "\n").printableLines)
        }
        self.name = configuration.name
        startsInBackground = configuration.policy.start == .background
        exec = command ?? configuration.exec
        file = AppFileText(String(decoding: bytes, as: UTF8.self))
        if let delegate { file.set(.delegate, TomlText.string(delegate)) }
        adapt(configuration)
        if command != nil {
            set(
                directory: configuration.workingDirectory ?? directory, environment: environment,
                configuration.environment)
        }
    }

    /// What other apps and the board's users would be needed for is left out.
    private mutating func adapt(_ configuration: AppConfiguration) {
        file.remove(.after)
        if geteuid() == 0 { return }
        if let user = configuration.user { remarks.append("It runs as you, not as user \(user).") }
        file.remove(.user)
        file.remove(.group)
    }

    /// A command gets what it would have in the shell; what its file sets wins.
    private mutating func set(
        directory: String, environment: [String], _ given: [AppConfiguration.Variable]
    ) {
        file.set(.workingDirectory, TomlText.string(directory))
        var values = given.map { ($0.name, $0.value) }
        for entry in environment {
            guard let equals = entry.firstIndex(of: "="), equals != entry.startIndex else { continue }
            let name = String(entry[..<equals])
            let isPlain = name.utf8.allSatisfy { AppName.isVariable($0) } && !(48...57).contains(name.utf8.first ?? 48)
            guard isPlain, !Self.ofTheDaemon(name), !values.contains(where: { $0.0 == name }) else { continue }
            values.append((name, String(entry[entry.index(after: equals)...])))
        }
        let pairs = values.map { "\($0.0) = \(TomlText.string($0.1))" }
        file.set(.environment, "{ \(pairs.joined(separator: ", ")) }")
    }

    /// What an app is told by its supervisor, and so by no other program.
    private static func ofTheDaemon(_ name: String) -> Bool {
        name.hasPrefix("CURFEW") || name.hasPrefix("WATCHDOG_") || name.hasPrefix("LISTEN_")
            || ["NOTIFY_SOCKET", "JOURNAL_STREAM", "INVOCATION_ID"].contains(name)
    }

    /// The file.
    var text: String {
        var file = file
        file.set(.exec, TomlText.array(exec))
        file.set(.launch, "\"manual\"")
        return file.text
    }
}

extension AppName {
    fileprivate static func isVariable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension AppFileText {
    fileprivate mutating func set(_ key: AppKeyName, _ value: String) { set(key.name, value) }
    fileprivate mutating func remove(_ key: AppKeyName) { remove(key.name) }
}
