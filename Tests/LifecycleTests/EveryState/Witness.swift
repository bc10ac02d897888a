@testable import Lifecycle

/// Watches a core from outside: believes only events and effects, and objects to what no order of events may lead to.
struct Witness {
    struct Run {
        var app: Int
        var isSpawned = false
        var isBackground: Bool
        var openCall: CallID?
        var lastCall: Handler?
        var isFreezing = false
        var freezingSince = Nanoseconds.zero
        var isFrozen = false
        var isReportedStuck = false
        var isTerminated = false
        var isKilled = false
        var isReported = false
        var isClearing = false
        var hasFailedToSpawn = false
        var tasks: Set<BackgroundTaskID> = []
    }
    enum Lock { case none, requested, held }

    var runs: [InstanceID: Run] = [:]
    var gone: Set<InstanceID> = []
    /// By app; nil: nothing of it is left.
    var present: [InstanceID?]
    var locks: [LockKind: Lock] = [:]
    var askedAt: [LockKind: Nanoseconds] = [:]
    /// MONOTONIC, of the event at hand.
    var now = Nanoseconds.zero
    var requests: Set<RequestID> = []
    var sleepBefore = SleepState.awake
    var objections: [String] = []
    var isMemoryRead = false
    var isWatchdogThere = false
    var isWatchdogResting = false
    var isServiceWatching = false
    var isServiceResting = false

    init(apps: Int) { present = Array(repeating: nil, count: apps) }

    private mutating func object(_ what: String) { objections.append(what) }

    // MARK: Events

    /// What the event itself changes in the world.
    mutating func hear(_ event: Event) {
        switch event {
        // Where its start was given up there was nothing to kill before.
        case .process(.spawned(let id)):
            change(id) {
                if !$0.isSpawned { $0.isKilled = false }
                $0.isSpawned = true
            }
        case .process(.exited(let id, _)): change(id) { $0.openCall = nil }
        case .process(.leftBehind(let id)): change(id) { $0.openCall = nil }
        case .process(.groupEmptied(let id)): if runs[id]?.isClearing == true { forget(id) }
        case .process(.frozen(let id)): change(id) { $0.isFrozen = $0.isFreezing }
        case .app(.handlerReturned(let id, let call)): change(id) { if $0.openCall == call { $0.openCall = nil } }
        // What runs at that moment is not awaited any more.
        case .app(.stopping(let id)): change(id) { if !$0.isFreezing { $0.openCall = nil } }
        case .login(.available), .login(.unavailable): locks = [:]
        // One that was not asked for is ours all the same, until it is closed.
        case .login(.lockTaken(let kind)): locks[kind] = .held
        case .login(.lockRefused(let kind)): if locks[kind] == .requested { locks[kind] = Lock.none }
        case .client(.requested(let id, _)): requests.insert(id)
        case .client(.abandoned(let id)): requests.remove(id)
        case .process(.spawnFailed(let id, _, _)): change(id) { $0.hasFailedToSpawn = !$0.isSpawned && !$0.isReported }
        case .memory(.read): isMemoryRead = false
        case .watchdog(.hardware(let timeout)): isWatchdogThere = timeout != nil
        case .watchdog(.lost): isWatchdogThere = false
        case .watchdog(.service): isServiceWatching = true
        case .configured, .started, .freezing, .timePassed, .app(.ready), .app(.ping),
            .app(.extendTimeout), .app(.handlerStarting), .app(.handlerStarted),
            .login(.prepareForSleep), .login(.prepareForShutdown), .login(.preparingForSleep), .sleep,
            .login(.suspendRefused), .login(.powerOffRefused), .login(.appHoldsLock), .login(.appReleasedLock),
            .login(.appFillsLocks), .board,
            .memory(.pressure),
            .memory(.limitReached),
            .memory(.killed), .process(.regained), .stopRequested:
            break
        }
    }

    private mutating func change(_ id: InstanceID, _ body: (inout Run) -> Void) {
        if runs[id] != nil {
            runs[id].map {
                var run = $0; body(&run); runs[id] = run
            }
        }
    }

    private mutating func forget(_ id: InstanceID) {
        guard let run = runs[id] else { return }
        if !run.isReported { object("instance forgotten without a report") }
        if !run.tasks.isEmpty { object("a background task never ended") }
        runs[id] = nil
        gone.insert(id)
        present[run.app] = nil
    }

    // MARK: Effects

    /// Judges one event's effects, in their order.
    mutating func see(_ effects: [Effect], of event: Event, core: DeviceLifecycle) {
        now = core.now.monotonic
        let wasAwake = sleepBefore == .awake
        let wokeInTheDark = effects.contains { if case .note(.sleep(.darkWake)) = $0 { true } else { false } }
        let endedSleep = effects.contains { if case .note(.sleep(.ended)) = $0 { true } else { false } }
        for effect in effects {
            if case .process(.regained(let ids)) = event, ids.contains(where: { isRepeated(effect, of: $0) }) {
                continue
            }
            switch effect {
            // For a lock that it holds; it is frozen again at once.
            case .process(.thaw(let id)) where event == .login(.appHoldsLock(id)):
                if !effects.contains(.process(.freeze(id))) { object("thawed for a lock, and not frozen again") }
            case .process(.thaw(let id)):
                let isWorking = sleepBefore == .darkWake || wokeInTheDark
                if !wasAwake, !endedSleep, !(isWorking && runs[id]?.tasks.isEmpty == false || runs[id]?.openCall != nil)
                {
                    object("\(effect) while not awake")
                }
            case .process(.spawn):
                if !wasAwake, !endedSleep { object("\(effect) while not awake") }
            // A lock that is granted late, after that, is released at once.
            case .login(.releaseLock(.sleep)):
                if sleepBefore == .preparing, event != .login(.lockTaken(.sleep)) { judgeRelease(core) }
            default: break
            }
            see(effect)
        }
        for (index, id) in present.enumerated() {
            if let id, isGone(id), core.apps[index].instance?.id != id { forget(id) }
        }
        sleepBefore = core.device.sleepState
        judgeViews(core)
    }

    private mutating func see(_ effect: Effect) {
        switch effect {
        case .process(.spawn(let app, let id, _, let background)): seeSpawn(app, id, background)
        case .app(.call(let id, let call, let handler, let deadline)): seeCall(id, call, handler.handler, deadline)
        case .app(.giveUp(let id, let call)):
            if runs[id]?.openCall != call { object("a call is given up that is not open") }
            change(id) { $0.openCall = nil }
        case .process(.terminate(let id)):
            if runs[id]?.isTerminated != false { object("SIGTERM twice, or to no process") }
            // A reply that was on its way when the app was frozen; the kernel keeps the signal until the thaw.
            if runs[id]?.isFreezing == true, runs[id]?.lastCall != .willTerminate { object("SIGTERM to a frozen app") }
            change(id) { $0.isTerminated = true }
        // A start that was given up may still come about.
        case .process(.kill(let id)) where gone.contains(id), .process(.clear(let id)) where gone.contains(id): break
        case .process(.kill(let id)):
            if runs[id]?.isKilled != false { object("killed twice, or without a process") }
            change(id) {
                $0.isKilled = true
                $0.openCall = nil
            }
        case .process(.clear(let id)):
            if runs[id]?.isReported != true { object("cleared before its report") }
            change(id) { $0.isClearing = true }
        case .process(.freeze(let id)): seeFreeze(id)
        case .process(.thaw(let id)):
            if runs[id]?.isFreezing != true { object("thawed without being frozen") }
            change(id) {
                $0.isFreezing = false
                $0.isFrozen = false
                $0.isReportedStuck = false
            }
        case .process(.reportStuck(let id, _)): change(id) { $0.isReportedStuck = true }
        case .login(.takeLock(let kind)): seeLockTaken(kind)
        case .login(.releaseLock(let kind)):
            if locks[kind] != .held { object("\(kind) lock released that is not held") }
            locks[kind] = Lock.none
        case .report(let end):
            if runs[end.instance]?.isReported != false { object("reported twice, or without a process") }
            if end.reason.namespace == .backgroundTask, runs[end.instance]?.tasks.isEmpty != false,
                end.handler != .backgroundTaskWillExpire
            {
                object("ended for a task it did not hold")
            }
            change(end.instance) { $0.isReported = true }
        case .note(.fault(let fault, _)): object("the core finds itself broken: \(fault.name)")
        case .client(.reply(let id, _)): if requests.remove(id) == nil { object("reply to no open request") }
        case .app(.inform(let id, _)):
            if runs[id]?.isFreezing != false || runs[id]?.isKilled != false || runs[id]?.isReported != false {
                object("told while frozen or dead")
            }
        case .client(.taskChanged(_, let id, let task, let change)): seeTask(id, task, change)
        case .login(.powerOff), .memory(.read), .watchdog:
            seeBoard(effect)
        case .login(.suspendDevice), .sleep, .login(.readPreparingForSleep), .note, .client(.appChanged),
            .client(.deviceChanged), .stopDaemon, .board, .memory(.watchLimit):
            break
        }
    }

    /// Asked of the next loop once more, as it was asked of the last; what is asked anew is not.
    private func isRepeated(_ effect: Effect, of id: InstanceID) -> Bool {
        switch effect {
        case .process(.thaw(id)): runs[id]?.isFreezing == false
        case .process(.freeze(id)): runs[id]?.isFreezing == true && runs[id]?.isFrozen == false
        case .process(.kill(id)): runs[id]?.isKilled == true
        case .process(.clear(id)): runs[id]?.isClearing == true
        default: false
        }
    }

    private mutating func seeFreeze(_ id: InstanceID) {
        let moment = now
        if runs[id]?.isFreezing != false || runs[id]?.isKilled != false { object("frozen twice, or a dead app") }
        change(id) {
            $0.isFreezing = true
            $0.freezingSince = moment
        }
    }

    private mutating func seeLockTaken(_ kind: LockKind) {
        let isGivenUp = locks[kind] == .requested && now - (askedAt[kind] ?? now) >= .seconds(30)
        if locks[kind] ?? .none != .none, !isGivenUp { object("\(kind) lock taken twice") }
        locks[kind] = .requested
        askedAt[kind] = now
    }

    /// Never started, or killed, named after its time and given up: it will never run its own code again.
    func isGone(_ id: InstanceID) -> Bool {
        guard let run = runs[id], run.isReported else { return false }
        return run.hasFailedToSpawn || run.isClearing && run.isReportedStuck
    }

    private mutating func seeSpawn(_ app: AppID, _ id: InstanceID, _ background: Bool) {
        if app.rawValue < present.count, let last = present[app.rawValue], isGone(last) { forget(last) }
        while present.count <= app.rawValue { present.append(nil) }
        if present[app.rawValue] != nil { object("spawned while the last instance is still there") }
        if runs[id] != nil { object("an instance identifier was used twice") }
        runs[id] = Run(app: app.rawValue, isBackground: background)
        present[app.rawValue] = id
    }

    private mutating func seeCall(_ id: InstanceID, _ call: CallID, _ handler: Handler, _ deadline: Nanoseconds) {
        guard let run = runs[id] else { return object("\(handler) to no process") }
        if run.openCall != nil { object("\(handler) while another handler runs") }
        if run.isFreezing { object("\(handler) to a frozen app") }
        if run.isKilled || run.isTerminated || run.isReported || !run.isSpawned { object("\(handler) to a dead app") }
        if deadline <= .zero { object("\(handler) without time") }
        if !Self.isLegal(handler, after: run.lastCall, background: run.isBackground) {
            object("\(handler) after \(run.lastCall.map { "\($0)" } ?? "nothing")")
        }
        change(id) {
            $0.openCall = call
            // It changes nothing of where the app stands.
            if handler != .backgroundTaskWillExpire { $0.lastCall = handler }
        }
    }

    /// Every task that has begun ends once.
    private mutating func seeTask(_ id: InstanceID, _ task: BackgroundTaskView, _ change: TaskChange) {
        guard let run = runs[id] else { return object("a task of no app has \(change)") }
        switch change {
        case .began: if run.tasks.contains(task.id) || run.isReported { object("a task began twice, or of a dead app") }
        case .expiring, .ended, .expired, .died:
            if !run.tasks.contains(task.id) { object("a task that is not held has \(change)") }
        }
        self.change(id) {
            switch change {
            case .began: $0.tasks.insert(task.id)
            case .expiring: break
            case .ended, .expired, .died: $0.tasks.remove(task.id)
            }
        }
    }

    /// For a delegate that implements everything.
    static func isLegal(_ handler: Handler, after last: Handler?, background: Bool) -> Bool {
        if handler == .backgroundTaskWillExpire { return last != nil && last != .willTerminate }
        return switch last {
        case nil: handler == .didFinishLaunching || handler == .willTerminate
        case .didFinishLaunching:
            handler == .willTerminate
                || (background
                    ? handler == .willEnterForeground : [.didBecomeActive, .willResignActive].contains(handler))
        case .didBecomeActive: handler == .willResignActive || handler == .willTerminate
        case .willResignActive: [.didBecomeActive, .didEnterBackground, .willTerminate].contains(handler)
        case .didEnterBackground: handler == .willEnterForeground || handler == .willTerminate
        case .willEnterForeground:
            [.didBecomeActive, .didEnterBackground, .willResignActive, .willTerminate].contains(handler)
        case .willTerminate, .backgroundTaskWillExpire: false
        }
    }
}
