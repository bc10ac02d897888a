internal import ArgumentParser
internal import Configuration
internal import SystemCalls
internal import Varlink

// What a shell offers for an argument.

extension CompletionKind {
    /// The names of apps.
    static let apps = CompletionKind.custom { words, _, _ in Candidates(words: words).apps }

    /// The names of apps that have a file, be it valid or not.
    static let configuredApps = CompletionKind.custom { words, _, _ in Candidates(words: words).configuredApps }

    /// The numbers of reports, the newest first.
    static let reports = CompletionKind.custom { words, _, _ in Candidates(words: words).reports }

    /// The names of hardware profiles.
    static let profiles = CompletionKind.custom { words, _, _ in Candidates(words: words).profiles }
}

/// What there is to choose from. Never an error and never a long wait: who presses Tab wants to go on typing.
struct Candidates {
    /// More than a daemon that is well ever needs.
    private static let patience: Int64 = 500_000_000
    /// A screenful; who looks for an older one asks `curfew reports`.
    private static let mostReports = 20

    private let root: String
    private let directory: String?

    /// words: the command line, as the shell splits it.
    init(words: [String]) {
        var root = Self.value(of: "--root", in: words) ?? ""
        while root.utf8.last == UInt8(ascii: "/") { root.removeLast() }
        self.root = root
        directory = Self.value(of: "--directory", in: words)
    }

    /// What follows an option: as a word of its own, or after "=", which bash makes a word.
    private static func value(of option: String, in words: [String]) -> String? {
        if let word = words.last(where: { $0.hasPrefix(option + "=") }), word != option + "=" {
            return String(word.dropFirst(option.count + 1))
        }
        guard let place = words.firstIndex(of: option) else { return nil }
        var rest = words[words.index(after: place)...]
        if rest.first == "=" { rest = rest.dropFirst() }
        return rest.first
    }

    /// Those the daemon knows; else those that are configured, as far as this user may see.
    var apps: [String] {
        ask("List")?["apps"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? configuredApps
    }

    var configuredApps: [String] {
        let paths = ConfigurationPaths(root: root.isEmpty ? nil : root)
        return Self.names([paths.vendor, paths.administrator].map { $0 + "/apps" })
    }

    var reports: [String] {
        let known =
            ask("ListTerminations")?["terminations"]?.arrayValue?.compactMap { $0["report"]?.stringValue }
            ?? StoredReports.read(root: root).reports.compactMap(\.report)
        return known.suffix(Self.mostReports).reversed()
    }

    var profiles: [String] {
        Self.names(directory.map { [$0] } ?? ConfigurationPaths(root: root.isEmpty ? nil : root).profiles)
    }

    /// Of the files in directories, without their ".toml".
    private static func names(_ directories: [String]) -> [String] {
        let files = directories.flatMap { (try? Files.list($0)) ?? [] }
        return Set(files.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.map { String($0.dropLast(5)) }).sorted()
    }

    private func ask(_ method: String) -> JSONObject? {
        let connection = try? DaemonConnection.connect(root: root, loop: DescriptorLoop(), patience: Self.patience)
        return try? connection?.call(method, timeout: Self.patience)
    }
}
