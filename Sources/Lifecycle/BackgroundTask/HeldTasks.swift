/// The background tasks that an instance holds, and the time that runs for them. All moments are readings of the
/// instance's clock: they stand still while it is frozen.
struct HeldTasks: Equatable {
    /// Tasks an app may hold at a time.
    static let limit = 64

    /// Oldest first.
    private(set) var all: [HeldTask] = []
    /// The app's pool is empty then; nil while it does not run.
    private(set) var poolEnd: Nanoseconds?
    /// The time to keep the board awake is over then; nil while the lock is not held for it.
    private(set) var keepAwakeEnd: Nanoseconds?

    var isEmpty: Bool { all.isEmpty }
    var isFull: Bool { all.count >= Self.limit }
    var keepAwake: Bool { all.contains { $0.keepsAwake } }
    var isAnyWarned: Bool { all.contains { $0.isWarned } }
    /// One has been warned of the pool's end, and not of its own limit.
    var isPoolWarningGiven: Bool { all.contains { $0.isWarned && !$0.isOver } }

    func task(_ id: BackgroundTaskID) -> HeldTask? { all.first { $0.id == id } }

    mutating func begin(_ task: HeldTask) { all.append(task) }
    mutating func end(_ id: BackgroundTaskID) { all.removeAll { $0.id == id } }
    mutating func endAll() { all = [] }

    // MARK: Expiration

    /// The newest task whose expiration handler is due. lead: how long before the pool's end that is.
    func dueTask(lead: Nanoseconds, at reading: Nanoseconds) -> HeldTask? {
        let isLow = isLow(lead: lead, at: reading)
        return all.last { $0.isOwnTimeOver(at: reading) && !$0.isOver || isLow && !$0.isWarned }
    }

    /// The pool is about to be empty.
    func isLow(lead: Nanoseconds, at reading: Nanoseconds) -> Bool {
        poolEnd.map { $0 - reading <= lead } ?? false
    }

    /// Notes that its expiration handler is called now. Returns the task as it is then.
    mutating func markWarned(_ id: BackgroundTaskID, at reading: Nanoseconds) -> HeldTask? {
        guard let place = all.firstIndex(where: { $0.id == id }) else { return nil }
        all[place].isWarned = true
        if all[place].isOwnTimeOver(at: reading) { all[place].isOver = true }
        return all[place]
    }

    /// They have time again.
    mutating func forgetWarnings() {
        for place in all.indices where !all[place].isOver { all[place].isWarned = false }
    }

    /// When the next expiration handler is due; nil: none is.
    func nextExpiration(lead: Nanoseconds) -> Nanoseconds? {
        let warning = poolEnd.map { $0 - lead } ?? .max
        var due = Nanoseconds.max
        for task in all {
            if !task.isOver, let end = task.allowedUntil { due = min(due, end) }
            if !task.isWarned { due = min(due, warning) }
        }
        return due == .max ? nil : due
    }

    /// The shortest limit that a task has of its own and that runs.
    var shortestLimit: Nanoseconds {
        var span = Nanoseconds.max
        for task in all where !task.isOver {
            if let end = task.allowedUntil { span = min(span, end - task.begun) }
        }
        return span
    }

    // MARK: The app's times

    mutating func startPool(_ left: Nanoseconds, at reading: Nanoseconds) {
        if poolEnd == nil { poolEnd = reading + left }
    }

    /// Returns what is left; nil: it did not run.
    mutating func stopPool(at reading: Nanoseconds) -> Nanoseconds? {
        guard let end = poolEnd else { return nil }
        poolEnd = nil
        return max(end - reading, .zero)
    }

    /// It is to be full again, whatever is left.
    mutating func forgetPoolEnd() { poolEnd = nil }

    mutating func startKeepAwake(_ left: Nanoseconds, at reading: Nanoseconds) {
        if keepAwakeEnd == nil { keepAwakeEnd = reading + left }
    }

    /// What is left of the time to keep the board awake; nil: it does not run.
    func keepAwakeLeft(at reading: Nanoseconds) -> Nanoseconds? { keepAwakeEnd.map { max($0 - reading, .zero) } }

    mutating func stopKeepAwake() { keepAwakeEnd = nil }

    mutating func archive(_ archive: inout StateArchive) {
        archive.list(1, &all, .blank) { $1.archive(&$0) }
        archive.optional(2, &poolEnd, .zero) { $0.value(1, &$1) }
        archive.optional(3, &keepAwakeEnd, .zero) { $0.value(1, &$1) }
    }
}
