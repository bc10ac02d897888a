internal import ArgumentParser
internal import Configuration

/// What the profile commands look at.
struct ProfileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the profiles in DIR instead of the installed ones.", valueName: "DIR"),
        completion: .directory)
    var directory: String?

    @Option(
        help: ArgumentHelp("Read /proc and /sys below DIR: a copy from another board.", valueName: "DIR"),
        completion: .directory)
    var system: String?

    func known(_ session: Session) -> KnownProfiles {
        KnownProfiles(
            paths: ConfigurationPaths(root: session.root.isEmpty ? nil : session.root), directory: directory,
            system: SystemTree(root: system ?? ""))
    }
}

/// The profiles, and the one for a board.
struct KnownProfiles {
    let paths: ConfigurationPaths
    let directories: [String]
    let profiles: HardwareProfiles
    let board: BoardIdentity
    /// The one that curfewd takes, with its reasons.
    let used: HardwareProfile?
    let why: String
    let alike: [String]
    /// What `profile =` in curfew.toml names and nothing has.
    let missing: String?

    init(paths: ConfigurationPaths, directory: String?, system: SystemTree) {
        self.paths = paths
        directories = directory.map { [$0] } ?? paths.profiles
        let profiles = HardwareProfiles.load(directories: directories)
        self.profiles = profiles
        let board = BoardIdentity.read(root: system.root)
        self.board = board
        let fitting = profiles.match(board)
        alike = fitting.alike
        var named: String?
        if directory == nil, case .named(let name) = Configuration.load(paths: paths).device.profile { named = name }
        if let named, let profile = profiles.profiles.first(where: { $0.name == named }) {
            used = profile
            why = "curfew.toml names it"
            missing = nil
            return
        }
        used = fitting.profile
        why = fitting.profile.map { Self.why($0, board) } ?? "no profile fits"
        missing = named
    }

    /// Every profile that fits, the best first.
    var fitting: [HardwareProfile] {
        profiles.profiles.filter { $0.match.rank(board) > 0 }.sorted {
            ($1.match.rank(board), $0.name) < ($0.match.rank(board), $1.name)
        }
    }

    static func why(_ profile: HardwareProfile, _ board: BoardIdentity) -> String {
        if let name = board.compatible.first(where: { profile.match.compatible.contains($0) }) {
            return "the device tree says \(name)"
        }
        var architecture = BoardMatch()
        architecture.architecture = profile.match.architecture
        if profile.match.rank(board) > architecture.rank(board) { return "DMI says so" }
        return "the architecture is \(board.architecture)"
    }

    /// Where a profile is.
    func path(_ name: String) -> String? {
        directories.reversed().map { "\($0)/\(name).toml" }.first { SystemTree(root: "").exists($0) }
    }

    func find(_ name: String) throws(CommandFailure) -> HardwareProfile {
        if let profile = profiles.profiles.first(where: { $0.name == name }) { return profile }
        let bad = profiles.errors.first { $0.file.hasSuffix("/\(name).toml") }
        if let bad { throw .failed("the profile \(name) cannot be used: \(bad.text.printable)") }
        let question =
            Suggestion.closest(to: name, among: profiles.profiles.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
        throw .failed("there is no profile '\(name.printable)'\(question) (curfew profile list)")
    }
}
