internal import CLinux
public import SystemCalls

/// Why a program did not start.
public struct SpawnError: Error, Equatable, Sendable {
    /// The steps of a start, in their order.
    public enum Step: Equatable, Sendable {
        /// The request makes no sense: no absolute path, a NUL in a string, a descriptor named twice.
        case prepare
        case clone, joinControlGroup, newSession, resetSignals, descriptors, limits, nice, supplementaryGroups, group
        case user, workingDirectory, noNewPrivileges, exec
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
        case .descriptors: "pass descriptor"
        case .limits: "set limit"
        case .nice: "setpriority"
        case .supplementaryGroups: "setgroups"
        case .group: "setgid"
        case .user: "setuid"
        case .workingDirectory: "chdir"
        case .noNewPrivileges: "no_new_privs"
        case .exec: "exec"
        case .killed(let signal): "killed by signal \(signal) before exec"
        }
    }

    init(_ result: linux_spawn_result, _ request: SpawnRequest) {
        let step = Self.step(Int(result.step), detail: result.detail)
        self.step = step
        errno = Errno(rawValue: result.error)
        subject =
            switch step {
            case .prepare, .exec: request.arguments.first ?? ""
            case .clone, .joinControlGroup, .newSession, .noNewPrivileges, .killed: ""
            case .resetSignals, .descriptors, .limits, .nice: "\(result.detail)"
            case .supplementaryGroups: ""
            case .group: request.credentials.map { "\($0.group)" } ?? ""
            case .user: request.credentials.map { "\($0.user)" } ?? ""
            case .workingDirectory: request.workingDirectory ?? ""
            }
    }

    init(invalid subject: String) {
        step = .prepare
        self.subject = subject
        errno = .invalid
    }

    private static func step(_ number: Int, detail: Int32) -> Step {
        switch number {
        case LINUX_SPAWN_CLONE: .clone
        case LINUX_SPAWN_JOIN_GROUP: .joinControlGroup
        case LINUX_SPAWN_SESSION: .newSession
        case LINUX_SPAWN_SIGNALS: .resetSignals
        case LINUX_SPAWN_DESCRIPTORS: .descriptors
        case LINUX_SPAWN_LIMITS: .limits
        case LINUX_SPAWN_NICE: .nice
        case LINUX_SPAWN_GROUPS: .supplementaryGroups
        case LINUX_SPAWN_GROUP: .group
        case LINUX_SPAWN_USER: .user
        case LINUX_SPAWN_DIRECTORY: .workingDirectory
        case LINUX_SPAWN_NO_NEW_PRIVILEGES: .noNewPrivileges
        case LINUX_SPAWN_EXEC: .exec
        case LINUX_SPAWN_KILLED: .killed(signal: detail)
        default: .prepare
        }
    }
}
