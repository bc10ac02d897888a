internal import CLinux
internal import SystemCalls

/// The boards that files describe.
public struct HardwareProfiles: Equatable, Sendable {
    /// Sorted by name.
    public private(set) var profiles: [HardwareProfile] = []
    /// What is wrong with files that are left out.
    public private(set) var errors: [ConfigurationError] = []

    public init(profiles: [HardwareProfile] = []) { self.profiles = profiles }

    /// Reads every NAME.toml in some directories; one in a later directory replaces one of the same name, and an empty
    /// one, or a link to /dev/null, takes it away. Never fails. board: leave out files that cannot fit it, unparsed.
    public static func load(directories: [String], for board: BoardIdentity? = nil) -> HardwareProfiles {
        var result = HardwareProfiles()
        var names: [String] = []
        for directory in directories {
            for file in result.list(directory) {
                guard let name = Loader.nameOf(file), DeviceFile.isProfileName(name), !names.contains(name) else {
                    continue
                }
                names.append(name)
            }
        }
        for name in names.sorted() { result.add(name, directories, board) }
        return result
    }

    /// The installed ones, and the administrator's.
    public static func load(paths: ConfigurationPaths, for board: BoardIdentity? = nil) -> HardwareProfiles {
        load(directories: paths.profiles, for: board)
    }

    /// The profile for a board, by its name or else the one that fits best; nil where there is none. Errors: files
    /// that would have counted, a name that nothing has, and profiles that fit alike: then it is the generic one.
    public static func select(
        _ wanted: DeviceConfiguration.Profile, for board: BoardIdentity, paths: ConfigurationPaths
    ) -> (profile: HardwareProfile?, errors: [ConfigurationError]) {
        var result = HardwareProfiles()
        let file = paths.administrator + "/" + ConfigurationPaths.deviceFile
        if case .named(let name) = wanted {
            result.add(name, paths.profiles, nil)
            if let profile = result.profiles.first { return (profile, []) }
            if result.errors.isEmpty { result.fail(file, "there is no hardware profile '" + name + "'") }
        }
        let all = load(paths: paths, for: board)
        let (profile, alike) = all.match(board)
        if !alike.isEmpty {
            result.fail(file, "several hardware profiles fit this board alike: " + alternatives(alike))
        }
        return (profile, result.errors + all.errors)
    }

    /// The profile that fits a board best. alike: the names of several that fit best and alike; the profile is then
    /// the one for the architecture.
    public func match(_ board: BoardIdentity) -> (profile: HardwareProfile?, alike: [String]) {
        var best = 0
        var chosen: HardwareProfile?
        var generic: HardwareProfile?
        var alike: [String] = []
        for profile in profiles {
            let rank = profile.match.rank(board)
            if rank == BoardMatch.generic { generic = profile }
            if rank == 0 || rank < best { continue }
            if rank > best {
                best = rank
                alike = []
                chosen = profile
            }
            alike.append(profile.name)
        }
        if alike.count < 2 { return (chosen, []) }
        return (best == BoardMatch.generic ? nil : generic, alike)
    }

    // MARK: files

    @inline(never)
    private mutating func list(_ directory: String) -> [String] {
        do throws(SystemError) {
            return try Files.list(directory)
        } catch {
            if error.errno != .noEntry { fail(directory, "cannot be read: \(error.errno.text)") }
            return []
        }
    }

    @inline(never)
    private mutating func fail(_ file: String, _ message: String) {
        errors.append(ConfigurationError(file: file, line: nil, message: message))
    }

    /// From the last directory that has it.
    private mutating func add(_ name: String, _ directories: [String], _ board: BoardIdentity?) {
        for directory in directories.reversed() {
            let path = directory + "/" + name + ".toml"
            switch InputFile.read(path) {
            case .bytes(let bytes):
                if !bytes.isEmpty, board.map({ Self.mayFit(bytes, $0) }) ?? true {
                    let (profile, errors) = HardwareProfile.parse(bytes, name: name, file: path)
                    if var profile {
                        profile.mark = InputFile.mark(bytes)
                        profiles.append(profile)
                    }
                    self.errors += errors
                }
            case .masked: break
            case .missing: continue
            case .unreadable(let why): fail(path, why)
            }
            return
        }
    }

    /// Whether a file can be for a board. Looking for a word in it is far cheaper than parsing it.
    private static func mayFit(_ bytes: [UInt8], _ board: BoardIdentity) -> Bool {
        // "\" may be part of a name in other letters.
        for word in board.compatible + [board.architecture, "dmi", "\\"] where holds(bytes, word) { return true }
        return false
    }

}

extension HardwareProfile {
    /// A profile from the bytes of its file; nil, and errors, for a file with anything wrong in it.
    public static func parse(
        _ bytes: [UInt8], name: String, file: String
    ) -> (profile: HardwareProfile?, errors: [ConfigurationError]) {
        let problems = Problems(file: file)
        let profile = Document.read(bytes, problems).flatMap {
            HardwareProfileFile.read($0, name: name, problems: problems).profile
        }
        return (profile, problems.sorted)
    }
}
