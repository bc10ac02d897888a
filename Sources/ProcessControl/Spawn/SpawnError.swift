internal import CLinux
public import SystemCalls

/// Why a program did not start.
public struct SpawnError: Error, Equatable, Sendable {
    /// The steps of a start, in their order; capabilities are given up before the user and taken after it.
    public enum Step: Equatable, Sendable {
        /// The request makes no sense: no absolute path, a NUL in a string, a descriptor named twice.
        case prepare
        case clone, joinControlGroup, newSession, resetSignals, sandbox, descriptors, limits, nice, supplementaryGroups,
            group
        case capabilities, user, workingDirectory, noNewPrivileges, filter, exec
        /// A signal ended the process before it reached exec.
        case killed(signal: Int32)
    }

    public let step: Step
    /// What the step was about: a path, an id, a number; may be empty.
    public let subject: String
    public let errno: Errno

    /// "exec /usr/bin/nope: No such file or directory".
    public var text: String {
        let call = subject.isEmpty ? operation : "\(operation) \(subject)"
        if case .killed = step { return call }
        return "\(call): \(errno.text)"
    }

    /// The same, for those who make other calls too.
    public var systemError: SystemError { SystemError(operation, subject, errno: errno) }

    private var operation: String {
        switch step {
        case .prepare: "prepare"
        case .clone: "clone"
        case .joinControlGroup: "join the control group"
        case .newSession: "setsid"
        case .resetSignals: "reset signal"
        case .sandbox: "make its sandbox:"
        case .filter: "filter system calls"
        case .descriptors: "pass descriptor"
        case .limits: "set limit"
        case .nice: "setpriority"
        case .supplementaryGroups: "setgroups"
        case .group: "setgid"
        case .capabilities: "limit capabilities"
        case .user: "setuid"
        case .workingDirectory: "chdir"
        case .noNewPrivileges: "no_new_privs"
        case .exec: "exec"
        case .killed(let signal): "killed by signal \(signal) before exec"
        }
    }

    init(step number: Int32, errno code: Int32, detail: Int32, _ request: SpawnRequest) {
        let step = Self.step(Int(number), detail: detail)
        let subject =
            switch step {
            case .prepare, .exec: request.arguments.first ?? ""
            case .clone, .joinControlGroup, .newSession, .noNewPrivileges, .killed: ""
            case .sandbox: request.sandbox?.subject(detail) ?? ""
            case .resetSignals, .descriptors, .limits, .nice: "\(detail)"
            case .supplementaryGroups, .capabilities, .filter: ""
            case .group: request.credentials.map { "\($0.group)" } ?? ""
            case .user: request.credentials.map { "\($0.user)" } ?? ""
            case .workingDirectory: request.workingDirectory ?? ""
            }
        self.init(step, subject, code)
    }

    init(_ step: Step, _ subject: String, _ code: Int32) {
        self.step = step
        self.subject = subject
        errno = Errno(rawValue: code)
    }

    private static func step(_ number: Int, detail: Int32) -> Step {
        switch number {
        case LINUX_SPAWN_CLONE: .clone
        case LINUX_SPAWN_JOIN_GROUP: .joinControlGroup
        case LINUX_SPAWN_SESSION: .newSession
        case LINUX_SPAWN_SIGNALS: .resetSignals
        case LINUX_SPAWN_SANDBOX: .sandbox
        case LINUX_SPAWN_FILTER: .filter
        case LINUX_SPAWN_DESCRIPTORS: .descriptors
        case LINUX_SPAWN_LIMITS: .limits
        case LINUX_SPAWN_NICE: .nice
        case LINUX_SPAWN_GROUPS: .supplementaryGroups
        case LINUX_SPAWN_GROUP: .group
        case LINUX_SPAWN_CAPABILITIES: .capabilities
        case LINUX_SPAWN_USER: .user
        case LINUX_SPAWN_DIRECTORY: .workingDirectory
        case LINUX_SPAWN_NO_NEW_PRIVILEGES: .noNewPrivileges
        case LINUX_SPAWN_EXEC: .exec
        case LINUX_SPAWN_KILLED: .killed(signal: detail)
        default: .prepare
        }
    }
}
