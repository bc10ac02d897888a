/// How much of the system an app and its hooks can see and change, besides the rights of their user.
public struct SandboxConfiguration: Equatable, Sendable {
    /// What holds where the app's file says nothing of a part.
    public enum Level: UInt8, Equatable, Sendable {
        case off, standard, strict

        /// As the file has it.
        public var key: String {
            switch self {
            case .off: "off"
            case .standard: "default"
            case .strict: "strict"
            }
        }
    }

    /// Beside sockets in the file system, which work always.
    public enum Network: UInt8, Equatable, Sendable { case none, loopback, full }

    public var level: Level
    /// All is read-only, but for /dev, /proc, /sys, its own folders and `readWritePaths`.
    public var protectsSystem: Bool
    public var hasPrivateTmp: Bool
    public var protectsHome: Bool
    public var protectsProcesses: Bool
    public var hasPrivateDevices: Bool
    public var hasPrivateIPC: Bool
    public var filtersSystemCalls: Bool
    /// No namespaces of its own, in which it would have rights that its user does not.
    public var restrictsNamespaces: Bool
    public var network = Network.full
    /// Absolute paths, in the order of the file.
    public var readWritePaths: [String] = []
    public var readOnlyPaths: [String] = []
    /// Below /dev.
    public var devices: [String] = []

    public init(_ level: Level) {
        self.level = level
        protectsSystem = level != .off
        hasPrivateTmp = level != .off
        protectsHome = level != .off
        protectsProcesses = level != .off
        hasPrivateDevices = level == .strict
        hasPrivateIPC = level == .strict
        filtersSystemCalls = level == .strict
        restrictsNamespaces = level != .off
    }

    /// The folder of a path that is empty for the app; nil where it is seen. This only says what the child does
    /// (CLinux/sandbox_paths.c, `find_roots`): a test keeps both alike.
    public func hidden(_ path: String) -> String? {
        let temporary = hasPrivateTmp ? ["/tmp", "/var/tmp", "/dev/shm"] : []
        let hidden = temporary + (protectsHome ? ["/home", "/root", "/run/user"] : [])
        guard let folder = hidden.first(where: { Self.isBelow(path, $0) }) else { return nil }
        return (readOnlyPaths + readWritePaths).contains { Self.isBelow(path, $0) } ? nil : folder
    }

    private static func isBelow(_ path: String, _ folder: String) -> Bool {
        path.utf8.starts(with: folder.utf8)
            && (path.utf8.count == folder.utf8.count
                || path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/"))
    }
}

extension AppConfiguration {
    /// What an app has that is sandboxed, where its file says nothing else.
    static let processesOfSandboxed = 256

    mutating func take(_ level: SandboxConfiguration.Level) {
        let isOn = level != .off
        sandbox = SandboxConfiguration(level)
        user = isOn ? Self.ownUser : nil
        forbidsNewPrivileges = isOn
        capabilities = isOn ? 0 : nil
        limits.processes = isOn ? Self.processesOfSandboxed : nil
    }
}
