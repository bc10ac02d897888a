internal import Lifecycle

/// Values that are of no common kind: from an entry of a table; nil, and a problem noted, where it is wrong.
extension AppFile {
    static func description(_ table: TomlTable, _ entry: Entry) -> String? {
        guard let text = table.string(entry.key) else { return nil }
        if text.utf8.contains(where: { $0 < 0x20 }) {
            let hasLines = text.utf8.contains(UInt8(ascii: "\n"))
            table.mismatch(
                entry, found: hasLines ? "more than one line" : "text with a control character, such as a tab",
                expected: "one line of text")
        }
        return text
    }

    static let directoryExpected = "an absolute path"

    static func directory(_ table: TomlTable, _ entry: Entry) -> String? {
        guard let path = table.string(entry.key, expected: directoryExpected) else { return nil }
        if path.utf8.first != UInt8(ascii: "/") { table.mismatch(entry, expected: directoryExpected) }
        return path
    }

    static let pathsExpected = "an array of absolute paths"

    static func paths(_ table: TomlTable, _ entry: Entry) -> [String]? {
        paths(table, entry, below: "/", pathsExpected)
    }

    static let devicesExpected = "an array of paths below /dev"

    static func devices(_ table: TomlTable, _ entry: Entry) -> [String]? {
        paths(table, entry, below: "/dev/", devicesExpected)
    }

    /// Not "/" alone: the whole of the system is no exception from it.
    private static func paths(_ table: TomlTable, _ entry: Entry, below: String, _ expected: String) -> [String]? {
        let paths = table.strings(entry.key, expected: expected) ?? []
        let objection = "'\(entry.key)' holds "
        for path in paths where !table.problems.isFull {
            if path == below {
                let isAll = "\"\(path)\", which is all of it; name what is in it"
                table.problems.add(entry.line, objection + isAll)
            } else if !path.utf8.starts(with: below.utf8) || path.utf8.count <= below.utf8.count
                || path.utf8.count > 1024
            {
                table.problems.add(entry.line, objection + "\"\(readable(path))\"; expected \(expected)")
            } else if Array(path.utf8).split(separator: UInt8(ascii: "/")).contains(where: {
                $0.elementsEqual("..".utf8)
            }) {
                table.problems.add(entry.line, objection + "\"\(readable(path))\", which goes up by \"..\"")
            }
        }
        if paths.count > mostPaths {
            table.problems.add(entry.line, objection + "\(paths.count) paths; \(mostPaths) are the most")
        }
        return paths
    }

    private static let mostPaths = 16

    static let umaskExpected = "an octal number in a string, such as \"0027\""

    static func umask(_ table: TomlTable, _ entry: Entry) -> UInt32? {
        guard let text = table.string(entry.key, expected: umaskExpected) else { return nil }
        var value: UInt32 = text.isEmpty ? .max : 0
        for byte in text.utf8 where value <= 0o777 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) && text.utf8.count <= 4
            value = isDigit ? value * 8 + UInt32(byte - UInt8(ascii: "0")) : .max
        }
        if value <= 0o777 { return value }
        table.mismatch(entry, expected: umaskExpected)
        return nil
    }

    /// "0027".
    static func octal(_ mask: UInt32) -> String {
        let digits = String(mask, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    static func environment(_ table: TomlTable, _ entry: Entry) -> [AppConfiguration.Variable]? {
        /// What curfewd itself tells the app; a value from the file would contradict it.
        let reserved = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        var variables: [AppConfiguration.Variable] = []
        for entry in table.dictionary(entry.key, of: "a table of strings") where !table.problems.isFull {
            let name = readable(entry.key)
            if !isVariableName(entry.key) {
                table.problems.add(
                    entry.line, "'\(name)' in environment is not a variable's name; expected letters, digits and _")
            } else if reserved.contains(entry.key) {
                table.problems.add(entry.line, "'\(name)' in environment is set by curfewd itself")
            } else if case .string(let value) = entry.value.kind, !value.utf8.contains(0) {
                variables.append(AppConfiguration.Variable(name: entry.key, value: value))
            } else {
                table.problems.add(
                    entry.line,
                    "'\(name)' in environment is \(TomlTable.describe(entry.value)); expected a string without NUL")
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

    /// The name of a user or of a group; lookUp: what the database says of it.
    static func account(_ table: TomlTable, _ entry: Entry, _ lookUp: (String) -> Accounts.Answer) -> String? {
        guard let name = table.string(entry.key, expected: "the name of a \(entry.key)") else { return nil }
        if name.isEmpty {
            table.mismatch(entry, expected: "the name of a \(entry.key)")
            return nil
        }
        if entry.key == "user", name == AppConfiguration.ownUser { return name }
        switch lookUp(name) {
        case .exists, .unknown: break
        case .missing: table.problems.add(entry.line, "\(entry.key) '\(readable(name))' does not exist")
        }
        return name
    }

    /// Each name once.
    static func after(_ table: TomlTable, _ entry: Entry) -> [String]? {
        var names: [String] = []
        for name in table.strings(entry.key, expected: "an array of apps' names") ?? [] where !table.problems.isFull {
            if !AppName.isWellFormed(name) {
                table.problems.add(entry.line, "'after' holds \"\(readable(name))\", which is no app's name")
            } else if !names.contains(name) {
                names.append(name)
            }
        }
        return names
    }

    static let capabilitiesExpected = "an array of capabilities, such as [\"CAP_NET_BIND_SERVICE\"]"

    static func capabilities(_ table: TomlTable, _ entry: Entry) -> UInt64? {
        guard let names = table.strings(entry.key, expected: capabilitiesExpected) else { return nil }
        var mask: UInt64 = 0
        for name in names {
            if let bit = CapabilityName.bit(name) {
                mask |= bit
            } else {
                table.problems.add(
                    entry.line,
                    "'capabilities' holds \"\(readable(name))\", which is no capability; see capabilities(7)")
            }
        }
        return mask
    }

    private static var modeWords: [String] { BackgroundConfiguration.Mode.allCases.map { $0.key } }
    static var modesExpected: String { "an array of " + alternatives(modeWords) }

    static func modes(_ table: TomlTable, _ entry: Entry) -> [BackgroundConfiguration.Mode]? {
        let words = table.strings(entry.key, expected: "an array of modes") ?? []
        for word in words where !modeWords.contains(word) {
            table.problems.add(
                entry.line, "'modes' in [background] holds \"\(readable(word))\"; expected \(alternatives(modeWords))")
        }
        return BackgroundConfiguration.Mode.allCases.filter { words.contains($0.key) }
    }

    static func accessory(_ table: TomlTable, _ entry: Entry) -> [BackgroundConfiguration.AccessoryProperty]? {
        var properties: [BackgroundConfiguration.AccessoryProperty] = []
        for entry in table.dictionary(entry.key, of: "a table of strings") {
            if case .string(let value) = entry.value.kind, !value.isEmpty, !value.utf8.contains(0),
                !entry.key.isEmpty, !entry.key.utf8.contains(0)
            {
                properties.append(BackgroundConfiguration.AccessoryProperty(name: entry.key, value: value))
            } else {
                table.problems.add(
                    entry.line,
                    "'\(readable(entry.key))' in accessory is \(TomlTable.describe(entry.value)); "
                        + "expected a device's property as a string")
            }
        }
        return properties
    }

    static let signalExpected = "the name of a signal that a program can catch, such as \"SIGUSR1\""

    static func signal(_ table: TomlTable, _ entry: Entry) -> Int32? {
        guard let text = table.string(entry.key, expected: "a signal's name") else { return nil }
        if let number = SignalName.number(text) { return number }
        table.mismatch(entry, expected: signalExpected)
        return nil
    }
}
