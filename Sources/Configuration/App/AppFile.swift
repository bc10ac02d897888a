internal import Lifecycle

/// Reads an app's file into an `AppConfiguration`.
struct AppFile {
    /// What the file says, with the lines that later checks speak about.
    struct Result {
        var entry: AppEntry
        var afterLine: Int?
        var userLine: Int?
        var execLine: Int?
        var hooksLine: Int?
        var signalsLine: Int?
        var startLine: Int?
    }

    static let allowance = Nanoseconds.milliseconds(1)...Nanoseconds.seconds(600)

    let root: Table
    let accounts: KnownAccounts
    var app: AppConfiguration

    /// name: from the file's name, already known to be well formed or not.
    static func parse(_ bytes: [UInt8], name: String, file: String, accounts: KnownAccounts) -> Result {
        let problems = Problems(file: file)
        if let objection = AppName.objection(name) { problems.add(nil, objection) }
        var result = Result(entry: .invalid(name: readable(name), errors: []))
        if let value = Document.read(bytes, problems) {
            let root = Table(value, name: "", schema: .app, problems: problems)
            var file = AppFile(root: root, accounts: accounts, app: AppConfiguration(name: name, exec: []))
            file.read()
            result.afterLine = root.line(of: "after")
            result.userLine = root.line(of: "user")
            result.execLine = root.line(of: "exec")
            result.hooksLine = root.line(of: "hooks")
            result.signalsLine = root.line(of: "signals")
            result.startLine = root.line(of: "start")
            result.entry = .valid(file.app)
        }
        if !problems.isEmpty { result.entry = .invalid(name: readable(name), errors: problems.sorted) }
        return result
    }

    private mutating func read() {
        readProcess()
        readAccount()
        readLifecycle()
        readRestart()
        readAfter()
        readAllowances()
        readDelegate()
        readLimits()
        readBackground()
    }

    private mutating func readProcess() {
        if root.entry("exec") == nil {
            root.problems.add(nil, "'exec' is missing; expected exec = [\"/path/of/program\", \"argument\"]")
        } else if let exec = root.command("exec") {
            app.exec = exec
        }
        if let text = root.string("description") {
            if text.utf8.contains(where: { $0 < 0x20 }), let entry = root.entry("description") {
                root.mismatch(entry, found: "more than one line", expected: "one line of text")
            }
            app.description = text
        }
        if let path = root.string("working-directory", expected: "an absolute path") {
            if path.utf8.first != UInt8(ascii: "/"), let entry = root.entry("working-directory") {
                root.mismatch(entry, expected: "an absolute path")
            }
            app.workingDirectory = path
        }
        app.umask = umask()
        app.nice = root.integer("nice", -20...19).map { Int32($0) }
        app.environment = environment()
    }

    private func umask() -> UInt32? {
        guard let entry = root.entry("umask") else { return nil }
        let expected = "an octal number in a string, such as \"0027\""
        guard let text = root.string("umask", expected: expected) else { return nil }
        var value: UInt32 = 0
        for byte in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte), text.utf8.count <= 4 else {
                root.mismatch(entry, expected: expected)
                return nil
            }
            value = value * 8 + UInt32(byte - UInt8(ascii: "0"))
        }
        if text.isEmpty || value > 0o777 {
            root.mismatch(entry, expected: expected)
            return nil
        }
        return value
    }

    private func environment() -> [AppConfiguration.Variable] {
        /// What curfewd itself tells the app; a value from the file would contradict it.
        let reserved = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        var variables: [AppConfiguration.Variable] = []
        for entry in root.dictionary("environment", of: "a table of strings") where !root.problems.isFull {
            let name = readable(entry.key)
            if !Self.isVariableName(entry.key) {
                root.problems.add(
                    entry.line, "'\(name)' in environment is not a variable's name; expected letters, digits and _")
            } else if reserved.contains(entry.key) {
                root.problems.add(entry.line, "'\(name)' in environment is set by curfewd itself")
            } else if case .string(let value) = entry.value.kind, !value.utf8.contains(0) {
                variables.append(AppConfiguration.Variable(name: entry.key, value: value))
            } else {
                root.problems.add(
                    entry.line,
                    "'\(name)' in environment is \(Table.describe(entry.value)); expected a string without NUL")
            }
        }
        return variables
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    private mutating func readAccount() {
        app.user = account("user", accounts.user)
        app.group = account("group", accounts.group)
    }

    private func account(_ key: String, _ lookUp: (String) -> Accounts.Answer) -> String? {
        guard let name = root.string(key, expected: "the name of a \(key)"), let entry = root.entry(key) else {
            return nil
        }
        if name.isEmpty {
            root.mismatch(entry, expected: "the name of a \(key)")
            return nil
        }
        switch lookUp(name) {
        case .exists, .unknown: break
        case .missing: root.problems.add(entry.line, "\(key) '\(readable(name))' does not exist")
        }
        return name
    }
}
