public import Lifecycle

/// One app, as `apps/NAME.toml` describes it.
public struct AppConfiguration: Equatable, Sendable {
    /// How the lifecycle's calls reach the app.
    public enum Delegate: UInt8, Equatable, Sendable { case none, varlink, hooks, signals }

    /// A variable of the app's environment.
    public struct Variable: Equatable, Sendable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// One that curfewd alone sets, or leaves out: one of the file's is not passed on.
        public var isCurfews: Bool { Self.curfews.contains(name) }

        private static let curfews = [
            "CURFEW_APP", "CURFEW_SOCKET", "CURFEW_LAUNCH_REASON", "CURFEW_DELEGATE_FD", "CURFEW_EVENT",
            "CURFEW_DEADLINE", "CURFEW_TASK", "CURFEW_TASK_NAME", "MAINPID",
        ]
    }

    /// A program that is run for a handler. The first argument is its absolute path.
    public struct Hook: Equatable, Sendable {
        public let handler: Handler
        public let command: [String]

        public init(handler: Handler, command: [String]) {
            self.handler = handler
            self.command = command
        }
    }

    /// A signal that is sent for a handler.
    public struct HandlerSignal: Equatable, Sendable {
        public let handler: Handler
        /// As kill(2) takes it.
        public let signal: Int32

        public init(handler: Handler, signal: Int32) {
            self.handler = handler
            self.signal = signal
        }
    }

    /// What the app's control group is held to; nil: unlimited.
    public struct Limits: Equatable, Sendable {
        /// memory.high, in bytes.
        public var memoryHigh: Int64?
        /// memory.max, in bytes.
        public var memoryMax: Int64?
        /// pids.max.
        public var processes: Int?

        public init(memoryHigh: Int64? = nil, memoryMax: Int64? = nil, processes: Int? = nil) {
            self.memoryHigh = memoryHigh
            self.memoryMax = memoryMax
            self.processes = processes
        }
    }

    /// What the lifecycle's core must know.
    public var policy: AppPolicy
    /// The program's absolute path, then its arguments.
    public var exec: [String]
    public var description = ""
    /// nil: the daemon's; `ownUser`: one that it has for itself.
    public var user: String?
    public static let ownUser = "auto"
    /// nil: the user's primary group, or the daemon's.
    public var group: String?
    /// An absolute path; nil: "/".
    public var workingDirectory: String?
    /// In the order of the file; each name once.
    public var environment: [Variable] = []
    /// nil: the daemon's.
    public var umask: UInt32?
    /// -20 to 19, as setpriority(2) takes it; nil: the daemon's.
    public var nice: Int32?
    public var forbidsNewPrivileges = false
    /// Those of capabilities(7) that it can have, a bit for each number; nil: not limited.
    public var capabilities: UInt64?
    public var sandbox = SandboxConfiguration(.off)
    public var delegate = Delegate.none
    /// In the order of `Handler`; empty unless the delegate is `hooks`.
    public var hooks: [Hook] = []
    /// In the order of `Handler`; empty unless the delegate is `signals`.
    public var signals: [HandlerSignal] = []
    /// Whether the app answers a signal with READY=1; false: the call counts as returned once the signal is sent.
    public var acknowledge = true
    public var limits = Limits()
    public var background = BackgroundConfiguration()

    public var name: String { policy.name }

    /// `/var/lib/curfew-apps/NAME`, made as it is launched and told as STATE_DIRECTORY (where curfewd runs as root).
    var hasStateFolder: Bool {
        user == Self.ownUser || sandbox.level != .off && (user != nil || group != nil)
    }

    /// An app with all defaults, without a sandbox. A file that only names a program is there to have it run.
    public init(name: String, exec: [String]) {
        policy = AppPolicy(name: name)
        policy.launch = .boot
        self.exec = exec
    }
}

extension AppConfiguration {
    /// An app from the bytes of its file, by itself: other apps are not looked at.
    ///
    /// name: the file's name without ".toml"; file: the path that messages show; sandbox: what holds where the file
    /// does not say.
    public static func parse(
        _ bytes: [UInt8], name: String, file: String, sandbox: SandboxConfiguration.Level = .standard,
        accounts: Accounts = .system
    ) -> AppEntry {
        AppFile.parse(bytes, name: name, file: file, sandbox: sandbox, accounts: KnownAccounts(accounts)).entry
    }
}
