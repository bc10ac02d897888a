internal import Varlink

/// Why the device did not do what it was asked.
public enum CurfewError: Error, Equatable, Sendable {
    /// This process does not belong to an app of this device, by the kernel's word.
    case notAnApp
    /// No (more) time in background: the budget is spent, the policy does not allow it, or the app is being ended.
    case backgroundTimeDenied(reason: String)
    /// The app holds as many background tasks as it may.
    case tooManyBackgroundTasks(limit: Int)
    /// The app does not hold this task: it has ended, or was never begun.
    case noSuchBackgroundTask(BackgroundTaskIdentifier)
    /// A value that cannot be used, and what is expected.
    case invalidValue(String)
    /// The device did not answer in time, or went away. A task that was being ended will be as soon as the device is
    /// back, and one that is granted too late is ended at once. Where the connection was lost in the middle of a begin,
    /// `Application.tasks` says whether there is a task.
    case connectionLost(String)
    /// An error that this library does not know, by its full name, or an answer that makes no sense.
    case unexpectedAnswer(String)
    /// The kernel refused what every program needs: a thread, a descriptor.
    case systemCallFailed(String)
    /// `Application.start` was called before in this process.
    case alreadyStarted
}

extension CurfewError: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .notAnApp:
            "this process does not belong to an app of this device; start it with `curfew launch`"
        case .backgroundTimeDenied(let reason): "no time in background: \(reason)"
        case .tooManyBackgroundTasks(let limit):
            "the app holds \(limit) background tasks, as many as it may; end one before beginning another"
        case .noSuchBackgroundTask(let identifier):
            "the app does not hold background task \(identifier.rawValue); end each task once, before it expires"
        case .invalidValue(let text): text
        case .connectionLost(let text): "no answer from the device: \(text)"
        case .unexpectedAnswer(let text): "the device answered with \(text)"
        case .systemCallFailed(let text): text
        case .alreadyStarted: "Application.start was called before; a process is one app"
        }
    }
}

extension CurfewError {
    /// An error of io.curfew.Application, or one that every Varlink service knows.
    init(_ name: String, _ parameters: JSONObject) {
        switch name {
        case "io.curfew.Application.NotAnApp": self = .notAnApp
        case "io.curfew.Application.BackgroundTimeDenied":
            self = .backgroundTimeDenied(reason: parameters["reason"]?.stringValue ?? "no reason given")
        case "io.curfew.Application.TooManyBackgroundTasks":
            self = .tooManyBackgroundTasks(limit: Int(clamping: parameters["limit"]?.intValue ?? 0))
        case "io.curfew.Application.NoSuchBackgroundTask":
            self = .noSuchBackgroundTask(BackgroundTaskIdentifier(parameters["identifier"]?.intValue ?? 0))
        case "org.varlink.service.InvalidParameter":
            self = .invalidValue("the device takes no such \(parameters["parameter"]?.stringValue ?? "parameter")")
        default: self = .unexpectedAnswer(VarlinkError.error(name: name, parameters: parameters).text)
        }
    }
}

/// Thrown by `withBackgroundTask` when its body was cancelled because the task's time ran out.
public struct BackgroundTaskExpired: Error, Equatable, Sendable, CustomStringConvertible {
    public let task: BackgroundTask

    public var description: String { "the time of background task \"\(task.name)\" ran out before it was done" }
}
