internal import Lifecycle

/// A wake by our own alarm is for held background tasks alone, is short, and leaves no trace.
///
/// - The alarm is set as a sleep is released for which work waits, `dark-wake` from then; it is gone with the sleep.
/// - A dark wake begins from a sleep, by an alarm that was set, 2 s before its moment to 30 s after, with work held.
///   The lock for the next sleep is asked for.
/// - Those that work run by the end of that step; no other app is thawed, nothing is launched, and no handler is called
///   but the expiration of tasks (and what is called of who is ended).
/// - The next sleep is asked for once: when the work is done or the allowance is over, and not sooner; but while logind
///   has not said that the last one is over, 30 s may pass. The core has asked to be woken then. 30 s later the wake
///   is full, if that sleep has not begun.
/// - It is full at once when an operator wants an app in front or launched, when the sleep is refused, when the board
///   shuts down or the daemon leaves; and then who was in front before the sleep is thawed.
///
/// What tasks spend in a dark wake is the budget checker's matter, as at any time.
final class DarkWakeChecker: Checker {
    static let sees: [EffectKind]? = [
        .takeLock, .releaseLock, .setWakeAlarm, .suspendDevice, .sleepNotice, .spawn, .call, .thaw, .freeze,
    ]

    private enum Stage { case awake, preparing, asleep, dark }

    private struct Wake {
        let begun: Nanoseconds
        /// When its allowance is over.
        let end: Nanoseconds
        /// The last moment at which the wake must be full, once that is done.
        var fullAt: Nanoseconds?
    }

    private var stage = Stage.awake
    private var wake = Wake(begun: .zero, end: .zero)
    private var policy = DevicePolicy()
    /// Before the event at hand.
    private var formerPolicy = DevicePolicy()
    private var alarm: Nanoseconds?
    private var isLoginThere = false
    private var hasSleepLock = false
    /// A question that was asked twice has two answers.
    private var isLockTaken = false
    /// Only an operator's edges made the present sleep.
    private var isLogical = false
    /// For all that logind has said, it is not at a sleep: it does not refuse another.
    private var isLoginDone = true
    /// Set and released in this step.
    private var wasReleased = false
    private var hasBegun = false
    private var hasEnded = false
    /// Those that were in front when the last full wake ended, and of which nothing else was wanted since.
    private var front: [InstanceID] = []

    // MARK: What is heard

    func heard(_ event: Event, _ scene: Scene) {
        hasBegun = false
        hasEnded = false
        wasReleased = false
        // The clocks come first: what the event ends was held until now.
        formerPolicy = policy
        switch event {
        case .configured(_, let device):
            policy = device
            front = []
        case .login(.available):
            isLoginThere = true
            (hasSleepLock, isLockTaken) = (false, false)
        case .login(.unavailable):
            isLoginThere = false
            (hasSleepLock, isLockTaken) = (false, false)
        case .login(.lockTaken(.sleep)): isLockTaken = true
        case .login(.lockRefused(.sleep)): if !isLockTaken { hasSleepLock = false }
        // It may be had later.
        case .client(.requested(_, .launch)), .client(.requested(_, .activate)), .client(.requested(_, .background)),
            .client(.requested(_, .terminate)):
            front = []
        default: break
        }
        if beginsSleep(event), !isLogicalEdge(event) { isLogical = false }
        listen(event)
    }

    private func listen(_ event: Event) {
        switch event {
        case .login(.prepareForSleep(let start, _, _)): isLoginDone = !start
        case .login(.preparingForSleep(true)), .login(.available(_, true, _)): isLoginDone = false
        // systemd-sleep runs its hooks for logind, and is at it until logind says that it is not.
        case .client(.requested(_, .sleep(true, false, _))): isLoginDone = false
        case .login(.preparingForSleep(false)), .login(.available):
            if stage == .dark || stage == .awake { isLoginDone = true }
        default: break
        }
    }

    /// Another program than the core says that the board is to sleep.
    private func beginsSleep(_ event: Event) -> Bool {
        switch event {
        case .login(.prepareForSleep(true, _, _)), .login(.preparingForSleep(true)), .login(.available(_, true, _)),
            .client(.requested(_, .sleep(true, _, _))):
            true
        default: false
        }
    }

    private func isLogicalEdge(_ event: Event) -> Bool {
        if case .client(.requested(_, .sleep(true, true, _))) = event { true } else { false }
    }

    // MARK: Work

    private func isInBackground(_ record: InstanceRecord) -> Bool {
        record.phase == .background && (record.call == nil || record.call?.call.handler == .backgroundTaskWillExpire)
    }

    /// And not on its way to the background.
    private func isInFront(_ record: InstanceRecord) -> Bool {
        record.phase == .active && record.call?.call.handler != .willResignActive
    }

    /// As far as can be known.
    private func mayWork(_ record: InstanceRecord) -> Bool {
        record.isAlive && !record.isKillAsked && isInBackground(record) && (!record.tasks.isEmpty || record.call != nil)
    }

    /// Beyond doubt.
    private func surelyWorks(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        guard let entry = scene.board.directory.entry(record.app), entry.policy.suspend, entry.former.suspend else {
            return false
        }
        return mayWork(record) && scene.isWell(record) && scene.isLaunched(record)
    }

    private func hasSureWork(_ scene: Scene, _ matches: (InstanceRecord) -> Bool = { _ in true }) -> Bool {
        scene.chronicle.records.contains { surelyWorks($0, scene) && matches($0) }
    }

    // MARK: What is done

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .login(.takeLock(.sleep)): hasSleepLock = true
        case .login(.releaseLock(.sleep)): (hasSleepLock, isLockTaken) = (false, false)
        case .sleep(.setWakeAlarm(let moment)): setAlarm(moment, scene)
        case .login(.suspendDevice):
            if stage == .awake, isSleepWanted(scene) { return }
            if stage != .dark { violate("a sleep is asked for outside of a dark wake", scene) }
            if wake.fullAt != nil { violate("a sleep is asked for twice", scene) }
            returned(scene)
        case .note(let notice): see(notice, scene)
        case .process(.spawn(let app, _, _, _)): if stage == .dark { violate("\(scene.name(app)) is launched", scene) }
        case .login(.takeLock(.keepAwake)): if stage == .dark { violate("the board is kept awake", scene) }
        case .app(.call(let instance, _, let call, _)): if stage == .dark { judge(call, of: instance, scene) }
        case .process(.thaw(let instance)): if stage == .dark { judgeThaw(instance, scene) }
        case .process(.freeze(let instance)):
            guard stage == .dark, let record = scene.chronicle.record(instance), surelyWorks(record, scene) else {
                return
            }
            violate("\(scene.name(instance)) works, and is frozen", scene)
        default: break
        }
    }

    /// By a condition of the board.
    private func isSleepWanted(_ scene: Scene) -> Bool {
        let isAsked = scene.step.event == .board(.keyPressed(.power)) && policy.responses[.powerKey] == .sleep
        return isAsked || scene.conditions.wantsSleep
    }

    private func see(_ notice: Notice, _ scene: Scene) {
        switch notice {
        case .sleep(.preparing):
            let event = scene.step.event
            if stage == .dark, !beginsSleep(event) { returned(scene) }
            if stage == .awake {
                front = scene.chronicle.records.filter { isInFront($0) && scene.isWell($0) }.map(\.instance)
            }
            if beginsSleep(event) { isLogical = isLogicalEdge(event) } else if stage == .awake { isLogical = true }
            stage = .preparing
        case .sleep(.released):
            wasReleased = true
            stage = .asleep
        // logind's job may have been a part of it.
        case .sleep(.unannounced): isLoginDone = false
        case .sleep(.ended):
            hasEnded = stage == .dark
            stage = .awake
        case .sleep(.darkWake(_, let allowance)): begin(allowance, scene)
        default: break
        }
    }

    private func setAlarm(_ moment: Nanoseconds?, _ scene: Scene) {
        guard let moment else {
            // Kept for the judgement of the dark wake that it may be cleared for.
            if !hasDarkWake(scene) { alarm = nil }
            return
        }
        if moment != policy.darkWakeInterval.map({ scene.step.at.boottime + $0 }) {
            violate("the alarm is set for another moment", scene)
        }
        if !scene.chronicle.records.contains(where: mayWork) { violate("an alarm is set and no app has work", scene) }
        alarm = moment
    }

    private func hasDarkWake(_ scene: Scene) -> Bool {
        scene.step.effects.contains { if case .note(.sleep(.darkWake)) = $0 { true } else { false } }
    }

    private func begin(_ allowance: Nanoseconds, _ scene: Scene) {
        if stage != .asleep { violate("it begins and the board is not asleep", scene) }
        if let alarm {
            let late = scene.step.at.boottime - alarm
            if late < .zero - .seconds(2) { violate("it begins before the alarm", scene) }
            if late > .seconds(30) { violate("it begins \(late.text) after the alarm", scene) }
        } else {
            violate("it begins without an alarm", scene)
        }
        if allowance != formerPolicy.darkWakeAllowance, allowance != policy.darkWakeAllowance {
            violate("it has \(allowance.text)", scene)
        }
        if !scene.step.effects.contains(.sleep(.setWakeAlarm(nil))) { violate("its alarm is not cleared", scene) }
        alarm = nil
        hasBegun = true
        stage = .dark
        wake = Wake(begun: scene.now, end: scene.now + allowance)
    }

    /// The core wants the board to sleep again.
    private func returned(_ scene: Scene) {
        wake.fullAt = scene.now + .seconds(30)
        if scene.now < wake.end, hasSureWork(scene) { violate("the board is to sleep before the work is done", scene) }
    }

    private func judgeThaw(_ instance: InstanceID, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance), mayWork(record) else {
            return violate("\(scene.name(instance)) is thawed and has no work", scene)
        }
    }

    private func judge(_ call: HandlerCall, of instance: InstanceID, _ scene: Scene) {
        switch call {
        case .backgroundTaskWillExpire: return
        case .willTerminate: if scene.chronicle.record(instance)?.isDoomed == true { return }
        // It was being launched before the sleep, and is frozen as it comes up.
        case .didFinishLaunching: if scene.step.event == .process(.spawned(instance)) { return }
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: break
        }
        violate("\(call.handler.method) of \(scene.name(instance)) is called", scene)
    }

    // MARK: After each step

    func stepped(_ step: Step, _ scene: Scene) {
        if alarm != nil, policy.darkWakeInterval == nil { violate("the alarm outlives a reload without any", scene) }
        if alarm != nil, scene.conditions.forbidsDarkWake {
            violate("the alarm is set, and such work is to wait", scene)
        }
        if alarm != nil, stage != .asleep { violate("the alarm is still set, and the board is not asleep", scene) }
        if wasReleased, stage == .asleep { judgeRelease(scene) }
        if hasBegun, stage == .dark { judgeBeginning(scene) }
        if hasEnded, stage == .awake { judgeEnd(scene) }
        if stage == .dark { judgeDark(step, scene) }
    }

    private func judgeRelease(_ scene: Scene) {
        guard alarm == nil, policy.darkWakeInterval != nil, scene.chronicle.isFreezingAvailable,
            isLoginThere || isLogical, !scene.conditions.forbidsDarkWake,
            !isLogical || policy.wakeSources.contains(.clock),
            hasSureWork(scene)
        else { return }
        violate("work is held, and no alarm is set for it", scene)
    }

    private func judgeBeginning(_ scene: Scene) {
        if scene.chronicle.isStopping || scene.chronicle.isShuttingDown { violate("it begins in a shutdown", scene) }
        switch scene.step.event {
        case .login(.prepareForSleep(true, _, _)), .client(.requested(_, .sleep(start: true, logical: false, _))):
            violate("it begins as a sleep is announced", scene)
        default: break
        }
        // Until logind says that the last sleep is over, it refuses the next lock.
        if isLoginThere, isLoginDone, !hasSleepLock, scene.step.event != .login(.lockRefused(.sleep)) {
            violate("the lock for the next sleep is not asked for", scene)
        }
    }

    private func judgeEnd(_ scene: Scene) {
        guard scene.conditions.limit > .background else { return }
        for instance in front {
            guard let record = scene.chronicle.record(instance), scene.isWell(record), record.isFreezeAsked else {
                continue
            }
            violate("\(scene.name(instance)) was in front before, and stays frozen after", scene)
        }
    }

    private func judgeDark(_ step: Step, _ scene: Scene) {
        // While the board still slept, what was asked was denied.
        if !hasBegun, let wish = whoMakesItFull(step.event, scene) { violate("it goes on after \(wish)", scene) }
        if hasSureWork(scene, \.isFreezeAsked) { violate("an app has work, and is not thawed for it", scene) }
        let due = step.asksNow?.at ?? .max
        if let fullAt = wake.fullAt {
            if scene.now >= fullAt { violate("the board does not sleep again, and is not awake in full", scene) }
            if due > fullAt { violate("nothing is due when it is to be awake in full", scene) }
            return
        }
        // Until logind says that the last sleep is over there is no way back.
        let patience = isLogical || isLoginDone ? Nanoseconds.zero : wake.end + .seconds(300)
        if scene.now >= max(wake.end, patience) { violate("it lasts longer than its allowance", scene) }
        if due > max(wake.end, patience) { violate("nothing is due at the end of its allowance", scene) }
        if scene.now >= patience, !scene.chronicle.records.contains(where: mayWork) {
            violate("it goes on, and the work is done", scene)
        }
    }

    /// What an event is for which the wake must not stay dark; nil where it may.
    private func whoMakesItFull(_ event: Event, _ scene: Scene) -> String? {
        switch event {
        // A task of its own does not come to the front.
        case .client(.requested(_, .activate(let app))) where scene.board.directory.entry(app)?.isAdopted == true: nil
        case .client(.requested(_, .launch(let app, _))), .client(.requested(_, .activate(let app))):
            // A condition of the board may keep it from the front: nothing comes of the wish.
            scene.board.core.view(of: app) == nil || isDenied(event, scene) && wasHeldBack(scene)
                ? nil : "an operator wanted \(scene.name(app))"
        case .client(.requested(_, .adopt)): isDenied(event, scene) ? nil : "a process was handed over"
        case .client(.requested(_, .sleep(false, true, _))): "an operator woke the board"
        case .login(.suspendRefused): wake.fullAt != nil ? "the sleep was refused" : nil
        case .login(.unavailable): isLogical ? nil : "logind was gone"
        case .login(.prepareForShutdown(true, _, _)): "a shutdown was announced"
        case .stopRequested: "the daemon was told to leave"
        default: nil
        }
    }

    private func wasHeldBack(_ scene: Scene) -> Bool {
        min(scene.conditions.limit, scene.conditions.limitBefore) < .active
    }

    private func isDenied(_ event: Event, _ scene: Scene) -> Bool {
        guard case .client(.requested(let id, _)) = event else { return false }
        return scene.denies(id)
    }

    private func violate(_ message: String, _ scene: Scene) {
        scene.inspection.violate(.darkWake, "a dark wake: \(message)")
    }
}
