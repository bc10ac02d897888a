internal import Lifecycle

/// What is under way on a board. Made into words only when it is asked for.
struct Unrest {
    enum Subject {
        case board
        case instance(InstanceID)
        case app(AppID)
        case request(RequestID)
        case deadline(Deadline.Reason)
    }

    let subject: Subject
    let what: String

    init(_ subject: Subject, _ what: String) {
        self.subject = subject
        self.what = what
    }

    func text(_ names: AppDirectory) -> String {
        switch subject {
        case .board: what
        case .instance(let instance): "\(names.name(instance)) \(what)"
        case .app(let app): "\(names.name(app)) \(what)"
        case .request(let request): "request \(request.rawValue) \(what)"
        case .deadline(let reason): "\(reason.text(names)) \(what)"
        }
    }
}

/// Whether anything is under way.
extension SimulatedBoard {
    /// What is under way; nil when the board is at rest.
    func unrest() -> Unrest? {
        if stalledUntil != nil || !inbox.isEmpty { return Unrest(.board, "the event loop stalls") }
        let device = core.device
        if device.sleepState != .awake { return Unrest(.board, "the device does not stay awake") }
        if device.isShuttingDown { return Unrest(.board, "the device is shutting down") }
        if let unrest = unrestOfConditions() { return unrest }
        if login.sleep != .idle || login.shutdown != .idle { return Unrest(.board, "logind is at it") }
        if lacksLock { return Unrest(.board, "a lock of logind's is not held") }
        if let request = openRequests.first { return Unrest(.request(request), "waits") }
        for process in processes {
            if let what = unrest(of: process) { return Unrest(.instance(process.instance), what) }
        }
        for record in inspection.records where record.isAlive {
            if !record.isSpawned { return Unrest(.instance(record.instance), "is being spawned") }
            if record.call != nil { return Unrest(.instance(record.instance), "is in a handler") }
        }
        if let unrest = unrestOfDeadline() { return unrest }
        if queue.hasUnrest { return Unrest(.board, "something is to come") }
        for app in core.appIDs {
            guard let view = core.view(of: app) else { continue }
            if view.restartPending { return Unrest(.app(app), "is to be launched") }
            if view.taskState == .terminating { return Unrest(.app(app), "is terminating") }
        }
        return nil
    }

    /// One that logind would grant: the question or its answer was lost, and it is asked for again.
    private var lacksLock: Bool {
        guard login.isPresent else { return false }
        return [LockKind.sleep, .shutdown].contains {
            !login.holds($0) && !login.refusedIdly[Int($0.rawValue)]
        }
    }

    /// What costs nothing to be known, and mostly is enough.
    private var isBusy: Bool {
        queue.hasUnrest || stalledUntil != nil || login.sleep != .idle || login.shutdown != .idle
            || !openRequests.isEmpty || hasConditionsUnsettled
    }

    private func unrestOfDeadline() -> Unrest? {
        guard let asked else { return nil }
        switch asked.reason {
        // What is fed and looked at for ever is no unrest.
        case .liveness, .memoryLimit, .taskExpiration, .taskBudget, .keepAwakeBudget, .poll, .hardwareWatchdog,
            .stallCheck:
            return nil
        // A lock that is refused for good is asked for again for ever.
        case .login where login.refusedIdly.contains(true): return nil
        case .spawn, .handler, .exit, .restart, .freeze, .sleepLock, .death, .clearing, .sleepAllowance, .taskGrace,
            .sleepRelease, .sleepCancellation, .login, .darkWake, .shutdown, .condition, .criticalBattery,
            .thermalRelief,
            .memory:
            return Unrest(.deadline(asked.reason), "is due")
        }
    }

    /// Nothing is in force that will not stay so.
    private func unrestOfConditions() -> Unrest? {
        if core.device.memoryPressure != .normal { return Unrest(.board, "memory is short") }
        if core.device.thermalState == .critical { return Unrest(.board, "the board is too hot") }
        return hasConditionsUnsettled ? Unrest(.board, "conditions have just changed") : nil
    }

    private var hasConditionsUnsettled: Bool {
        let settled = surroundings.lastMove + max(devicePolicy.debounce, .seconds(5)) + .milliseconds(100)
        return asked != nil && monotonic < settled
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
        if case .app(.ping) = event, quietSince != nil { return }
        guard !isBusy, unrest() == nil else {
            quietSince = nil
            return
        }
        if quietSince == nil { quietSince = monotonic }
        inspection.rest(on: self)
    }

    func finish() { inspection.finish(on: self) }
}
