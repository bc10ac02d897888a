internal import Lifecycle

/// What the words of logind and of the sleep hook mean, and that there are none.
///
/// - A late word of the hook, and an answer to a question from before the release, end no newer sleep.
/// - In a dark wake the next sleep is asked for once, and not before logind has said that the last one is over.
/// - Where logind has gone, a dark wake ends at once, and a sleep after a minute at the latest.
/// - While logind has announced that the board sleeps, its lock is not held.
/// - The board shuts down for as long as logind's last word says so.
final class LoginWordChecker: Checker {
    static let hears: [EventKind]? = [
        .prepareForSleep, .preparingForSleep, .prepareForShutdown, .loginAvailable, .loginUnavailable, .lockTaken,
        .requested,
    ]
    static let sees: [EffectKind]? = [.sleepNotice, .suspendDevice, .releaseLock, .readPreparingForSleep]

    private var story = SleepStory()
    private var isAnnounced = false
    private var isToldByHook = false
    private var holdsLock = false
    private var isShutdownAnnounced = false
    /// A condition of the board began the present sleep.
    private var isConditions = false
    /// logind has still to say that the last sleep is over.
    private var isOutstanding = false
    /// MONOTONIC.
    private var goneSince: Nanoseconds?
    /// The last word that the board is to sleep.
    private var saidAt = Nanoseconds.zero
    private var hasAsked = false
    private var hasAskedToSleep = false
    /// BOOTTIME, of the last sleep's end.
    private var ended: Nanoseconds?
    /// How often the board had slept by then.
    private var sleepsAtRelease = 0

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.prepareForSleep(let start, _, _)):
            if start { isAnnounced = true } else { isOutstanding = false }
        case .login(.preparingForSleep(true)): isAnnounced = true
        case .login(.preparingForSleep(false)): isOutstanding = false
        case .login(.prepareForShutdown(let start, _, _)): isShutdownAnnounced = start
        case .login(.available(_, let sleeping, let shuttingDown)):
            isShutdownAnnounced = shuttingDown
            if sleeping { isAnnounced = true }
            forgetLogin(goneSince: nil)
        case .login(.unavailable): forgetLogin(goneSince: goneSince ?? scene.now)
        case .login(.lockTaken(.sleep)):
            holdsLock = true
            isOutstanding = false
        case .client(.requested(_, .sleep(true, false, _))): isToldByHook = true
        default: break
        }
        story.hear(event, scene)
        if scene.saysRealSleep { saidAt = scene.now }
    }

    private func forgetLogin(goneSince: Nanoseconds?) {
        self.goneSince = goneSince
        holdsLock = false
        isOutstanding = false
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .login(.releaseLock(.sleep)): holdsLock = false
        case .login(.readPreparingForSleep): hasAsked = true
        case .login(.suspendDevice):
            guard scene.board.core.device.sleepState == .darkWake else { return }
            if hasAskedToSleep { violate("the way back to sleep is asked for twice", scene) }
            if isOutstanding { violate("the next sleep is asked for, and logind has not ended the last one", scene) }
            hasAskedToSleep = true
        case .note(let notice):
            note(notice, scene)
            story.see(effect, scene)
        default: break
        }
    }

    private func note(_ notice: Notice, _ scene: Scene) {
        switch notice {
        case .sleep(.preparing):
            isAnnounced = scene.step.event.isLogins && scene.saysRealSleep
            isToldByHook = false
            isConditions = !scene.saysRealSleep
            if case .client(.requested(_, .sleep(true, let logical, _))) = scene.step.event {
                isToldByHook = !logical
                isConditions = false
            }
            sleepsAtRelease = scene.board.truth.sleeps
        case .sleep(.released):
            hasAsked = false
            sleepsAtRelease = scene.board.truth.sleeps
        case .sleep(.ended):
            judgeEnd(scene)
            if case .login(.prepareForSleep(false, _, _)) = scene.step.event, story.stage == .preparing, holdsLock,
                isAnnounced,
                !scene.step.effects.contains(.login(.readPreparingForSleep)), !story.isLogical
            {
                violate("a handshake is called off, and logind is not asked whether it is", scene)
            }
            ended = scene.step.at.boottime
        case .sleep(.darkWake):
            hasAskedToSleep = false
            isOutstanding = isAnnounced && !scene.step.event.isLogins && goneSince == nil && !story.isLogical
        default: break
        }
    }

    private func judgeEnd(_ scene: Scene) {
        guard scene.board.truth.sleeps == sleepsAtRelease, story.stage != .dark else { return }
        // The end of all apps calls a sleep off, and activity one that idleness began.
        if scene.step.beginsEnd || isConditions && !scene.conditions.isRestInForce { return }
        switch scene.step.event {
        // Without logind the sleep ends by time.
        case .login(.preparingForSleep) where !hasAsked && story.stage == .asleep && goneSince == nil:
            violate("an answer to a question from before the release ends the sleep", scene)
        case .client(.requested(_, .sleep(false, false, nil))):
            guard !isToldByHook, let ended, scene.step.at.boottime - ended <= .seconds(30) else { return }
            violate("a late word of the hook ends a newer sleep", scene)
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let state = scene.board.core.device.sleepState
        if holdsLock, isAnnounced, state == .asleep { violate("the lock is held in a sleep of logind's", scene) }
        if state == .darkWake, scene.chronicle.isEnding { violate("a dark wake goes on as all apps are to end", scene) }
        if isShutdownAnnounced, !scene.board.core.device.isShuttingDown {
            violate("logind shuts the board down, and the core does not", scene)
        }
        guard let goneSince, !story.isLogical, state == .asleep || state == .darkWake else { return }
        if state == .darkWake { return violate("a dark wake goes on without logind", scene) }
        let since = max(goneSince, story.released.monotonic, saidAt)
        if scene.now - since > .seconds(61) { violate("logind is gone, and the sleep goes on", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.loginWord, message) }
}

extension Event {
    fileprivate var isLogins: Bool {
        switch self {
        case .login(.prepareForSleep), .login(.preparingForSleep), .login(.available): true
        default: false
        }
    }
}
