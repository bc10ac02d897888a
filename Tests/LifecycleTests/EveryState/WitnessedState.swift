@testable import Lifecycle

/// What must hold of a state, whatever led to it.
extension Witness {
    /// When the sleep lock is released every app is dead, frozen, named or exempt.
    mutating func judgeRelease(_ core: DeviceLifecycle) {
        for id in present {
            guard let id, let run = runs[id], !isGone(id) else { continue }
            if run.isFrozen || run.isReportedStuck || !mayBeFrozen(run.app, core) { continue }
            // After a stall there was no earlier moment to try it.
            if run.isFreezing, run.freezingSince == now { continue }
            objections.append("the sleep lock is released while an app is neither dead, frozen nor named")
        }
    }

    private func mayBeFrozen(_ index: Int, _ core: DeviceLifecycle) -> Bool {
        core.canFreeze && core.apps[index].policy.suspend && !core.sleep.isDoubtful
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

    mutating func seeBoard(_ effect: Effect) {
        switch effect {
        case .login(.powerOff):
            for (id, run) in runs where !run.isReported && !run.isReportedStuck && !isGone(id) {
                objections.append("the board is switched off while an app runs")
            }
        case .memory(.read):
            if isMemoryRead { objections.append("memory is read twice at a time") }
            isMemoryRead = true
        case .watchdog(.feed): if !isWatchdogThere { objections.append("a watchdog is fed that is not there") }
        case .watchdog(.retry): if isWatchdogThere { objections.append("a watchdog is tried again that is there") }
        case .watchdog(.rest):
            if isWatchdogResting { objections.append("a watchdog is laid to rest twice") }
            isWatchdogResting = true
        case .watchdog(.wake): isWatchdogResting = false
        case .watchdog(.restService):
            if isServiceResting { objections.append("the service manager is told to rest twice") }
            isServiceResting = true
        case .watchdog(.wakeService): isServiceResting = false
        default: break
        }
    }

    /// No app is above what the conditions allow, one is in front at a time, and a watchdog is rested for a sleep.
    mutating func judgeConditions(_ effects: [Effect], _ core: DeviceLifecycle) {
        for case .app(.call(_, _, let call, _)) in effects {
            let isAbove = call == .didBecomeActive && core.device.phaseLimit < .active
            if isAbove || call == .willEnterForeground && core.device.phaseLimit < .inactive {
                objections.append("\(call.handler) above \(core.device.phaseLimit)")
            }
        }
        let active = core.apps.filter { $0.instance?.isAlive == true && $0.instance?.phase == .active }
        if core.policy.front == .one, active.count > 1 { objections.append("two apps are active") }
        if effects.contains(.login(.releaseLock(.sleep))), isWatchdogThere, !isWatchdogResting {
            objections.append("the sleep lock is released and the watchdog does not rest")
        }
        if effects.contains(.login(.releaseLock(.sleep))), isServiceWatching, !isServiceResting {
            objections.append("the sleep lock is released and the service manager watches")
        }
        let isWoken = core.device.sleepState != .asleep || core.sleep.isLogical
        if isWoken, isWatchdogResting { objections.append("the watchdog rests and the board does not sleep") }
        if isWoken, isServiceResting { objections.append("the service manager rests and the board does not sleep") }
        if isWatchdogThere, !core.watchdog.isStarving, core.nextDeadline == nil {
            objections.append("the watchdog will not be fed")
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
            if !run.isReportedStuck { objections.append("a kill is awaited without a deadline") }
        }
        for run in runs.values where run.isFreezing && !run.isFrozen && !run.isReportedStuck && !run.isReported {
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
