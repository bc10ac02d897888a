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

extension DeviceLifecycle {
    /// BOOTTIME at which the board is woken for background tasks; nil: it is not.
    public var wakeAlarm: Nanoseconds? { sleep.nap?.alarm }

    /// Whether an app is at something that takes real time: a handler, a launch, an end, a freeze, or finishing the
    /// tasks that it was told about.
    public var isBusy: Bool {
        apps.contains { app in
            guard let instance = app.instance else { return false }
            switch instance.stage {
            case .spawning, .stopping, .killing, .clearing: return true
            case .running:
                if instance.call != nil || instance.freezer == .freezing { return true }
                // Told that its time runs out, it has real time to come to an end.
                return instance.tasks.poolEnd != nil && !instance.clock.isStopped && instance.tasks.isAnyWarned
            }
        }
    }
}
