/// The tables and keys of one kind of file.
struct Schema {
    struct Section {
        /// Empty for the keys before the first table.
        let name: String
        let keys: [String]
    }

    let sections: [Section]
    /// Keys that one might expect, and why there is no such thing.
    var refusals: [(section: String, key: String, why: String)] = []

    func refusal(of key: String, in section: String) -> String? {
        for refusal in refusals where refusal.section == section && refusal.key == key { return refusal.why }
        return nil
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
