internal import Lifecycle

/// What is said for people and programs to read is true, said once, and not left out.
final class NoticeChecker: Checker {
    static let sees: [EffectKind]? = [.appNotice, .sleepNotice, .boardNotice, .report, .spawn, .pollBoard, .takeLock]

    private var story = SleepStory()
    private var launched: [InstanceID] = []
    private var leftDown: [AppID] = []
    private var reported: [AppID] = []
    /// They are killed for that, and for nothing else.
    private var overruns: [(instance: InstanceID, reason: TerminationReason)] = []
    private var asleep: Nanoseconds?
    private var grown = Nanoseconds.zero
    private var last = Nanoseconds.zero
    private var before = Nanoseconds.zero
    // Looks at the board that nothing announces.
    private var interval: Nanoseconds?
    private var isLockAwaited = false
    /// Something else than operators and conditions has said that the present sleep is one of the board's.
    private var isReal = false
    private var wasReal = false
    private var polledAt = Nanoseconds.zero
    private var lastSleep = 0
    /// Whether there is external power, as long as it is known.
    private var toldSupply: Bool?

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        // The clocks come first: a sleep that the event makes real was logical until now.
        wasReal = isReal
        if scene.saysRealSleep, !isDenied(event, scene) { isReal = true }
        reported = []
        let asleepNow = scene.step.at.boottime - scene.step.at.monotonic
        grown = asleep.map { asleepNow - $0 } ?? .zero
        asleep = asleepNow
        before = last
        last = scene.now
        switch event {
        case .board(.polling(let wanted)):
            if wanted != interval { polledAt = scene.now }
            interval = wanted
        case .configured, .stopRequested, .login(.prepareForShutdown), .login(.available): leftDown = []
        case .client(.requested(_, .launch(let app, _))), .client(.requested(_, .activate(let app))),
            .client(.requested(_, .terminate(let app, _))):
            leftDown.removeAll { $0 == app }
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        if case .note(.sleep(.preparing)) = effect { isReal = scene.saysRealSleep }
        switch effect {
        case .note(let notice): judge(notice, scene)
        case .report(let end):
            reported.append(end.app)
            launched.removeAll { $0 == end.instance }
            guard let place = overruns.firstIndex(where: { $0.instance == end.instance }) else { return }
            if overruns.remove(at: place).reason != end.reason {
                violate("\(scene.name(end.instance)) ran into a deadline, and its end is another", scene)
            }
        case .process(.spawn(let app, _, let reason, _)):
            if reason == .restart, leftDown.contains(app) { violate("\(scene.name(app)) was left down", scene) }
        case .board(.poll): judgePoll(scene)
        case .login(.takeLock(.sleep)): isLockAwaited = true
        default: break
        }
    }

    private func isDenied(_ event: Event, _ scene: Scene) -> Bool {
        guard case .client(.requested(let id, _)) = event else { return false }
        return scene.denies(id)
    }

    private func judgePoll(_ scene: Scene) {
        guard let interval else { return violate("the board is looked at, and need not be", scene) }
        if scene.now - polledAt < interval { violate("the board is looked at again too soon", scene) }
        if isReal, wasReal, story.stage == .preparing || story.stage == .asleep {
            violate("the board is looked at, and is about to sleep", scene)
        }
        polledAt = scene.now
    }

    /// It has ended, or had ended before, and a launch that was wished meanwhile is denied.
    private func mayBeOver(_ app: AppID, _ scene: Scene) -> Bool {
        let isDenied = scene.step.effects.contains {
            if case .client(.reply(_, let outcome)) = $0 { outcome.denial != nil } else { false }
        }
        return isDenied || reported.contains(app)
    }

    private func judge(_ notice: Notice, _ scene: Scene) {
        switch notice {
        case .app(.launched(let app, let instance)):
            if launched.contains(instance) { violate("\(scene.name(instance)) is launched twice", scene) }
            launched.append(instance)
            guard let record = scene.chronicle.record(instance), record.app == app, record.isSpawned else {
                return violate("\(scene.name(instance)) is launched, and does not run", scene)
            }
        case .app(.overrun(_, let instance, let reason)): overruns.append((instance, reason))
        case .app(.restartScheduled(let app, let delay)):
            if !mayBeOver(app, scene) || delay < .zero { violate("\(scene.name(app)) restarts for no end", scene) }
        case .app(.leftDown(let app, let ends)):
            let limit = scene.board.directory.entry(app)?.policy.restartLimit ?? 0
            if !mayBeOver(app, scene) || ends < limit { violate("\(scene.name(app)) is left down too soon", scene) }
            leftDown.append(app)
        case .sleep(.preparing(let sleep, _)):
            if sleep <= lastSleep { violate("sleep \(sleep) prepares, and one of that number was before", scene) }
            lastSleep = sleep
        case .sleep(.unannounced(let time)):
            // Nor was it announced while the board slept logically.
            let mayBe = story.former != .asleep || !wasReal
            if !mayBe || time != grown { violate("it slept \(time.text) unannounced", scene) }
        case .board(.stalled(let time)):
            if time <= .zero || scene.step.excess(since: before) <= .zero { violate("nothing has stalled", scene) }
        case .board(.externalPower(let on, _)):
            if scene.conditions.isExternal != on { violate("external power is not \(on)", scene) }
            if toldSupply == on { violate("external power is said again to be \(on)", scene) }
            toldSupply = on
        case .app(.essentialAppLost(let app, _)):
            guard let entry = scene.board.directory.entry(app), entry.isConfigured, entry.policy.isEssential else {
                return violate("\(scene.name(app)) is lost, and was not essential", scene)
            }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        defer { if case .login(.lockTaken(.sleep)) = step.event { isLockAwaited = false } }
        let supply = scene.conditions.isExternal
        if supply == nil { toldSupply = nil }
        if let supply, supply != toldSupply { violate("it is not said that external power is \(supply)", scene) }
        if case .login(.lockTaken(.sleep)) = step.event, isLockAwaited, story.former == .awake, story.stage == .awake,
            !step.effects.contains(.login(.readPreparingForSleep)), !step.effects.contains(.login(.releaseLock(.sleep)))
        {
            violate("the lock is taken, and logind is not asked what was missed", scene)
        }
        if let interval, story.stage == .awake, story.former == .awake, !story.hasBegun,
            scene.now > polledAt + interval,
            grown == .zero
        {
            violate("the board is not looked at", scene)
        }
        if let interval, story.stage == .awake, step.asksNow?.at ?? .max > max(polledAt + interval, scene.now) {
            violate("nothing is due to look at the board", scene)
        }
    }

    func rested(_ scene: Scene) {
        for record in scene.chronicle.records
        where record.isSpawned && record.isAlive && !record.isKillAsked && !launched.contains(record.instance) {
            violate("\(scene.name(record.instance)) runs, and was never said to be launched", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.notices, message) }
}
