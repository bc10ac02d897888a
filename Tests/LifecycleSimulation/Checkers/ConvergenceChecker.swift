internal import Lifecycle

/// Invariant 8: any order of doubled, lost or late edges converges.
///
/// When the faults have stopped and the board was left in peace, nothing is under way any more: the device is awake,
/// every app runs or is down for good, both delay locks are held where there is a logind, no request waits, and nothing
/// is due but liveness and what background tasks may still use. On the way there the core never asks for the same past
/// moment again and again.
final class ConvergenceChecker: Checker {
    static let hears: [EventKind]? = [.lockTaken, .loginAvailable, .loginUnavailable]
    static let sees: [EffectKind]? = [.releaseLock, .stopDaemon]

    private var pastWakes = 0
    private var locks = [false, false, false]

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.lockTaken(let kind)):
            locks[Int(kind.rawValue)] = true
        case .login(.unavailable), .login(.available): locks = [false, false, false]
        case .configured, .started, .freezing, .timePassed, .process, .app, .login(.lockRefused),
            .login(.prepareForSleep),
            .login(.prepareForShutdown), .login(.preparingForSleep), .sleep, .login(.suspendRefused),
            .login(.powerOffRefused), .login(.appHoldsLock), .login(.appReleasedLock), .login(.appFillsLocks), .board,
            .memory, .watchdog,
            .client, .stopRequested:
            break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        if case .login(.releaseLock(let kind)) = effect {
            locks[Int(kind.rawValue)] = false
        }
        guard case .stopDaemon = effect else { return }
        for record in scene.chronicle.records where record.isAlive && record.isSpawned && !record.isKillAsked {
            violate("the daemon leaves and \(scene.name(record.instance)) runs", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard step.event == .timePassed, let at = step.asksNow?.at, at <= scene.now else {
            pastWakes = 0
            return
        }
        pastWakes += 1
        if pastWakes > 20 { violate("the core asks to be woken in the past for ever", scene) }
    }

    func finished(_ scene: Scene) {
        let board = scene.board
        guard !board.daemonHasLeft, !board.isPoweredOff else { return }
        if let unrest = board.unrest(), !isQuestion(unrest) {
            return violate("the board does not come to rest: \(unrest.text(board.directory))", scene)
        }
        guard board.login.isPresent else { return }
        for kind in [LockKind.sleep, .shutdown] where !board.login.refusedIdly[Int(kind.rawValue)] {
            if board.login.holds(kind), locks[Int(kind.rawValue)] { continue }
            violate("the \(kind) lock is not held again", scene)
        }
    }

    /// One of logind's that goes on for ever, or for a lock that is of no use any more: another deadline hid it.
    private func isQuestion(_ unrest: Unrest) -> Bool {
        switch unrest.subject {
        case .deadline(.login), .deadline(.sleepCancellation): true
        default: false
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.convergence, message) }
}
