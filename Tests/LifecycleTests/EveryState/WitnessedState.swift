@testable import Lifecycle

/// What must hold of a state, whatever led to it.
extension Witness {
    /// When the sleep lock is released everybody is dead, frozen, named or exempt.
    mutating func judgeRelease(_ core: DeviceLifecycle) {
        for id in present {
            guard let id, let run = runs[id], !isGone(id) else { continue }
            if run.isFrozen || run.isNamed || !mayBeFrozen(run.app, core) { continue }
            objections.append("the sleep lock is released while an app is neither dead, frozen nor named")
        }
    }

    private func mayBeFrozen(_ index: Int, _ core: DeviceLifecycle) -> Bool {
        core.canFreeze && core.apps[index].policy.suspend
    }

    /// What the core says of its apps is what was seen.
    mutating func judgeViews(_ core: DeviceLifecycle) {
        for (index, id) in present.enumerated() {
            guard let view = core.view(of: AppID(rawValue: index)) else { continue }
            if view.instance != id { objections.append("the core knows another instance than was seen") }
            guard let id, let run = runs[id] else {
                if view.taskState != .notRunning { objections.append("not running, but \(view.taskState)") }
                continue
            }
            if view.taskState == .suspended, !run.isFrozen { objections.append("suspended but not frozen") }
            if run.isKilled, view.taskState != .terminating { objections.append("killed but \(view.taskState)") }
        }
    }

    /// Whatever is awaited has a time at which the core looks again.
    mutating func judgeDeadline(_ core: DeviceLifecycle) {
        guard core.nextDeadline == nil else { return }
        for run in runs.values where run.openCall != nil && !run.isFreezing {
            objections.append("a handler is awaited without a deadline")
        }
        for run in runs.values where run.isTerminated && !run.isFreezing && !run.isKilled && !run.isReported {
            objections.append("an exit is awaited without a deadline")
        }
        for run in runs.values where run.isClearing || run.isKilled {
            if !run.isNamed { objections.append("a kill is awaited without a deadline") }
        }
        for run in runs.values where run.isFreezing && !run.isFrozen && !run.isNamed && !run.isReported {
            objections.append("a freeze is awaited without a deadline")
        }
        for app in core.apps {
            guard let instance = app.instance, instance.stage == .running, instance.stop == nil,
                instance.phase == .background, !instance.tasks.isEmpty, !instance.clock.isStopped
            else { continue }
            objections.append("a task is held in background without a deadline")
        }
        if core.device.sleepState == .preparing { objections.append("a sleep is prepared without a deadline") }
    }
}
