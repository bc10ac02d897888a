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
    var allowedUntil: Nanoseconds?
    /// Its expiration handler has been called (or would have been, where there is none).
    var isWarned = false
    /// Its own limit is over: it ends when its expiration handler has returned.
    var isOver = false

    func isOwnTimeOver(at reading: Nanoseconds) -> Bool { allowedUntil.map { $0 <= reading } ?? false }

    static let blank = HeldTask(id: BackgroundTaskID(rawValue: 0), name: "", keepsAwake: false, begun: .zero)

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(1, &id)
        archive.value(2, &name)
        archive.value(3, &keepsAwake)
        archive.value(4, &begun)
        archive.optional(5, &allowedUntil, .zero) { $0.value(1, &$1) }
        archive.value(6, &isWarned)
        archive.value(7, &isOver)
    }
}

/// What an app asks for with a background task.
public struct TaskParameters: Hashable, Sendable {
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
