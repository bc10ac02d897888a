internal import Lifecycle

/// A sleep that the board has slept is over: logind may say for a while yet that it prepares one, and no new one is
/// begun for that. And what is said of a sleep's end is what became of it.
final class OldSleepChecker: Checker {
    static let sees: [EffectKind]? = [.sleepNotice, .releaseLock, .freeze, .call]

    private var story = SleepStory()
    private var isLogical = false
    /// A condition may have begun it, and ends it when it does not hold any more.
    private var mayBeOwn = false
    private var noted: Nanoseconds?
    private var stolenBefore = Nanoseconds.zero
    private var wasLate = false
    /// The kernel has counted.
    private var isCounted: Bool { countedAt != nil }
    /// BOOTTIME: when it was asked.
    private var countedAt: Nanoseconds?
    private var holdsLock = false
    /// It had been granted before the board slept, and so says nothing of logind's present sleep.
    private var wasOnItsWay = false
    /// Only what was before the daemon's time tells of the present sleep, and it is over.
    private var isOver = false
    /// They had been in front as it began, and nothing else has sent them to background since.
    private var fromFront: [InstanceID] = []
    private var hasMetLogin = false
    /// MONOTONIC: when logind has said last that a sleep is over.
    private var endHeardAt: Nanoseconds?

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        if let asked = scene.step.askedBefore?.at, scene.now - asked > .milliseconds(250) { wasLate = true }
        switch event {
        case .sleep(.kernelSlept): countedAt = scene.step.at.boottime
        case .sleep(.noted(let asleep)): noted = asleep
        case .login(.lockTaken(.sleep)):
            holdsLock = true
            wasOnItsWay = scene.step.effects.contains {
                if case .note(.sleep(.unannounced)) = $0 { true } else { false }
            }
        case .login(.available), .login(.unavailable): holdsLock = false
        case .login(.prepareForSleep(false, _, _)): endHeardAt = scene.now
        // It means another, or the one that is being prepared.
        case .login(.prepareForSleep(true, _, _)):
            isOver = false
            if story.stage != .preparing { countedAt = nil }
        case .client(.requested(let id, .sleep(true, false, _))) where !scene.denies(id):
            isOver = false
            countedAt = nil
        case .client(.requested(_, .sleep(true, true, _))): isOver = false
        case .configured, .client(.requested(_, .background)), .board(.lid(true)): fromFront = []
        case .board(.session(let reading)): if reading.isLocked || reading.isIdle { fromFront = [] }
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .login(.releaseLock(.sleep)): holdsLock = false
        case .note(.sleep(.preparing)):
            isLogical = !scene.saysRealSleep
            mayBeOwn = scene.conditions.wantsSleep
            countedAt = nil
            judgeBeginning(scene)
        case .note(.sleep(.released)):
            stolenBefore = scene.board.truth.stolen
            wasLate = false
        case .note(.sleep(.ended(let sleep, let outcome))):
            isOver = false
            let hasSlept = scene.board.truth.lastSleep.map { $0.ended >= story.announced.boottime } ?? false
            if case .client(.requested(_, .sleep(false, false, about: let about?))) = scene.step.event, about != sleep,
                isLogical, !hasSlept, !story.hasBegun, !isOverByTime(scene), !scene.step.beginsEnd,
                !mayBeOwn || scene.conditions.wantsSleep
            {
                violate("the late end of sleep \(about) ends sleep \(sleep)", scene)
            }
            judge(outcome, scene)
        // What has no work is frozen in it, as at any time.
        case .note(.sleep(.darkWake)): isOver = false
        case .process(.freeze(let instance)):
            if isOver, fromFront.contains(instance) {
                violate("\(scene.name(instance)) is frozen for a sleep that is over", scene)
            }
        case .app(.call(let instance, _, let call, let deadline)): judge(call, deadline, instance, scene)
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if case .login(.available) = step.event { hasMetLogin = true }
    }

    private func isOverByTime(_ scene: Scene) -> Bool {
        guard let asked = scene.step.askedBefore, case .sleepCancellation = asked.reason else { return false }
        return asked.at <= scene.now
    }

    private func judgeBeginning(_ scene: Scene) {
        isOver = false
        guard scene.board.truth.hasSleptInHandshake, scene.board.login.sleep != .idle else { return }
        // Too short for the clocks to tell.
        if let sleep = scene.board.truth.lastSleep, sleep.time < .milliseconds(600) { return }
        // It may be one that a condition asks for.
        if scene.conditions.wantsSleep, scene.conditions.policy.sleepsLogically { return }
        // The late end of an earlier one passes for its own.
        if let end = endHeardAt, let sleep = scene.board.truth.lastSleep, end >= sleep.began.monotonic { return }
        switch scene.step.event {
        case .login(.available) where !hasMetLogin && !scene.board.hasCarriedOn:
            isOver = true
            // Some are on their way back for another reason.
            fromFront = scene.chronicle.records.filter { $0.phase == .active && $0.call == nil }.map(\.instance)
            let asleep = scene.step.at.boottime - scene.step.at.monotonic
            guard let noted, asleep - noted > .seconds(2) else { return }
            return violate("a sleep begins that is over: a predecessor left a note of it", scene)
        // Without a lock it is in doubt, and no app is frozen for it: `everybodyStill` knows of that.
        // With one, its signal was lost; where the clocks are silent, too, it cannot be told from one that begins.
        case .login(.preparingForSleep(true)) where holdsLock:
            if wasOnItsWay || scene.board.truth.lastSleep?.isHidden == true { return }
        default: return
        }
        violate("a sleep begins that is over: logind has not said so yet", scene)
    }

    /// It has its own time.
    private func judge(_ call: HandlerCall, _ deadline: Nanoseconds, _ instance: InstanceID, _ scene: Scene) {
        guard isOver, call.handler == .willResignActive || call.handler == .didEnterBackground,
            let app = scene.board.directory.app(of: instance), let entry = scene.board.directory.entry(app)
        else { return }
        let own = min(entry.policy.allowances[call.handler], entry.former.allowances[call.handler])
        if deadline < own { violate("\(scene.name(instance)) is hurried for a sleep that is over", scene) }
    }

    private func judge(_ outcome: SleepOutcome, _ scene: Scene) {
        guard story.former == .asleep || story.former == .dark, !isLogical, !scene.conditions.policy.sleepsLogically
        else { return }
        let sleep = scene.board.truth.lastSleep
        // The kernel's count knows of what was slept before the apps were ready, too.
        let since = isCounted ? story.announced : story.released
        let hasSlept = sleep.map { $0.began.monotonic >= since.monotonic - .milliseconds(1) } ?? false
        // What MONOTONIC counts too may pass for s2idle.
        let wasRobbed = !isCounted && (wasLate || scene.board.truth.stolen > stolenBefore)
        if outcome == .slept, !hasSlept, !wasRobbed, story.former == .asleep {
            violate("it is said that the board slept, and it did not", scene)
        }
        // And the other way round.
        let surely = sleep.map { $0.began.boottime >= story.released.boottime } ?? false
        // What came after the count the clocks alone could tell.
        if let countedAt, let sleep, sleep.isHidden, sleep.ended > countedAt { return }
        if outcome != .slept, surely, sleep?.time ?? .zero > .seconds(2), !wasRobbed {
            violate("it is said that the board did not sleep, and it did", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.oldSleep, message) }
}
