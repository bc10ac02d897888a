internal import Lifecycle

/// A walk over the keys of one kind of file. Each key is declared by one call, with what it takes, where its value
/// belongs, and what the manual says of it: that call reads the key, and makes it known. So a walk over a file reads
/// it, and one over no file lists its keys.
///
/// curfewd gets nothing of what is said for people: `list` has no body there, and what comes to nothing goes
/// (deploy/test looks).
final class KeyWalk {
    /// What keys are read from: the file's root, or one of its tables, which is empty where the file has none.
    private(set) var table: TomlTable
    private var schema = Schema()
    /// What the file has, to be searched for keys that are not declared.
    private var tables: [TomlTable]
    /// Whether a table like this one was walked before: its keys are known.
    private var isRepeated = false
    #if !hasFeature(Embedded)
        /// nil: not wanted.
        private var listed: [ConfigurationKey]?
        private var place = ""
        private var group = ""
        /// How much was wrong before the last key.
        private var problemsBefore = 0
    #endif

    /// lists: keep what is declared.
    init(_ root: TomlTable, lists: Bool = false) {
        table = root
        tables = [root]
        #if !hasFeature(Embedded)
            listed = lists ? [] : nil
        #endif
    }

    /// What was declared, where that was to be kept.
    var keys: [ConfigurationKey] {
        #if hasFeature(Embedded)
            []
        #else
            listed ?? []
        #endif
    }

    /// Notes what the file has and no declaration knows. refusals: keys that one might expect, and why there is no
    /// such thing.
    func refuseUnknown(_ refusals: [(section: String, key: String, why: String)] = []) {
        for table in tables {
            let known = schema.keys(of: table.name)
            for entry in table.entries where !table.problems.isFull && !known.contains(entry.key) {
                var message = "unknown key '\(readable(entry.key))'\(table.place)"
                message += schema.hint(for: entry.key, in: table.name)
                for refusal in refusals where refusal.section == table.name && refusal.key == entry.key {
                    message = "'\(entry.key)' " + refusal.why
                }
                table.problems.add(entry.line, message)
            }
        }
    }

    // MARK: tables

    /// The keys of a table. False where the file has no such table.
    @discardableResult
    func section(_ name: String, _ keys: () -> Void) -> Bool {
        know(name)
        let found = table.table(name)
        enter(found ?? TomlTable(name: name, table.problems), "", keys)
        return found != nil
    }

    /// The keys of each table in an array of them. A file without them gets one walk; `keys`: whether it has.
    func sections(_ name: String, _ keys: (_ isThere: Bool) -> Void) {
        know(name)
        let found = table.tables(name)
        for (place, element) in found.enumerated() {
            isRepeated = place > 0
            enter(element, "[\(place + 1)]") { keys(true) }
        }
        isRepeated = false
        if found.isEmpty { enter(TomlTable(name: name, table.problems), "[]") { keys(false) } }
    }

    /// suffix: which of several it is.
    private func enter(_ inner: TomlTable, _ suffix: @autoclosure () -> String, _ keys: () -> Void) {
        let outer = table
        table = inner
        tables.append(inner)
        #if !hasFeature(Embedded)
            let (outerPlace, outerGroup) = (place, group)
            (place, group) = ((place.isEmpty ? "" : place + ".") + inner.name + suffix(), inner.name)
            defer { (place, group) = (outerPlace, outerGroup) }
        #endif
        keys()
        table = outer
    }

    /// What follows is what the manual speaks of in one place.
    func group(_ name: @autoclosure () -> String) {
        #if !hasFeature(Embedded)
            group = name()
        #endif
    }

    // MARK: keys

    /// Makes a key known.
    func know(_ name: String) {
        if !isRepeated { schema.add(name, to: table.name) }
        #if !hasFeature(Embedded)
            problemsBefore = table.problems.count
        #endif
    }

    // Kept out of the functions that declare keys: their code is there once.

    private func read(_ name: String, _ range: ClosedRange<Nanoseconds>, _ value: inout Nanoseconds) {
        know(name)
        if let found = table.duration(name, range) { value = found }
    }

    private func read(
        _ name: String, _ range: ClosedRange<Nanoseconds>, _ word: String?, _ value: inout Nanoseconds?
    ) {
        know(name)
        if let word, let entry = table.entry(name), case .string(word) = entry.value.kind { return value = nil }
        if let found = table.duration(name, range) { value = found }
    }

    private func read(_ name: String, _ range: ClosedRange<Int64>, _ value: inout Int) {
        if let found = integer(name, range) { value = found }
    }

    private func integer(_ name: String, _ range: ClosedRange<Int64>) -> Int? {
        know(name)
        return table.integer(name, range)
    }

    private func size(_ name: String, atLeast minimum: Int64) -> Int64? {
        know(name)
        return table.size(name, atLeast: minimum)
    }

    private func boolean(_ name: String) -> Bool? {
        know(name)
        return table.boolean(name)
    }

    /// Where a table has a key that is to be read by itself.
    private func entry(_ name: String) -> Entry? {
        know(name)
        return table.entry(name)
    }

    private func list(
        _ name: String, _ kind: @autoclosure () -> ConfigurationKey.Kind,
        _ standard: @autoclosure () -> ConfigurationValue, _ value: @autoclosure () -> ConfigurationValue,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        #if !hasFeature(Embedded)
            if listed != nil { add(name, kind(), standard(), value(), about()) }
        #endif
    }

    #if !hasFeature(Embedded)
        @inline(never)
        private func add(
            _ name: String, _ kind: ConfigurationKey.Kind, _ standard: ConfigurationValue, _ value: ConfigurationValue,
            _ about: ConfigurationKey.About
        ) {
            let entry = table.entry(name)
            listed?.append(
                ConfigurationKey(
                    section: place, name: name, group: group, kind: kind, about: about, standard: standard,
                    value: value, line: entry?.line, written: entry?.value.toml,
                    error: table.problems.after(problemsBefore)))
        }
    #endif

    func duration(
        _ name: String, _ range: ClosedRange<Nanoseconds>, _ value: inout Nanoseconds,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        let standard = value
        read(name, range, &value)
        list(
            name, .duration(range.lowerBound.rawValue...range.upperBound.rawValue, word: nil), .duration(standard),
            .duration(value), about())
    }

    /// word: what stands for nil in the file, if anything does.
    func duration(
        _ name: String, _ range: ClosedRange<Nanoseconds>, _ value: inout Nanoseconds?, word: String? = nil,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        let standard = value
        read(name, range, word, &value)
        list(
            name, .duration(range.lowerBound.rawValue...range.upperBound.rawValue, word: word),
            .duration(standard, word), .duration(value, word), about())
    }

    /// In bytes.
    func size(
        _ name: String, atLeast minimum: Int64, _ value: inout Int64?,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        let standard = value
        value = size(name, atLeast: minimum) ?? value
        list(name, .size(minimum), .size(standard), .size(value), about())
    }

    func integer(
        _ name: String, _ range: ClosedRange<Int64>, _ value: inout Int,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        let standard = value
        read(name, range, &value)
        list(name, .integer(range), .integer(Int64(standard)), .integer(Int64(value)), about())
    }

    func integer<T: FixedWidthInteger>(
        _ name: String, _ range: ClosedRange<Int64>, _ value: inout T?,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        let standard = value
        value = integer(name, range).map { T($0) } ?? value
        list(
            name, .integer(range), .optional(standard.map { Int($0) }), .optional(value.map { Int($0) }), about())
    }

    func boolean(_ name: String, _ value: inout Bool, _ about: @autoclosure () -> ConfigurationKey.About) {
        let standard = value
        value = boolean(name) ?? value
        list(name, .boolean, .boolean(standard), .boolean(value), about())
    }

    func boolean(_ name: String, _ value: inout Bool?, _ about: @autoclosure () -> ConfigurationKey.About) {
        let standard = value
        value = boolean(name) ?? value
        list(name, .boolean, .optional(standard), .optional(value), about())
    }

    /// One of some words, or what holds where the file has none of them.
    func word<T: Equatable>(
        _ name: String, _ words: [(String, T)], _ value: inout T?, else standard: @autoclosure () -> T,
        _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        know(name)
        value = table.choice(name, words) ?? value
        list(
            name, .word(words.map { $0.0 }), .optional(words.first { $0.1 == standard() }?.0),
            .optional(words.first { $0.1 == value ?? standard() }?.0), about())
    }

    /// One of some words.
    func word<T: Equatable>(
        _ name: String, _ words: [(String, T)], _ value: inout T, _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        let standard = value
        know(name)
        if let found = table.choice(name, words) { value = found }
        list(
            name, .word(words.map { $0.0 }), .optional(words.first { $0.1 == standard }?.0),
            .optional(words.first { $0.1 == value }?.0), about())
    }

    /// What is of no common kind. read: from the entry that the table has; nil, and a problem noted, where it is
    /// wrong. show: the value for people.
    func value<T>(
        _ name: String, _ expected: @autoclosure () -> String, _ value: inout T,
        _ about: @autoclosure () -> ConfigurationKey.About,
        show: (T) -> ConfigurationValue, read: (TomlTable, Entry) -> T?
    ) {
        let standard = value
        if let entry = entry(name), let found = read(table, entry) { value = found }
        list(name, .other(expected()), show(standard), show(value), about())
    }
}
