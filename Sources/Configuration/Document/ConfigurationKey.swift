internal import Lifecycle
internal import SystemCalls

/// A key: how it is declared, and what it is in one file. For people and for tests; curfewd makes none.
public struct ConfigurationKey: Equatable, Sendable {
    /// What a key takes.
    public enum Kind: Equatable, Sendable {
        /// In nanoseconds; a word that stands for none of it ("never", "auto"), or nil.
        case duration(ClosedRange<Int64>, word: String?)
        /// At least so many bytes.
        case size(Int64)
        case integer(ClosedRange<Int64>)
        case boolean
        /// One of them.
        case word([String])
        /// Anything else, as an error says that it is expected.
        case other(String)

        /// "a duration from 1 ms to 10 min", as errors have it after "expected".
        public var expected: String {
            switch self {
            case .duration(let range, let word):
                (word.map { "\"\($0)\" or " } ?? "")
                    + TomlTable.expected(
                        Nanoseconds(rawValue: range.lowerBound)...Nanoseconds(rawValue: range.upperBound))
            case .size(let minimum): TomlTable.expected(atLeast: minimum)
            case .integer(let range): TomlTable.expected(range)
            case .boolean: "true or false"
            case .word(let words): alternatives(words.map { "\"\($0)\"" })
            case .other(let expected): expected
            }
        }

        /// "from 1ms to 10min", as a file has it; nil where there are no bounds.
        public var bounds: String? {
            switch self {
            case .duration(let range, _):
                "from \(Quantity.duration.text(range.lowerBound)) to \(Quantity.duration.text(range.upperBound))"
            case .size(let minimum): "at least \(Quantity.size.text(minimum))"
            case .integer(let range): "from \(range.lowerBound) to \(range.upperBound)"
            case .boolean, .word, .other: nil
            }
        }
    }

    /// What the manual says of a key, beside what follows from its kind. Text in `…` is a key's name.
    public struct About: ExpressibleByStringLiteral, Equatable, Sendable {
        public let text: String
        /// A value as TOML for a key that has no default.
        public let example: String?
        /// The first version that knows the key.
        public let since: String
        /// False: it is read and checked, and nothing comes of it yet.
        public let hasEffect: Bool

        public init(_ text: String, example: String? = nil, since: String = "0.1.0", hasEffect: Bool = true) {
            self.text = text
            self.example = example
            self.since = since
            self.hasEffect = hasEffect
        }

        public init(stringLiteral text: String) { self.init(text) }
    }

    /// The table; empty for the keys before the first one. "thermal[2]" for the second of several of a name,
    /// "thermal[]" where the file has none of them.
    public let section: String
    public let name: String
    /// Keys that the manual speaks of in one place.
    public let group: String
    public let kind: Kind
    public let about: About
    /// What holds where no file says anything.
    public let standard: ConfigurationValue
    /// What the file makes of it: its own value, or the default.
    public let value: ConfigurationValue
    /// Where the file has the key, and what it has there, as TOML; nil where it does not.
    public let line: Int?
    public let written: String?
    /// What is wrong with it there.
    public let error: ConfigurationError?

    /// The table without the place among several of its name.
    public var table: String {
        var table = ""
        var isPlace = false
        for scalar in section.unicodeScalars {
            if scalar == "[" { isPlace = true }
            if !isPlace { table.unicodeScalars.append(scalar) }
            if scalar == "]" { isPlace = false }
        }
        return table
    }
}

/// A value of a key.
public enum ConfigurationValue: Equatable, Sendable {
    /// There is no value: no limit, no user of its own, not watched.
    case unset
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case texts([String])
    /// The texts of a table, in its order.
    case table([Pair])

    /// A key in a table.
    public struct Pair: Equatable, Sendable {
        public let key: String
        public let value: String

        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// As a file has it; empty where there is none.
    public var toml: String {
        switch self {
        case .unset: ""
        case .text(let text): Self.literal(text)
        case .integer(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .texts(let texts): "[" + Value.joined(texts.map(Self.literal)) + "]"
        case .table(let pairs):
            "{ " + Value.joined(pairs.map { $0.key + " = " + Self.literal($0.value) }) + " }"
        }
    }

    /// All of it, on one line, whatever it is: a file that is made of it says the same.
    private static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C:
                result += "\\"
                result.unicodeScalars.append(scalar)
            case 9: result += "\\t"
            case 10: result += "\\n"
            case 13: result += "\\r"
            case _ where scalar.value < 32 || scalar.isUnseen:
                let digits = String(scalar.value, radix: 16)
                result += "\\U" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension ConfigurationValue {
    static func optional(_ text: String?) -> ConfigurationValue { text.map { .text($0) } ?? .unset }
    static func optional(_ number: Int?) -> ConfigurationValue { number.map { .integer(Int64($0)) } ?? .unset }
    static func optional(_ flag: Bool?) -> ConfigurationValue { flag.map { .boolean($0) } ?? .unset }
    static func list(_ texts: [String]) -> ConfigurationValue { texts.isEmpty ? .unset : .texts(texts) }
    static func list(_ pairs: [Pair]) -> ConfigurationValue { pairs.isEmpty ? .unset : .table(pairs) }
    /// word: what stands for nil.
    static func duration(_ time: Nanoseconds?, _ word: String? = nil) -> ConfigurationValue {
        time.map { .text(Quantity.duration.text($0.rawValue)) } ?? optional(word)
    }
    static func size(_ bytes: Int64?) -> ConfigurationValue {
        bytes.map { .text(Quantity.size.text($0)) } ?? .unset
    }
}

extension Value {
    /// As TOML, on one line.
    var toml: String {
        switch kind {
        case .string(let text): Self.quoted(text)
        case .integer(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .array: "[" + Self.joined(elements.map { $0.toml }) + "]"
        case .table: "{ " + Self.joined(entries.map { readable($0.key) + " = " + $0.value.toml }) + " }"
        case .float, .date: "?"
        }
    }

    static func joined(_ texts: [String]) -> String {
        texts.reduce("") { $0.isEmpty ? $1 : $0 + ", " + $1 }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in readable(text, limit: 1000).unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
