internal import ArgumentParser
internal import Configuration
internal import Varlink

struct ProfileCheckCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validate profiles: the files given, or all that are installed.",
        discussion: """
            Each problem is a line: file:line: what is wrong, and what was expected. Also checked is what curfewd does \
            not ask for: that every value has a source, and that no two of the files are for the same board.
            """)

    @Argument(help: "Files to check.", completion: .file(extensions: ["toml"])) var files: [String] = []
    @OptionGroup var options: ProfileOptions
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let known = files.isEmpty ? options.known(session) : nil
        let paths = known.map { known in installed(known) } ?? files
        let listings = paths.map { ($0, ProfileListing.read(file: $0)) }
        let result = CheckResult(
            errors: listings.flatMap { $0.1.errors } + Self.conflicts(listings), warnings: [],
            subject: Amounts.count(paths.count, "profile"))
        if session.isJSON {
            session.say(result.json.prettyText())
        } else {
            for line in result.lines(session.style) { session.say(line) }
        }
        if !result.errors.isEmpty { throw CommandFailure(code: .failed, text: "") }
    }

    private func installed(_ known: KnownProfiles) -> [String] {
        known.profiles.profiles.compactMap { known.path($0.name) } + Set(known.profiles.errors.map(\.file)).sorted()
    }

    /// Files that would fit a board alike.
    static func conflicts(_ listings: [(path: String, listing: ProfileListing)]) -> [ConfigurationError] {
        var first: [String: String] = [:]
        var errors: [ConfigurationError] = []
        for (path, listing) in listings {
            guard let match = listing.profile?.match else { continue }
            let boards =
                match.compatible + match.dmi.map { "DMI " + $0.joined(separator: "|") }
                + (match.architecture.isEmpty ? [] : ["any \(match.architecture)"])
            for board in boards {
                if let other = first[board], other != path {
                    errors.append(
                        ConfigurationError(file: path, line: nil, message: "is for \(board), and so is \(other)"))
                }
                first[board] = first[board] ?? path
            }
        }
        return errors
    }
}
