internal import Lifecycle

/// A wake that our alarm alone has brought about is for background work: no person is at the board. It is dark, whether
/// or not work is left, and becomes full for a reason only. And where a key was pressed or the lid opened since the
/// sleep was announced, it is not dark.
final class PresenceChecker: Checker {
    static let sees: [EffectKind]? = [.sleepNotice, .setWakeAlarm, .suspendDevice]

    private var story = SleepStory()
    private var alarm: Nanoseconds?
    /// A key or the lid, since the sleep was announced.
    private var isAttended = false
    private var isLidClosed = false
    /// The sleep was asked for again, and the answer is awaited.
    private var askedAt: Nanoseconds?
    private var darkSince = Nanoseconds.zero
    /// Something else than operators and conditions has said that the present sleep is one of the board's.
    private var isReal = false
    /// What BOOTTIME was ahead of MONOTONIC after the last step.
    private var lastAsleep: Nanoseconds?

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        switch event {
        case .board(.keyPressed): isAttended = true
        case .board(.lid(let closed)):
            if isLidClosed, !closed { isAttended = true }
            isLidClosed = closed
        case .configured: alarm = nil
        // A sleep of its own: the alarm counts anew from it.
        case .login(.prepareForSleep(true, _, _)), .client(.requested(_, .sleep(true, false, _))): alarm = nil
        default: break
        }
        if scene.announcesRealSleep { isReal = true }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        // One that is cleared as its work ends wakes the board all the same.
        case .sleep(.setWakeAlarm(let moment)): if moment != nil || scene.conditions.forbidsDarkWake { alarm = moment }
        case .login(.suspendDevice): askedAt = scene.now
        case .note(.sleep(.preparing)):
            isReal = scene.saysRealSleep
            if story.former == .awake || story.hasEnded { isAttended = false }
            if story.former == .dark { askedAt = nil }
            alarm = nil
        case .note(.sleep(.darkWake)):
            askedAt = nil
            darkSince = scene.now
        case .note(.sleep(.ended)): judgeEnd(scene)
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let asleep = step.at.boottime - step.at.monotonic
        let grown = lastAsleep.map { asleep - $0 } ?? .zero
        lastAsleep = asleep
        if story.former == .dark, story.stage == .dark, isReal, grown > .seconds(1) {
            violate("the board has slept in a dark wake, and it is still dark", scene)
        }
        guard story.hasDarkened, story.stage == .dark, isAttended, story.former == .asleep else { return }
        violate("a dark wake begins, and a person is at the board", scene)
    }

    private func judgeEnd(_ scene: Scene) {
        if story.former == .dark { return judgeFullness(scene) }
        guard story.former == .asleep, !story.hasDarkened, !isAttended, isReal, let alarm,
            let sleep = scene.board.truth.lastSleep, sleep.isByAlarm, sleep.began.monotonic >= story.released.monotonic,
            scene.step.at.boottime - alarm <= .seconds(25), scene.step.at.boottime - alarm >= .zero - .seconds(1),
            scene.board.login.isPresent, scene.board.login.isConnected, !isExcused(scene.step.event, scene)
        else { return }
        violate("our alarm woke the board, no person is there, and the wake is full", scene)
    }

    private func judgeFullness(_ scene: Scene) {
        if isAttended || isExcused(scene.step.event, scene) { return }
        // logind has not said for too long that the last sleep is over, so it cannot be asked for the next.
        if askedAt == nil, scene.now - darkSince >= .seconds(300) { return }
        // In vain, or refused.
        if let askedAt, scene.now - askedAt >= .seconds(29) || scene.step.event == .login(.suspendRefused) { return }
        violate("a dark wake becomes full, and no person is there", scene)
    }

    /// A person or a task wants the board awake, or nothing would put it to sleep again.
    private func isExcused(_ event: Event, _ scene: Scene) -> Bool {
        if scene.chronicle.isEnding || !scene.chronicle.isFreezingAvailable || scene.conditions.forbidsDarkWake {
            return true
        }
        // Another program has put it to sleep and woken it since.
        if story.former == .dark, let last = scene.board.truth.lastSleep, last.began.monotonic >= darkSince {
            return true
        }
        // They may do what they want again: who was missed is back.
        let isUnlimited = scene.step.effects.contains {
            if case .note(.board(.phaseLimited)) = $0 { true } else { false }
        }
        if isUnlimited, scene.conditions.policy.sleepsLogically { return true }
        switch event {
        case .client(.requested(let id, let request)): return isGranted(request, id, scene)
        case .login(.unavailable), .login(.available), .stopRequested, .login(.prepareForShutdown), .configured,
            .freezing,
            .board(.keyPressed), .board(.lid):
            return true
        // What gives the board back its people, or ends a logical sleep.
        case .board(.power), .board(.network), .board(.session): return true
        default: return false
        }
    }

    private func isGranted(_ request: ClientRequest, _ id: RequestID, _ scene: Scene) -> Bool {
        let isRefused = scene.refuses(id)
        switch request {
        case .launch, .activate, .adopt: return !isRefused
        case .sleep: return true
        case .background, .terminate, .beginBackgroundTask, .endBackgroundTask, .warnOfMemory, .setLowPower:
            return false
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.presence, message) }
}
