internal import Lifecycle

/// The time that all apps together have for a sleep or a shutdown, and when logind is asked.
///
/// - It is what logind reports at that moment (5 s, if it does not), or what is configured without its lock, less the
///   margin: half of it at most.
/// - 30 s after the release without any word logind is asked whether it still prepares a sleep, and not before.
/// - A lock that is granted to an awake board makes the property worth reading; a logind that is new is asked for both
///   locks, and one that says that a sleep is over for the next.
final class LimitChecker: Checker {
    static let hears: [EventKind]? = [
        .prepareForSleep, .preparingForSleep, .prepareForShutdown, .loginAvailable, .loginUnavailable, .lockTaken,
        .lockRefused, .requested,
    ]
    static let sees: [EffectKind]? = [
        .sleepNotice, .endNotice, .takeLock, .releaseLock, .readPreparingForSleep, .sleepHandled,
    ]

    private enum Lock { case none, asked, held }

    private var story = SleepStory()
    private var locks = [Lock.none, .none]
    private var delayMax: Nanoseconds?
    private var isLoginThere = false
    /// The last word on the sleep that lasts, or its release; nil: logind has been asked since.
    private var lastSign: Nanoseconds?
    /// By its signal logind has announced the present sleep.
    private var isLogins = false
    private var wasLogins = false
    /// A condition may have begun the present sleep, which is a logical one then.
    private var mayBeOwn = false
    // In this step.
    private var isHeard = false
    private var hasRead = false
    private var locksBefore = [Lock.none, .none]

    func heard(_ event: Event, _ scene: Scene) {
        begin(scene)
        switch event {
        case .login(.available(let delayMax, let sleeping, _)):
            forgetLogin()
            self.delayMax = delayMax
            isLoginThere = true
            if sleeping { sign(scene) }
        case .login(.unavailable):
            forgetLogin()
            if lastSign == nil { lastSign = scene.now - .seconds(30) }
        case .login(.prepareForSleep(let start, let delayMax, _)):
            if let delayMax { self.delayMax = delayMax }
            isLogins = start
            if start { sign(scene) }
        case .login(.prepareForShutdown(_, let delayMax, _)): if let delayMax { self.delayMax = delayMax }
        case .login(.preparingForSleep(let isSleeping)): if isSleeping == true { sign(scene) }
        case .client(.requested(let id, .sleep(start: true, logical: false, _))): if !scene.denies(id) { sign(scene) }
        case .login(.lockTaken(let kind)): if let place = place(kind) { locks[place] = .held }
        case .login(.lockRefused(let kind)): if let place = place(kind), locks[place] == .asked { locks[place] = .none }
        default: break
        }
    }

    private func begin(_ scene: Scene) {
        guard !isHeard else { return }
        isHeard = true
        story.hear(scene.step.event, scene)
        hasRead = false
        locksBefore = locks
        wasLogins = isLogins
    }

    private func forgetLogin() {
        locks = [.none, .none]
        delayMax = nil
        isLoginThere = false
    }

    private func sign(_ scene: Scene) { lastSign = scene.now }

    private func place(_ kind: LockKind) -> Int? {
        switch kind {
        case .sleep: 0
        case .shutdown: 1
        case .keepAwake: nil
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        begin(scene)
        story.see(effect, scene)
        switch effect {
        case .login(.takeLock(let kind)): if let place = place(kind) { locks[place] = .asked }
        case .login(.releaseLock(let kind)): if let place = place(kind) { locks[place] = .none }
        case .login(.readPreparingForSleep): hasRead = true
        case .note(.sleep(.preparing(_, let allowance))):
            if case .login(.prepareForSleep(true, _, _)) = scene.step.event {} else { isLogins = false }
            mayBeOwn = scene.conditions.wantsSleep && scene.conditions.policy.sleepsLogically
            judgeSleep(allowance, scene)
        case .note(.sleep(.ended)), .note(.sleep(.darkWake)): isLogins = false
        case .note(.shutdown(.preparing(let allowance))): judgeShutdown(allowance, scene)
        case .note(.sleep(.released)): sign(scene)
        default: break
        }
    }

    private func share(of limit: Nanoseconds, _ scene: Scene) -> Nanoseconds {
        limit - min(scene.conditions.policy.sleepMargin, limit / 2)
    }

    private func judgeSleep(_ allowance: Nanoseconds, _ scene: Scene) {
        let policy = scene.conditions.policy
        var limit = policy.sleepAllowanceWithoutLogind
        switch scene.step.event {
        case .login(.prepareForSleep(true, _, _)), .login(.preparingForSleep(true)), .login(.available(_, true, _)):
            if locksBefore[0] == .held, isLoginThere { limit = min(delayMax ?? .seconds(5), policy.sleepAllowanceMax) }
        default: break
        }
        if case .login(.available) = scene.step.event { limit = policy.sleepAllowanceWithoutLogind }
        let due = share(of: limit, scene)
        // A condition may have begun it in the same step.
        if scene.conditions.wantsSleep, allowance == share(of: policy.sleepAllowanceWithoutLogind, scene) { return }
        if allowance != due { violate("a sleep is given \(allowance.text), and \(due.text) are due", scene) }
    }

    private func judgeShutdown(_ allowance: Nanoseconds?, _ scene: Scene) {
        guard case .login(.prepareForShutdown(true, _, let signalled)) = scene.step.event else { return }
        var due = scene.conditions.policy.sleepAllowanceWithoutLogind
        if locksBefore[1] == .held {
            due = share(of: delayMax ?? .seconds(5), scene) - (scene.now - min(signalled, scene.now))
        }
        // Without a limit worth the name it ends at the end of time.
        guard allowance != due, due < .seconds(1_000_000_000) else { return }
        violate("a shutdown is given \(allowance?.text ?? "no limit"), and \(due.text) are due", scene)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        judgeQuestion(scene)
        guard isHeard else { return }
        isHeard = false
        switch step.event {
        case .login(.lockTaken(.sleep)):
            guard locksBefore[0] == .asked, story.stage == .awake, story.former == .awake, locks[0] == .held, !hasRead
            else { return }
            violate("a lock is granted, and logind is not asked what it is at", scene)
        // It has forgotten the sleep, and will not say that it is over.
        case .login(.available(_, false, true)) where goesOn:
            violate("a sleep goes on that a new logind knows nothing of", scene)
        case .login(.available(_, false, false)):
            if goesOn {
                violate("a sleep goes on that a new logind knows nothing of", scene)
            }
            guard story.stage == .awake, !scene.chronicle.isEnding, locks.contains(.none) else { return }
            violate("a new logind is not asked for its locks", scene)
        case .login(.prepareForSleep(false, _, _)):
            guard isLoginThere, story.stage == .awake, !scene.chronicle.isEnding, locks[0] == .none else { return }
            violate("logind says that a sleep is over, and is not asked for the next lock", scene)
        default: break
        }
    }

    /// The very sleep that the former logind had announced.
    private var goesOn: Bool { wasLogins && story.stage != .awake && !story.hasEnded && !story.hasDarkened }

    private func judgeQuestion(_ scene: Scene) {
        let stage = isHeard ? story.former : story.stage
        guard stage == .asleep, !story.isLogical, !mayBeOwn, story.stage == .asleep else { return }
        let due = lastSign.map { $0 + .seconds(30) } ?? .max
        if isHeard, hasRead {
            if scene.now < due, due != .max { violate("logind is asked before its time whether it sleeps", scene) }
            lastSign = nil
        } else if scene.now >= due {
            violate("logind is not asked after 30 s whether it sleeps", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.limits, message) }
}
