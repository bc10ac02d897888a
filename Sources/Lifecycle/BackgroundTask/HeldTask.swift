/// A piece of work that an app has asked time for, from its begin to its one end.
///
/// Times are readings of the instance's clock: they stand still while the app is frozen.
struct HeldTask: Equatable {
    var id: BackgroundTaskID
    var name: String
    /// It may keep the board awake, while the app's budget for that lasts.
    var keepsAwake: Bool
    var begun: Nanoseconds
    /// The end of a limit of its own; nil: the pool is the only one.
    var limit: Nanoseconds?
    /// Its expiration handler has been called (or would have been, where there is none).
    var isWarned = false
    /// Its own limit is over: it ends when its expiration handler has returned.
    var isOver = false

    func isLimitOver(at reading: Nanoseconds) -> Bool { limit.map { $0 <= reading } ?? false }

    static let blank = HeldTask(id: BackgroundTaskID(rawValue: 0), name: "", keepsAwake: false, begun: .zero)

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(&id)
        archive.value(&name)
        archive.value(&keepsAwake)
        archive.value(&begun)
        archive.optional(&limit, .zero) { $0.value(&$1) }
        archive.value(&isWarned)
        archive.value(&isOver)
    }
}

/// What an app's background tasks have in all, until it becomes active again. Outlives the instance.
struct TaskPool: Equatable {
    private(set) var size: Nanoseconds
    /// As of when it last stopped running.
    private(set) var left: Nanoseconds

    init(_ size: Nanoseconds) {
        self.size = size
        left = size
    }

    /// It has stopped running.
    mutating func stop(_ left: Nanoseconds) { self.left = left }

    mutating func cut(to budget: Nanoseconds) { left = min(left, budget) }

    /// How long before its end the expiration handlers are called.
    var lead: Nanoseconds { size < .seconds(50) ? size / 10 : .seconds(5) }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(&size)
        archive.value(&left)
    }
}

/// What an app asks for with a background task.
public struct TaskWish: Hashable, Sendable {
    public var name: String
    /// nil: as the app is configured.
    public var keepAwake: Bool?
    /// A limit of the task's own, in runnable time; of an adopted task: its budget. nil: none.
    public var timeAllowed: Nanoseconds?

    public init(name: String, keepAwake: Bool? = nil, timeAllowed: Nanoseconds? = nil) {
        self.name = name
        self.keepAwake = keepAwake
        self.timeAllowed = timeAllowed
    }
}

/// What can be seen of a background task. Times are runnable time.
public struct BackgroundTaskView: Equatable, Sendable {
    public var id: BackgroundTaskID
    public var name: String
    public var keepAwake: Bool
    public var held: Nanoseconds
    /// Until it expires; nil: no limit.
    public var timeRemaining: Nanoseconds?
}

/// What has become of a background task.
public enum TaskChange: UInt8, CaseIterable, Sendable {
    case began
    /// Its time is about to run out; `timeRemaining` says how much there is.
    case expiring
    /// Ended by the app.
    case ended
    /// Its own limit was over, or the budget was and the app was killed for it.
    case expired
    /// The app ended while it was held.
    case died
}
