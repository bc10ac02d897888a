internal import Lifecycle

/// One instance as the events and effects tell of it.
final class InstanceRecord {
    struct Call {
        let id: CallID
        let call: HandlerCall
        let at: Nanoseconds
        let deadline: Nanoseconds
    }

    let instance: InstanceID
    let app: AppID
    let reason: LaunchReason
    let inBackground: Bool
    var isSpawned = false
    var spawnFailed = false
    var status: ExitStatus?
    var isEmptied = false
    var isReported = false
    var isKillAsked = false
    var isTerminateAsked = false
    /// Its end was asked for (or it said that it ends), whether or not anything was done about it yet.
    var isDoomed = false
    /// The core has asked for it, and has not thawed it since.
    var isFreezeAsked = false
    var isFrozenHeard = false
    /// The one that is outstanding.
    var call: Call?
    var phase: ScenePhase
    /// Background tasks that are held, oldest first.
    var tasks: [BackgroundTaskView] = []

    init(_ instance: InstanceID, of app: AppID, _ reason: LaunchReason, inBackground: Bool) {
        self.instance = instance
        self.app = app
        self.reason = reason
        self.inBackground = inBackground
        phase = inBackground ? .background : .inactive
    }

    /// Its main process runs, as far as the core has heard.
    var isAlive: Bool { !spawnFailed && status == nil && !isGivenUp }
    /// It never came up, and is not awaited any more.
    var isGivenUp: Bool { isReported && !isSpawned && !spawnFailed }
    /// Nothing of it is left, as far as the core has heard.
    var isGone: Bool { spawnFailed || isEmptied }
}

/// What was heard and done so far: facts without judgement, from which the checkers start.
final class Chronicle {
    /// In order of their spawning; forgotten when gone and reported.
    private(set) var records: [InstanceRecord] = []
    private(set) var isFreezingAvailable = true
    private(set) var isStopping = false
    private(set) var isShuttingDown = false
    private(set) var isConfigured = false
    /// The board is about to be switched off for its battery.
    private(set) var isOutOfPower = false
    /// For whatever reason, all apps are to end.
    var isEnding: Bool { isStopping || isShuttingDown || isOutOfPower }

    func record(_ instance: InstanceID) -> InstanceRecord? { records.last { $0.instance == instance } }

    func note(_ event: Event, _ step: Step, _ directory: AppDirectory) {
        doom(event, directory)
        switch event {
        case .configured: isConfigured = true
        case .freezing(let available): isFreezingAvailable = available
        case .process(.spawned(let instance)): record(instance)?.isSpawned = true
        case .process(.spawnFailed(let instance, _, _)): record(instance)?.spawnFailed = true
        case .process(.exited(let instance, let status)):
            guard let record = record(instance) else { return }
            record.status = status
            record.call = nil
        case .process(.leftBehind(let instance)): record(instance)?.call = nil
        case .process(.groupEmptied(let instance)): record(instance)?.isEmptied = true
        case .process(.frozen(let instance)):
            if let record = record(instance), record.isFreezeAsked { record.isFrozenHeard = true }
        case .app(.handlerReturned(let instance, let call)):
            if let record = record(instance), record.call?.id == call { record.call = nil }
        case .login(.prepareForShutdown(let edge, _, _)): isShuttingDown = edge
        case .login(.available(_, _, let shutdown)): isShuttingDown = shutdown
        case .stopRequested: isStopping = true
        case .started, .timePassed, .process(.regained), .app(.ready), .app(.ping), .app(.stopping),
            .app(.extendTimeout), .app(.handlerStarting), .app(.handlerStarted),
            .login(.unavailable),
            .login(.lockTaken), .login(.lockRefused), .login(.prepareForSleep), .login(.preparingForSleep), .sleep,
            .login(.suspendRefused), .login(.powerOffRefused), .login(.appHoldsLock), .login(.appReleasedLock),
            .login(.appFillsLocks), .board,
            .memory, .watchdog,
            .client:
            break
        }
    }

    func note(_ effect: Effect, _ step: Step) {
        switch effect {
        case .process(.spawn(let app, let instance, let reason, let background)):
            records.append(InstanceRecord(instance, of: app, reason, inBackground: background))
        case .app(.call(let instance, let id, let call, let deadline)):
            record(instance)?.call = InstanceRecord.Call(
                id: id, call: call, at: step.at.monotonic, deadline: deadline)
        case .app(.giveUp(let instance, let call)):
            if let record = record(instance), record.call?.id == call { record.call = nil }
        case .process(.terminate(let instance)):
            if !isWarning(instance, step) { record(instance)?.isTerminateAsked = true }
        case .process(.kill(let instance)): record(instance)?.isKillAsked = true
        case .process(.freeze(let instance)): record(instance)?.isFreezeAsked = true
        case .process(.thaw(let instance)):
            record(instance)?.isFreezeAsked = false
            record(instance)?.isFrozenHeard = false
        case .report(let end): record(end.instance)?.isReported = true
        case .client(.taskChanged(_, let instance, let task, let change)): note(task, change, record(instance))
        case .note(.shutdown(.criticalBattery)):
            isOutOfPower = true
            for record in records { record.isDoomed = true }
        case .note(.shutdown(.cancelled)): isOutOfPower = false
        case .note(.app(.phaseChanged(let app, let phase))): records.last { $0.app == app }?.phase = phase
        case .process(.clear), .process(.reportStuck), .login, .sleep, .client(.reply), .app(.inform), .note,
            .client(.appChanged), .client(.deviceChanged), .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }

    /// Who may be on its way out from now on.
    private func doom(_ event: Event, _ directory: AppDirectory) {
        for record in records {
            let isMeant =
                switch event {
                case .app(.stopping(let instance)): record.instance == instance
                case .client(.requested(_, .terminate(let app, _))): record.app == app
                case .configured:
                    directory.entry(record.app).map { !$0.isConfigured && !$0.isAdopted } ?? true
                case .login(.prepareForShutdown(let edge, _, _)): edge
                case .login(.available(_, _, let isShuttingDown)): isShuttingDown
                case .stopRequested: true
                default: false
                }
            if isMeant { record.isDoomed = true }
        }
    }

    /// SIGTERM is how a process that was taken over hears that its time runs out.
    func isWarning(_ instance: InstanceID, _ step: Step) -> Bool {
        guard record(instance)?.reason == .backgroundTask else { return false }
        // It follows the word that a task expires; an order to end may come in the same step.
        let orders = step.effects.indices.filter { step.effects[$0] == .process(.terminate(instance)) }
        return !orders.isEmpty
            && orders.allSatisfy { place in
                guard place > 0 else { return false }
                if case .client(.taskChanged(_, instance, _, .expiring)) = step.effects[place - 1] { return true }
                return false
            }
    }

    private func note(_ task: BackgroundTaskView, _ change: TaskChange, _ record: InstanceRecord?) {
        switch change {
        case .began: record?.tasks.append(task)
        case .expiring: break
        case .ended, .expired, .died: record?.tasks.removeAll { $0.id == task.id }
        }
    }

    func forgetTheDead() { records.removeAll { $0.isGone && $0.isReported } }
}
