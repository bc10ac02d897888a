internal import Lifecycle

/// Invariant 1: a delay lock is released before logind's limit, always; a new sleep lock is only taken after resume.
///
/// The limit is counted from when the signal came (as the event says) with the InhibitDelayMaxUSec that logind really
/// has and has told. Checked after every step while a lock is held and its handshake runs:
/// - past the limit, the lock is gone by the end of the step (the first one the core gets, if the board stalled);
/// - before it, the core has asked to be woken in time.
/// A shutdown's lock is excused once the board was late in its handshake: the apps are given the time to die that they
/// would have had.
/// While a sleep certainly goes on no sleep lock is taken, but where logind has only now appeared, or in a dark wake.
/// There is never more than one lock of a kind, held or asked for; one that was granted to a question from before
/// logind went is closed as it comes.
final class LockChecker: Checker {
    static let hears: [EventKind]? = [
        .lockTaken, .lockRefused, .loginAvailable, .loginUnavailable, .prepareForSleep, .prepareForShutdown,
        .preparingForSleep,
    ]
    static let sees: [EffectKind]? = [.takeLock, .releaseLock, .sleepNotice]

    private enum State { case none, asked, held }

    private var state = [State.none, .none, .none]
    private var askedAt = [Nanoseconds.zero, .zero, .zero]
    /// One is held, and another has just come.
    private var isExtra = false
    private var limit: [Nanoseconds?] = [nil, nil, nil]
    /// When the sleep was announced that the lock is held for.
    private var announcedAt = Nanoseconds.zero
    private var told: Nanoseconds?
    private var shutdownIsLate = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.lockTaken(let kind)):
            if !scene.board.login.isConnected, !scene.step.effects.contains(.login(.releaseLock(kind))) {
                violate("a \(kind) lock comes from before logind went, and is kept", scene)
            }
            // Where one is held already, the shell keeps one of the two.
            isExtra = state[Int(kind.rawValue)] == .none
            // The answer to a question that was given up: kept where it is of use, else given back at once.
            if isExtra, !scene.step.effects.contains(.login(.releaseLock(kind))) {
                if kind == .sleep, scene.sleep.isBinding, !scene.sleep.isDark {
                    violate("a sleep lock comes in a sleep, and is kept", scene)
                }
                isExtra = false
                state[Int(kind.rawValue)] = .held
            }
            if state[Int(kind.rawValue)] == .asked { state[Int(kind.rawValue)] = .held }
        // What is held is not lost by the answer to an older question.
        case .login(.lockRefused(let kind)):
            if state[Int(kind.rawValue)] == .asked { state[Int(kind.rawValue)] = .none }
        case .login(.unavailable):
            state = [.none, .none, .none]
            limit = [nil, nil, nil]
            told = nil
        case .login(.available(let delayMax, _, _)):
            state = [.none, .none, .none]
            limit = [nil, nil, nil]
            told = delayMax
        case .login(.prepareForSleep(let start, let delayMax, let signalled)):
            edge(.sleep, start, delayMax, signalled, scene)
        case .login(.prepareForShutdown(let start, let delayMax, let signalled)):
            edge(.shutdown, start, delayMax, signalled, scene)
        case .login(.preparingForSleep(false)): limit[0] = nil
        case .configured, .started, .freezing, .timePassed, .process, .app, .login(.preparingForSleep), .sleep,
            .login(.suspendRefused), .login(.powerOffRefused), .login(.appHoldsLock), .login(.appReleasedLock),
            .login(.appFillsLocks), .board,
            .memory, .watchdog,
            .client, .stopRequested:
            break
        }
    }

    private func edge(
        _ kind: LockKind, _ start: Bool, _ delayMax: Nanoseconds?, _ signalled: Nanoseconds, _ scene: Scene
    ) {
        if let delayMax { told = delayMax }
        let index = Int(kind.rawValue)
        guard start else {
            limit[index] = nil
            return
        }
        // A daemon that leaves takes its locks with it.
        guard let told, !scene.chronicle.isStopping, state[index] == .held else { return }
        let end = signalled + told
        if kind == .sleep, limit[index] == nil { announcedAt = signalled }
        if kind == .shutdown { shutdownIsLate = end - scene.now < scene.board.devicePolicy.sleepMargin }
        limit[index] = min(limit[index] ?? end, end)
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .login(.takeLock(let kind)):
            // What is not answered in 30 s is asked again.
            let isAskedAgain =
                state[Int(kind.rawValue)] == .asked && scene.now - askedAt[Int(kind.rawValue)] >= .seconds(30)
            if state[Int(kind.rawValue)] != .none, !isAskedAgain {
                violate("a second \(kind) lock is taken", scene)
            }
            state[Int(kind.rawValue)] = .asked
            askedAt[Int(kind.rawValue)] = scene.now
            guard kind == .sleep, scene.sleep.isBinding, !scene.sleep.isDark else { return }
            if case .login(.available) = scene.step.event { return }
            violate("a sleep lock is taken before the resume", scene)
        case .login(.releaseLock(let kind)):
            if isExtra, case .login(.lockTaken(kind)) = scene.step.event { return }
            state[Int(kind.rawValue)] = .none
            limit[Int(kind.rawValue)] = nil
        // logind did not wait: what is still held is for the next sleep.
        case .note(.sleep(.ended)):
            if scene.board.truth.lastSleep?.began.monotonic ?? .zero >= announcedAt { limit[0] = nil }
        case .process, .app, .login(.readPreparingForSleep), .sleep, .login(.suspendDevice), .report, .client, .note,
            .login(.powerOff), .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if let asked = step.askedBefore?.at, scene.now - asked > scene.board.devicePolicy.sleepMargin / 10 {
            shutdownIsLate = true
        }
        for kind in LockKind.allCases where kind == .sleep || !shutdownIsLate {
            let index = Int(kind.rawValue)
            guard state[index] == .held, let limit = limit[index] else { continue }
            if scene.now >= limit {
                violate("the \(kind) lock is still held \((scene.now - limit).text) after logind's limit", scene)
            } else if step.asksNow?.at ?? .max >= limit {
                violate("the \(kind) lock is held and nothing is due before logind's limit", scene)
            }
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.lockReleased, message) }
}
