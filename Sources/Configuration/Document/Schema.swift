/// The tables and keys of one kind of file, as they are declared.
struct Schema {
    struct Section {
        /// Empty for the keys before the first table.
        let name: String
        var keys: [String]
    }

    private(set) var sections: [Section] = []

    mutating func add(_ key: String, to section: String) {
        for place in sections.indices.reversed() where sections[place].name == section {
            sections[place].keys.append(key)
            return
        }
        sections.append(Section(name: section, keys: [key]))
    }

    func keys(of section: String) -> [String] {
        for candidate in sections where candidate.name == section { return candidate.keys }
        return []
    }

    /// "did you mean 'restart'?", or where else the key is known; empty where there is nothing to say.
    func hint(for key: String, in section: String) -> String {
        for other in sections where other.name != section && other.keys.contains(key) {
            return other.name.isEmpty ? "; it belongs before the first [table]" : "; it belongs in [\(other.name)]"
        }
        if let near = Suggestion.closest(to: key, among: keys(of: section)) { return "; did you mean '\(near)'?" }
        return ""
    }
}
