/// A program to be started: what it is, as whom, and what it is given. Whatever is nil or empty here is the daemon's
/// own (umask, directory, user), but for descriptors and the environment, of which nothing is inherited.
public struct SpawnRequest {
    /// The absolute path of the program first. No shell, no search path.
    public var arguments: [String]
    /// "KEY=VALUE" each, the whole environment.
    public var environment: [String]
    /// Variables that are to hold the pid of the new process itself: `WATCHDOG_PID`, `LISTEN_PID`. They come after
    /// `environment`.
    public var pidVariables: [String] = []

    /// Entered with the rights of `credentials`.
    public var workingDirectory: String?
    public var credentials: Credentials?
    public var umask: UInt32?
    /// -20 to 19, absolute.
    public var nice: Int32?
    public var limits: [ResourceLimit] = []
    /// PR_SET_NO_NEW_PRIVS: setuid programs and file capabilities give nothing to the app.
    public var forbidsNewPrivileges = false
    /// All that the program can have of capabilities(7), a bit for each number; another user than root's has them at
    /// once (PR_CAP_AMBIENT). nil: what that user may have.
    public var capabilities: UInt64?
    /// What of the system it can see and change; nil: as the daemon does.
    public var sandbox: Sandbox?
    /// Whose view of the system it shares, where that one runs and has one of its own: that of an app's hook.
    public var companion: KeptProcess?

    /// Open descriptors of the caller; nil is /dev/null.
    public var standardInput: Int32?
    public var standardOutput: Int32?
    public var standardError: Int32?
    /// More of them, under the numbers given (3 and up); the caller keeps its own. At most 61.
    public var passedDescriptors: [PassedDescriptor] = []

    /// An open directory of a cgroup v2 (`ControlGroup.openDirectory()`) that the process is born in.
    public var controlGroupDescriptor: Int32?

    public init(arguments: [String], environment: [String] = []) {
        self.arguments = arguments
        self.environment = environment
    }
}

/// An open descriptor of the caller that the program gets under the number `target`.
public struct PassedDescriptor: Equatable, Sendable {
    public let source: Int32
    public let target: Int32

    public init(source: Int32, target: Int32) {
        self.source = source
        self.target = target
    }
}

/// A limit of setrlimit(2).
public struct ResourceLimit: Equatable, Sendable {
    /// RLIMIT_*, as the kernel numbers them.
    public let resource: Int32
    public let soft: UInt64
    public let hard: UInt64

    /// RLIM_INFINITY.
    public static let unlimited = UInt64.max

    public init(resource: Int32, soft: UInt64, hard: UInt64) {
        self.resource = resource
        self.soft = soft
        self.hard = hard
    }
}
