// What can be seen of background tasks, at any moment between two events.

extension DeviceLifecycle {
    /// The tasks that an app holds, oldest first. at: MONOTONIC.
    public func tasks(of app: AppID, at moment: Nanoseconds) -> [BackgroundTaskView] {
        guard apps.indices.contains(app.rawValue), let instance = apps[app.rawValue].instance else { return [] }
        return instance.tasks.all.map { view(app.rawValue, $0, at: moment) }
    }

    /// What an app's background tasks have left; nil: no limit, as it is in front (or does not run). at: MONOTONIC.
    public func backgroundTimeRemaining(of app: AppID, at moment: Nanoseconds) -> Nanoseconds? {
        guard apps.indices.contains(app.rawValue) else { return nil }
        return apps[app.rawValue].timeRemaining(isLowPower: conditions.isLowPower, at: moment)
    }

    /// Of a task that the app holds.
    func view(_ index: Int, _ task: HeldTask, at moment: Nanoseconds) -> BackgroundTaskView {
        let reading = apps[index].instance?.clock.reading(at: moment) ?? task.begun
        return BackgroundTaskView(
            id: task.id, name: task.name, keepAwake: task.keepsAwake, held: max(reading - task.begun, .zero),
            timeRemaining: apps[index].timeRemaining(task.id, isLowPower: conditions.isLowPower, at: moment))
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
