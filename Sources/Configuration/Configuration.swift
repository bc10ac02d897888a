/// All that is configured on a board.
///
/// Loading never fails: what is wrong is left out and listed.
public struct Configuration: Equatable, Sendable {
    /// Defaults where curfew.toml is missing or bad.
    public var device: DeviceConfiguration
    /// Of curfew.toml's text: it changed where this did. 0: there is none.
    public internal(set) var deviceMark: UInt64 = 0
    /// Sorted by name.
    public var apps: [AppEntry]
    /// There is no folder of apps at all: not the same as one with none in it.
    public internal(set) var isWithoutFolder = false
    /// What is wrong with curfew.toml and with the directories. What is wrong with an app is in its entry.
    public var errors: [ConfigurationError]
    public var warnings: [ConfigurationError]

    public init(
        device: DeviceConfiguration = DeviceConfiguration(), apps: [AppEntry] = [],
        errors: [ConfigurationError] = [], warnings: [ConfigurationError] = []
    ) {
        self.device = device
        self.apps = apps
        self.errors = errors
        self.warnings = warnings
    }

    /// What there is where the files could not be read in time: nothing is known of them.
    public static func unread(_ paths: ConfigurationPaths) -> Configuration {
        let message =
            "was not read in time: a disk or a name service is slow, or a process keeps a directory locked; curfew "
            + "reload tries again"
        return Configuration(errors: [ConfigurationError(file: paths.administrator, line: nil, message: message)])
    }

    /// For a board on which apps run: a folder that was moved, or a disk that is not mounted, is not the end of them.
    public mutating func missFolder(_ paths: ConfigurationPaths) {
        guard isWithoutFolder else { return }
        let folder = paths.administrator + "/" + ConfigurationPaths.appsDirectory
        let message =
            "is not there; what runs stays as it is. To end all apps, make an empty folder, then curfew reload"
        errors.append(ConfigurationError(file: folder, line: nil, message: message))
    }

    /// Nothing is wrong with any file. Warnings do not count.
    public var isValid: Bool {
        errors.isEmpty
            && apps.allSatisfy { app in
                switch app {
                case .valid: true
                case .invalid: false
                }
            }
    }

    /// Every error: curfew.toml's first, then the apps' by name.
    public var allErrors: [ConfigurationError] { errors + apps.flatMap { $0.errors } }
}

/// What became of an app's file.
public enum AppEntry: Equatable, Sendable {
    indirect case valid(AppConfiguration)
    /// Listed, but never launched.
    case invalid(name: String, errors: [ConfigurationError])

    public var name: String {
        switch self {
        case .valid(let app): app.name
        case .invalid(let name, _): name
        }
    }

    /// Empty for a valid app.
    public var errors: [ConfigurationError] {
        switch self {
        case .valid: []
        case .invalid(_, let errors): errors
        }
    }
}
