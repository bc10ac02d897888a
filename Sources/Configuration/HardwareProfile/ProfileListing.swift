internal import SystemCalls

/// A hardware profile as its file has it: every value with its source. For people and for tests; curfewd reads only
/// the values.
public struct ProfileListing: Equatable, Sendable {
    /// A value.
    public struct Item: Equatable, Sendable {
        /// "watchdog"; "thermal[1]" for the first of several; empty before the first table.
        public let section: String
        public let key: String
        /// As TOML.
        public let value: String
        /// Empty where the schema asks for none.
        public let source: String
    }

    /// nil for a file with anything wrong in it.
    public private(set) var profile: HardwareProfile?
    public private(set) var items: [Item] = []
    public private(set) var errors: [ConfigurationError] = []

    /// Reads a file, and also checks what curfewd does not look at: that every value has a source.
    public static func read(file path: String) -> ProfileListing {
        var listing = ProfileListing()
        guard let name = Loader.nameOf(Loader.split(path).name), DeviceFile.isProfileName(name) else {
            listing.fail(path, "is not a hardware profile; expected NAME.toml (letters, digits, -, _ and .)")
            return listing
        }
        switch InputFile.read(path, isNamed: true) {
        case .bytes(let bytes): listing.read(bytes, name, path)
        case .masked: listing.fail(path, "is a link to /dev/null: it only takes away the vendor's profile")
        case .missing: listing.fail(path, "is not there")
        case .unreadable(let why): listing.fail(path, why)
        }
        return listing
    }

    private mutating func fail(_ path: String, _ message: String) {
        errors.append(ConfigurationError(file: path, line: nil, message: message))
    }

    private mutating func read(_ bytes: [UInt8], _ name: String, _ path: String) {
        let problems = Problems(file: path)
        if let root = Document.read(bytes, problems) {
            profile = HardwareProfileFile.read(root, name: name, problems: problems).profile
            for entry in root.entries { add(entry, problems) }
        }
        errors = problems.sorted
        if !errors.isEmpty { profile = nil }
    }

    private mutating func add(_ entry: Entry, _ problems: Problems) {
        switch entry.value.kind {
        case .table: add(entry.value, entry.key, line: entry.line, problems)
        case .array:
            for (place, element) in entry.value.elements.enumerated() {
                add(element, "\(entry.key)[\(place + 1)]", line: element.line, problems)
            }
        case .string, .integer, .boolean, .float, .date:
            items.append(Item(section: "", key: entry.key, value: entry.value.toml, source: ""))
        }
    }

    /// A table, whose `source` says where its values are from: one text for all of them, or one for each key.
    private mutating func add(_ table: Value, _ section: String, line: Int, _ problems: Problems) {
        let values = table.entries.filter { $0.key != "source" }
        let keys = values.map { $0.key }
        let source = table.entries.first { $0.key == "source" }
        var sources: [String: String] = [:]
        switch source?.value.kind {
        case .string(let text):
            for key in keys { sources[key] = text }
        case .table:
            for entry in source?.value.entries ?? [] {
                if !keys.contains(entry.key) {
                    let hint = Suggestion.closest(to: entry.key, among: keys).map { "; did you mean '\($0)'?" } ?? ""
                    problems.add(
                        entry.line, "'source' in [\(section)] names '\(readable(entry.key))', which is not there\(hint)"
                    )
                } else if case .string(let text) = entry.value.kind {
                    sources[entry.key] = text
                }
            }
        case nil, .integer, .boolean, .float, .array, .date: break
        }
        let bare = keys.filter { (sources[$0] ?? "").isEmpty }
        if source == nil {
            problems.add(line, "[\(section)] has no 'source'; expected where its values are from, as a string")
        } else if let first = bare.first {
            problems.add(
                source?.line ?? line,
                "'source' in [\(section)] does not say where '\(readable(first))' is from; expected a string, or a "
                    + "table with one for each key")
        }
        for value in values {
            items.append(
                Item(section: section, key: value.key, value: value.value.toml, source: sources[value.key] ?? ""))
        }
    }
}
