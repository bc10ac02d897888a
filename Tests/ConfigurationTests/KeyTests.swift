import Lifecycle
import Testing

@testable import Configuration

/// Each key is declared once, and everything follows from that.
@Suite struct KeyTests {
    /// A kind of file: its keys, what else must be in it, and what reads it.
    struct File: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let keys: [ConfigurationKey]
        /// By table: what makes a file with a key in that table complete.
        let companions: [String: String]
        let read: @Sendable (String) -> (keys: [ConfigurationKey], errors: [ConfigurationError])

        /// The file with one more line, and the number of that line.
        func text(_ key: ConfigurationKey, _ value: String) -> (text: String, line: Int) {
            let root = companions[""].map { $0 + "\n" } ?? ""
            let line = "\(key.name) = \(value)\n"
            // Each key once: the companion gives way.
            func without(_ text: String) -> String {
                text.split(separator: "\n").filter {
                    !$0.hasPrefix(key.name + " =") && !(key.table.hasPrefix("match") && $0.hasPrefix("match."))
                }.map { $0 + "\n" }.joined()
            }
            if key.section.isEmpty { return (line + without(root), 1) }
            let header = key.section.hasSuffix("[]") ? "[[\(key.table)]]\n" : "[\(key.table)]\n"
            let before =
                (key.table.hasPrefix("match") ? without(root) : root) + header
                + without(companions[key.table].map { $0 + "\n" } ?? "")
            return (before + line, before.split(separator: "\n", omittingEmptySubsequences: false).count)
        }
    }

    static let app = File(
        testDescription: "an app's file", keys: ConfigurationKey.app, companions: ["": "exec = [\"/bin/true\"]"],
        read: { text in
            let accounts = KnownAccounts(anyone)
            let result = AppFile.parse(Array(text.utf8), name: "a", file: "a", accounts: accounts, lists: true)
            return (result.keys, result.entry.errors)
        })
    static let device = File(
        testDescription: "curfew.toml", keys: ConfigurationKey.device, companions: [:],
        read: { text in
            let result = DeviceFile.parse(Array(text.utf8), file: "a", lists: true)
            return (result.keys, result.errors)
        })
    static let profile = File(
        testDescription: "a hardware profile", keys: ConfigurationKey.profile,
        companions: [
            "": "description = \"A board\"\nmatch.arch = \"x86_64\"", "thermal": "zone = \"cpu\"",
            "power.under-voltage": "chip = \"volt\"\nattribute = \"alarm\"",
        ],
        read: { text in
            let problems = Problems(file: "a")
            let value = Document.read(Array(text.utf8), problems)
            let keys = HardwareProfileFile.read(value, name: "a", problems: problems, lists: true).keys
            return (keys, problems.sorted)
        })

    @Test func thereAreKeys() {
        #expect(Self.app.keys.count > 50 && Self.device.keys.count > 15 && Self.profile.keys.count > 30)
        for file in [Self.app, Self.device, Self.profile] {
            let names = file.keys.map { $0.section + " " + $0.name }
            #expect(Set(names).count == names.count)
            #expect(file.keys.allSatisfy { $0.value == $0.standard && $0.line == nil && $0.error == nil })
        }
    }

    @Test(arguments: [app, device, profile]) func everyKeyIsRead(file: File) throws {
        for key in file.keys {
            let value = try Self.sample(key)
            let (text, line) = file.text(key, value)
            let (keys, errors) = file.read(text)
            #expect(errors == [], "\(text)")
            let found = try #require(keys.first { $0.table == key.table && $0.name == key.name })
            #expect(found.line == line, "\(text)")
            #expect(found.value != key.standard && found.value.toml == value, "\(text)")
            #expect(found.standard == key.standard && found.error == nil && found.written != nil)
        }
    }

    @Test(arguments: [app, device, profile]) func everyKeyRefusesWhatItDoesNotTake(file: File) throws {
        for key in file.keys {
            let (text, line) = file.text(key, "1979-05-27")
            let (keys, errors) = file.read(text)
            #expect(errors.contains { $0.line == line && $0.message.contains("'\(key.name)'") }, "\(text)")
            let found = try #require(keys.first { $0.table == key.table && $0.name == key.name })
            #expect(found.error?.line == line && found.value == key.standard, "\(text)")
        }
    }

    @Test(arguments: [app, device, profile]) func aKeyInTheWrongPlaceIsShownItsOwn(file: File) throws {
        for key in file.keys {
            let other = try #require(file.keys.first { $0.section != key.section && !$0.section.contains("[") }).table
            let hint = key.section.isEmpty ? "before the first [table]" : "in ["
            let (_, errors) = file.read((key.section.isEmpty ? "[\(other)]\n" : "") + "\(key.name) = 1\n")
            let place = key.section.isEmpty ? " in [\(other)]" : ""
            let message = "unknown key '\(key.name)'\(place); it belongs \(hint)"
            #expect(errors.contains { $0.message.hasPrefix(message) }, "\(errors)")
        }
    }

    /// A value that a key takes and that is not its default.
    static func sample(_ key: ConfigurationKey) throws -> String {
        if let example = key.about.example { return example }
        switch (key.kind, key.standard) {
        case (.duration(_, _), .text(let text)) where Quantity.duration.value(text) != nil:
            return "\"\(Quantity.duration.text(try #require(Quantity.duration.value(text)) + 1_000_000))\""
        case (.duration(let range, _), _): return "\"\(Quantity.duration.text(range.lowerBound))\""
        case (.size(let minimum), _): return "\"\(Quantity.size.text(minimum))\""
        case (.integer, .integer(let number)): return "\(number + 1)"
        case (.integer(let range), _): return "\(range.lowerBound)"
        case (.boolean, let value): return value == .boolean(true) ? "false" : "true"
        case (.word(let words), let value): return try #require(words.map { "\"\($0)\"" }.first { $0 != value.toml })
        case (.other(let expected), _):
            if expected.hasPrefix("an array of strings, the program") { return "[\"/bin/true\", \"x\"]" }
            return expected.contains("signal") ? "\"SIGUSR1\"" : "\"x\""
        }
    }
}
