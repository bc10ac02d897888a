internal import Lifecycle

/// Whether anything is under way.
extension SimulatedBoard {
    /// What is under way; nil when the board is at rest.
    func unrest() -> String? {
        if stalledUntil != nil || !inbox.isEmpty { return "the event loop stalls" }
        if core.device.sleepState != .awake { return "the device is \(core.device.sleepState.name)" }
        if core.device.isShuttingDown { return "the device is shutting down" }
        if let unrest = unrestOfConditions() { return unrest }
        if login.sleep != .idle || login.shutdown != .idle { return "logind is at it" }
        if let request = openRequests.first { return "request \(request.rawValue) waits" }
        for process in processes {
            if let unrest = unrest(of: process) { return "\(directory.name(process.instance)) \(unrest)" }
        }
        for record in inspection.records where record.isAlive {
            if !record.isSpawned { return "\(directory.name(record.instance)) is being spawned" }
            if let call = record.call { return "\(directory.name(record.instance)) is in \(call.call.handler.method)" }
        }
        for app in core.appIDs {
            guard let view = core.view(of: app) else { continue }
            if view.restartPending { return "\(view.name) is to be launched" }
            if view.taskState == .terminating { return "\(view.name) is terminating" }
        }
        if let asked {
            switch asked.reason {
            // What is fed and looked at for ever is no unrest.
            case .liveness, .memoryLimit, .taskExpiration, .taskBudget, .keepAwakeBudget, .poll, .hardwareWatchdog:
                break
            case .spawn, .handler, .exit, .restart, .freeze, .clearing, .stallCheck, .sleepAllowance, .taskGrace,
                .sleepRelease, .sleepCancellation, .login, .darkWake, .shutdown, .condition, .criticalBattery,
                .thermalRelief,
                .memory:
                return "\(asked.reason.text(directory)) is due"
            }
        }
        return queue.hasUnrest ? "something is to come" : nil
    }

    /// Nothing is in force that will not stay so.
    private func unrestOfConditions() -> String? {
        if core.device.memoryPressure != .normal { return "memory is short" }
        if core.device.thermalState == .critical { return "the board is too hot" }
        let settled = surroundings.lastMove + max(devicePolicy.debounce, .seconds(5)) + .milliseconds(100)
        return asked != nil && monotonic < settled ? "conditions have just changed" : nil
    }

    private func unrest(of process: SimulatedProcess) -> String? {
        if process.stage == .starting { return "is starting" }
        if process.stage == .exited { return "is being cleared" }
        if process.killAsked { return "is being killed" }
        if process.awaitsReady { return "is not ready" }
        if process.freezeAsked, !process.isFrozen { return "is being frozen" }
        return nil
    }

    /// Looks for a moment of rest, and has the checkers look at it.
    func lookForRest(after event: Event) {
        if case .ping = event, quietSince != nil { return }
        guard unrest() == nil else {
            quietSince = nil
            return
        }
        if quietSince == nil { quietSince = monotonic }
        inspection.rest(on: self)
    }

    func finish() { inspection.finish(on: self) }
}
