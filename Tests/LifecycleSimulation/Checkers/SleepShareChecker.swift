internal import Lifecycle

/// What handlers are given on the way to sleep: willResignActive half of the allowance at most, none anything where the
/// allowance is under 1 s, and none more than logind gives, though a late word had called the sleep off in between.
final class SleepShareChecker: Checker {
    static let hears: [EventKind]? = [
        .prepareForSleep, .preparingForSleep, .loginAvailable, .loginUnavailable, .lockTaken,
    ]
    static let sees: [EffectKind]? = [.call, .sleepNotice, .releaseLock]

    private var isPreparing = false
    /// Half of the allowance; nil: nothing is claimed.
    private var half: Nanoseconds?
    private var isShort = false
    private var holdsLock = false
    private var delayMax: Nanoseconds?
    /// MONOTONIC, of the sleep that logind has announced, until it is over.
    private var announcedEnd: Nanoseconds?
    /// The same, while a sleep goes on that had been called off.
    private var end: Nanoseconds?

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.prepareForSleep(let start, let delayMax, let signalled)):
            if let delayMax { self.delayMax = delayMax }
            if start {
                announcedEnd = nil
                if holdsLock, let limit = self.delayMax { announcedEnd = min(signalled, scene.now) + limit }
                end = nil
                widen(scene)
            } else if !isPreparing || !holdsLock {
                announcedEnd = nil
            }
        case .login(.preparingForSleep(let isSleeping)):
            if isSleeping == true { widen(scene) } else { announcedEnd = nil }
        case .login(.available(let delayMax, _, _)):
            self.delayMax = delayMax
            forgetLogin()
            widen(scene)
        case .login(.unavailable):
            delayMax = nil
            forgetLogin()
        case .login(.lockTaken(.sleep)):
            holdsLock = true
            widen(scene)
        default: break
        }
    }

    private func forgetLogin() {
        holdsLock = false
        announcedEnd = nil
        end = nil
    }

    /// A second word on the same sleep may set other limits.
    private func widen(_ scene: Scene) {
        guard let half, isPreparing else { return }
        let policy = scene.conditions.policy
        let patience = min(delayMax ?? .seconds(5), policy.sleepAllowanceMax)
        for limit in [policy.sleepAllowanceWithoutLogind, patience] {
            self.half = max(self.half ?? half, (limit - min(policy.sleepMargin, limit / 2)) / 2)
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing(_, let allowance))):
            isPreparing = true
            half = scene.sleep.isDoubtful ? nil : allowance / 2
            isShort = !scene.sleep.isDoubtful && allowance < .seconds(1)
            end = nil
            // Past it, logind does not wait any more.
            if case .login(.preparingForSleep(true)) = scene.step.event, let first = announcedEnd, first > scene.now {
                end = first
            }
        case .note(.sleep(.released)):
            isPreparing = false
            announcedEnd = nil
        case .note(.sleep(.ended)):
            isPreparing = false
            if case .login(.prepareForSleep(false, _, _)) = scene.step.event { break }
            announcedEnd = nil
        case .login(.releaseLock(.sleep)): holdsLock = false
        case .app(.call(let instance, _, let call, let deadline)):
            guard isPreparing, call == .willResignActive || call == .didEnterBackground else { return }
            let name = "\(call.handler.method) of \(scene.name(instance))"
            if isShort { violate("\(name) is called, and there is no time for it", scene) }
            if call == .willResignActive, let half, deadline > half {
                violate("\(name) is given \(deadline.text), and half of the allowance is \(half.text)", scene)
            }
            if let end, scene.now + deadline > end {
                violate("\(name) is given \(deadline.text), and logind waits for \((end - scene.now).text)", scene)
            }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard isPreparing, holdsLock, let end else { return }
        if step.asksNow?.at ?? .max > end || scene.now > end {
            violate("a sleep that had been called off goes on beyond logind's first limit", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.sleepShare, message) }
}
