// What can be seen of background tasks, at any moment between two events.

extension DeviceLifecycle {
    /// The tasks that an app holds, oldest first. at: MONOTONIC.
    public func tasks(of app: AppID, at moment: Nanoseconds) -> [BackgroundTaskView] {
        guard apps.indices.contains(app.rawValue), let instance = apps[app.rawValue].instance else { return [] }
        return instance.tasks.map { view(app.rawValue, instance, $0, at: moment) }
    }

    /// What an app's background tasks have left; nil: no limit, as it is in front (or does not run). at: MONOTONIC.
    public func backgroundTimeRemaining(of app: AppID, at moment: Nanoseconds) -> Nanoseconds? {
        guard apps.indices.contains(app.rawValue) else { return nil }
        return timeRemaining(app.rawValue, at: moment)
    }

    func view(_ index: Int, _ instance: Instance, _ task: HeldTask, at moment: Nanoseconds) -> BackgroundTaskView {
        BackgroundTaskView(
            id: task.id, name: task.name, keepAwake: task.keepsAwake,
            held: max(instance.clock.reading(at: moment) - task.begun, .zero),
            timeRemaining: timeRemaining(index, task.id, at: moment))
    }

    func timeRemaining(_ index: Int, at moment: Nanoseconds) -> Nanoseconds? {
        guard let instance = apps[index].instance else { return nil }
        if let end = instance.poolEnd { return max(end - instance.clock.reading(at: moment), .zero) }
        if instance.phase == .background { return apps[index].pool?.left }
        guard instance.call?.call.handler == .didEnterBackground else { return nil }
        // What it will have once that has returned.
        return apps[index].pool?.left ?? poolBudget(index, instance)
    }

    /// Of one task: the pool's, or less where it has a limit of its own.
    func timeRemaining(_ index: Int, _ task: BackgroundTaskID, at moment: Nanoseconds) -> Nanoseconds? {
        let left = timeRemaining(index, at: moment)
        guard let instance = apps[index].instance,
            let limit = instance.tasks.first(where: { $0.id == task })?.limit
        else { return left }
        return min(max(limit - instance.clock.reading(at: moment), .zero), left ?? .max)
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
                return instance.poolEnd != nil && !instance.clock.isStopped && instance.tasks.contains { $0.isWarned }
            }
        }
    }
}
