internal import Lifecycle

/// What is in effect on a board, each value with where it came from. For people and for programs.
public struct EffectiveConfiguration: Equatable, Sendable {
    /// Where a value came from.
    public enum Origin: Equatable, Sendable {
        /// Nothing sets it.
        case standard
        case file(String, line: Int)
        /// The board's hardware profile.
        case profile(String, line: Int)

        var file: String? {
            switch self {
            case .standard: nil
            case .file(let path, _), .profile(let path, _): path
            }
        }
    }

    /// A key with what holds for it.
    public struct Setting: Equatable, Sendable {
        public let key: ConfigurationKey
        /// The file that has the key; nil where none has.
        public let file: String?
        public fileprivate(set) var value: ConfigurationValue
        public fileprivate(set) var origin: Origin
        /// Whether another key decides, so that people need not see it: curfew.toml's for a profile's, and `delegate`
        /// for a handler of another one.
        public fileprivate(set) var isMoot = false
        /// What is wrong with it in its file.
        public fileprivate(set) var error: ConfigurationError?
        /// Why what its file says is not in effect; nil where it is.
        public fileprivate(set) var ignored: String?
    }

    /// The device, its hardware profile, or an app.
    public struct Part: Equatable, Sendable {
        /// Of the app or the profile; empty for the device.
        public let name: String
        /// nil where there is none.
        public let file: String?
        public fileprivate(set) var settings: [Setting]
        /// Everything that is wrong with the file.
        public let errors: [ConfigurationError]

        /// What is wrong with no value alone.
        public var otherErrors: [ConfigurationError] {
            errors.filter { error in !settings.contains { $0.error == error } }
        }
    }

    public let device: Part
    /// Without a name and a file where none fits the board: then it is the defaults.
    public let profile: Part
    /// Sorted by name.
    public let apps: [Part]
    /// What is wrong with hardware profiles: curfewd goes on with another one.
    public let warnings: [ConfigurationError]

    /// Reads everything below a root as curfewd does.
    public static func load(
        paths: ConfigurationPaths, board: BoardIdentity, accounts: Accounts = .system
    ) -> EffectiveConfiguration {
        var loader = Loader(paths: paths, accounts: accounts, looksAtFiles: false, lists: true)
        let configuration = loader.load()
        let selected = HardwareProfiles.select(configuration.device.profile, for: board, paths: paths)
        var profile = profile(selected.profile?.name, paths)
        let device = device(loader, configuration, profile)
        for place in profile.settings.indices where overrules(profile.settings[place].key) {
            profile.settings[place].isMoot = true
        }
        return EffectiveConfiguration(
            device: device, profile: profile, apps: loader.apps.map { app($0) },
            warnings: selected.errors)
    }

    // MARK: parts

    private static func app(_ app: Loader.App) -> Part {
        let errors = app.result.entry.errors
        var settings = settings(app.result.keys, errors) { .file(app.path, line: $0) }
        // An app with an error is not launched: nothing holds in place of what is wrong.
        for place in settings.indices where settings[place].error != nil { settings[place].value = .unset }
        if case .valid(let configuration) = app.result.entry {
            for place in settings.indices {
                let section = settings[place].key.section
                guard
                    section == "hooks" && configuration.delegate != .hooks
                        || section == "signals" && configuration.delegate != .signals
                else { continue }
                settings[place].isMoot = settings[place].key.line == nil
                if !settings[place].isMoot { settings[place].ignore("not used without delegate = \"\(section)\"") }
            }
        }
        return Part(name: app.result.entry.name, file: app.path, settings: settings, errors: errors)
    }

    private static func device(_ loader: Loader, _ configuration: Configuration, _ profile: Part) -> Part {
        let file = loader.deviceFile
        let isWrong = configuration.errors.contains { $0.file == file }
        let keys = loader.deviceKeys.isEmpty ? ConfigurationKey.device : loader.deviceKeys
        var settings = settings(keys, configuration.errors) { .file(file ?? "", line: $0) }
        for place in settings.indices {
            // A file with an error does not count at all.
            if isWrong, settings[place].key.line != nil { settings[place].ignore("not used: the file has an error") }
            let key = settings[place].key
            guard settings[place].origin == .standard, overrules(key) else { continue }
            if let same = profile.settings.first(where: { $0.key.isSame(as: key) }), same.origin != .standard {
                settings[place].value = same.value
                settings[place].origin = same.origin
            }
        }
        clamp(&settings, profile)
        return Part(name: "", file: file, settings: settings, errors: configuration.errors)
    }

    /// Whether a key of curfew.toml says anew what a hardware profile says.
    private static func overrules(_ key: ConfigurationKey) -> Bool {
        key.section == "policy" && key.name != "debounce" || key.section == "watchdog" && key.name == "timeout"
    }

    /// No timeout is longer than the board's watchdog takes.
    private static func clamp(_ settings: inout [Setting], _ profile: Part) {
        func place(_ settings: [Setting], _ name: String) -> Int? {
            settings.firstIndex { $0.key.section == "watchdog" && $0.key.name == name }
        }
        func time(_ value: ConfigurationValue) -> Int64? {
            switch value {
            case .text(let text): Quantity.duration.value(text)
            case .unset, .integer, .boolean, .texts, .table: nil
            }
        }
        guard let timeout = place(settings, "timeout"), let limit = place(profile.settings, "max-timeout"),
            let asked = time(settings[timeout].value), let most = time(profile.settings[limit].value), asked > most
        else { return }
        if settings[timeout].key.line != nil { settings[timeout].ignored = "the board's watchdog takes less" }
        settings[timeout].value = profile.settings[limit].value
        settings[timeout].origin = profile.settings[limit].origin
    }

    /// The profile of a name; without one, what is taken for a board of which nothing is known.
    private static func profile(_ name: String?, _ paths: ConfigurationPaths) -> Part {
        for directory in name == nil ? [] : paths.profiles.reversed() {
            let path = directory + "/" + (name ?? "") + ".toml"
            guard case .bytes(let bytes) = InputFile.read(path) else { continue }
            let problems = Problems(file: path)
            let (_, keys) = HardwareProfileFile.read(
                Document.read(bytes, problems), name: name ?? "", problems: problems, lists: true)
            let settings = settings(keys, problems.sorted) { .profile(path, line: $0) }
            return Part(name: name ?? "", file: path, settings: settings, errors: problems.sorted)
        }
        let settings = settings(ConfigurationKey.profile, []) { _ in .standard }
        return Part(name: "", file: nil, settings: settings, errors: [])
    }

    private static func settings(
        _ keys: [ConfigurationKey], _ errors: [ConfigurationError], _ origin: (Int) -> Origin
    ) -> [Setting] {
        // What two keys do to each other is said of the line of one.
        var unclaimed = errors.filter { error in !keys.contains { $0.error == error } }
        return keys.map { key in
            var error = key.error
            if error == nil, let line = key.line, let place = unclaimed.firstIndex(where: { $0.line == line }) {
                error = unclaimed.remove(at: place)
            }
            let origin = key.line.map(origin) ?? .standard
            return Setting(key: key, file: origin.file, value: key.value, origin: origin, error: error)
        }
    }
}

extension EffectiveConfiguration.Setting {
    fileprivate mutating func ignore(_ why: String) {
        ignored = why
        value = key.standard
        origin = .standard
    }
}

extension ConfigurationKey {
    fileprivate func isSame(as other: ConfigurationKey) -> Bool { section == other.section && name == other.name }

    /// The keys of an app's file, in the order in which they are declared.
    public static var app: [ConfigurationKey] {
        AppFile.parse([], name: "app", file: "", accounts: KnownAccounts(.system), lists: true).keys
    }

    /// Those of curfew.toml.
    public static var device: [ConfigurationKey] { DeviceFile.parse([], file: "", lists: true).keys }

    /// Those of a hardware profile.
    public static var profile: [ConfigurationKey] {
        HardwareProfileFile.read(nil, name: "", problems: Problems(file: ""), lists: true).keys
    }
}
