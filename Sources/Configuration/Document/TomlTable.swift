internal import Lifecycle

/// A table whose keys are known. Reading a value of a wrong kind notes a problem and yields nil.
final class TomlTable {
    /// As in the schema; empty for the root.
    let name: String
    let problems: Problems
    let entries: [Entry]
    /// Whether the file has it.
    let isThere: Bool

    init(_ value: Value, name: String, problems: Problems) {
        isThere = true
        self.name = name
        self.problems = problems
        entries = value.entries
    }

    /// One that the file does not have.
    init(name: String, _ problems: Problems) {
        isThere = false
        self.name = name
        self.problems = problems
        entries = []
    }

    /// " in [sleep]"; empty for the root.
    var place: String { name.isEmpty ? "" : " in [\(name)]" }

    func entry(_ key: String) -> Entry? {
        for entry in entries where entry.key == key { return entry }
        return nil
    }

    func line(of key: String) -> Int? { entry(key)?.line }

    /// A table that may be there, and is not complained of.
    func inner(_ key: String) -> TomlTable? {
        guard let entry = entry(key), case .table = entry.value.kind else { return nil }
        return TomlTable(entry.value, name: key, problems: problems)
    }

    /// "'nice' is a string; expected an integer": found and expected, for an entry of this table.
    func mismatch(_ entry: Entry, found: String, expected: String) {
        problems.add(entry.line, "'\(readable(entry.key))'\(place) is \(found); expected \(expected)")
    }

    func mismatch(_ entry: Entry, expected: String) {
        mismatch(entry, found: Self.describe(entry.value), expected: expected)
    }

    /// Notes what is wrong with a key, be it there or not.
    func refuse(_ key: String, _ why: String) {
        problems.add(line(of: key) ?? entries.first?.line, "'\(key)'\(place) " + why)
    }

    /// Notes that a table lacks a key.
    func require(_ key: String) {
        if isThere, entry(key) == nil { refuse(key, "is missing") }
    }

    static func describe(_ value: Value) -> String {
        switch value.kind {
        case .string(let text): "\"\(readable(text))\""
        case .integer(let number): "the integer \(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .float: "a floating-point number"
        case .array: "an array"
        case .table: "a table"
        case .date: "a date or time"
        }
    }

    func table(_ key: String) -> TomlTable? {
        if let table = inner(key) { return table }
        if let entry = entry(key) { mismatch(entry, expected: "a table [\(key)]") }
        return nil
    }

    /// Of an array of tables.
    func tables(_ key: String) -> [TomlTable] {
        guard let entry = entry(key) else { return [] }
        let elements = entry.value.elements
        var tables: [TomlTable] = []
        for element in elements {
            if case .table = element.kind {
                tables.append(TomlTable(element, name: key, problems: problems))
            }
        }
        if tables.isEmpty || tables.count < elements.count { mismatch(entry, expected: "an array of tables") }
        return tables
    }

    func string(_ key: String, expected: String = "a string") -> String? {
        guard let entry = entry(key) else { return nil }
        guard case .string(let text) = entry.value.kind else {
            mismatch(entry, expected: expected)
            return nil
        }
        if text.utf8.contains(0) {
            mismatch(entry, found: "a string with a NUL character", expected: expected)
            return nil
        }
        return text
    }

    func boolean(_ key: String) -> Bool? {
        guard let entry = entry(key) else { return nil }
        guard case .boolean(let flag) = entry.value.kind else {
            mismatch(entry, expected: "true or false")
            return nil
        }
        return flag
    }

    func integer(_ key: String, _ range: ClosedRange<Int64>) -> Int? {
        guard let entry = entry(key) else { return nil }
        guard case .integer(let number) = entry.value.kind, range.contains(number) else {
            mismatch(entry, expected: Self.expected(range))
            return nil
        }
        return Int(number)
    }

    static func expected(_ range: ClosedRange<Int64>) -> String {
        "an integer from \(range.lowerBound) to \(range.upperBound)"
    }

    /// One of some words.
    func choice<T>(_ key: String, _ choices: [(String, T)]) -> T? {
        guard let entry = entry(key) else { return nil }
        if case .string(let text) = entry.value.kind {
            for (word, value) in choices where word == text { return value }
        }
        mismatch(entry, expected: alternatives(choices.map { "\"\($0.0)\"" }))
        return nil
    }

    func duration(_ key: String, _ range: ClosedRange<Nanoseconds>) -> Nanoseconds? {
        guard let entry = entry(key) else { return nil }
        guard let count = quantity(entry, .duration) else { return nil }
        let value = Nanoseconds(rawValue: count)
        if range.contains(value) { return value }
        mismatch(entry, expected: Self.expected(range))
        return nil
    }

    static func expected(_ range: ClosedRange<Nanoseconds>) -> String {
        "a duration from \(range.lowerBound.text) to \(range.upperBound.text)"
    }

    /// In bytes.
    func size(_ key: String, atLeast minimum: Int64) -> Int64? {
        guard let entry = entry(key) else { return nil }
        guard let bytes = quantity(entry, .size) else { return nil }
        if bytes >= minimum { return bytes }
        mismatch(entry, expected: Self.expected(atLeast: minimum))
        return nil
    }

    static func expected(atLeast minimum: Int64) -> String { "a size of at least \(minimum >> 20)M" }

    private func quantity(_ entry: Entry, _ unit: Quantity) -> Int64? {
        switch entry.value.kind {
        case .string(let text):
            switch unit.parse(text) {
            case .value(let value): return value
            case .malformed(let why): mismatch(entry, expected: why)
            }
        case .integer(let number):
            mismatch(entry, expected: "a string: write \"\(number)\(unit.usualUnit)\"")
        case .boolean, .float, .array, .table, .date:
            mismatch(entry, expected: "\(unit.what) in a string such as \(unit.example)")
        }
        return nil
    }

    /// An array of strings without NULs.
    func strings(_ key: String, expected: String) -> [String]? {
        guard let entry = entry(key) else { return nil }
        guard case .array = entry.value.kind else {
            mismatch(entry, expected: expected)
            return nil
        }
        var result: [String] = []
        for element in entry.value.elements {
            guard case .string(let text) = element.kind else {
                problems.add(
                    element.line, "'\(key)'\(place) holds \(Self.describe(element)); expected \(expected)")
                return nil
            }
            if text.utf8.contains(0) {
                problems.add(element.line, "'\(key)'\(place) holds a string with a NUL character")
                return nil
            }
            result.append(text)
        }
        return result
    }

    static let commandExpected = "an array of strings, the program's absolute path first"

    /// A program and its arguments.
    func command(_ key: String) -> [String]? {
        let expected = Self.commandExpected
        guard let entry = entry(key), let command = strings(key, expected: expected) else { return nil }
        guard let program = command.first else {
            mismatch(entry, found: "an empty array", expected: expected)
            return nil
        }
        if program.utf8.first == UInt8(ascii: "/") { return command }
        mismatch(
            entry, found: "the relative path '\(readable(program))'",
            expected: "an absolute path (there is no search path)")
        return nil
    }

    /// A table of strings, in the order of the file.
    func dictionary(_ key: String, of what: String) -> [Entry] {
        guard let entry = entry(key) else { return [] }
        guard case .table = entry.value.kind else {
            mismatch(entry, expected: what)
            return []
        }
        return entry.value.entries
    }
}
