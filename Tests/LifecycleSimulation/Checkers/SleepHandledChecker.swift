internal import Lifecycle

/// Who announces sleeps beside logind is told that a sleep is handled: before the lock is released, of sleeps of the
/// kernel alone, and for as long as they last.
final class SleepHandledChecker: Checker {
    static let hears: [EventKind]? = [
        .prepareForSleep, .preparingForSleep, .loginAvailable, .loginUnavailable, .lockTaken, .requested,
    ]
    static let sees: [EffectKind]? = [.sleepHandled, .releaseLock, .sleepNotice]

    private var isHandled = false
    private var isAsleep = false
    /// An operator's sleep; nil: it cannot be told.
    private var isLogical: Bool? = false
    private var holdsLock = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.lockTaken(.sleep)): holdsLock = true
        case .login(.available), .login(.unavailable): holdsLock = false
        default: break
        }
        // What is in doubt stays so by the property alone.
        if isLogical == nil, scene.sleep.isDoubtful { return }
        if scene.announcesRealSleep { isLogical = isLogical == true && isAsleep ? nil : false }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .sleep(.handled(let value)):
            if value == isHandled { violate("it is said twice", scene) }
            isHandled = value
        case .login(.releaseLock(.sleep)):
            holdsLock = false
            // Not ours: the question had been given up.
            if scene.step.event == .login(.lockTaken(.sleep)) { return }
            if !isHandled, isLogical != nil { violate("the lock is released before it is said", scene) }
        case .note(.sleep(.preparing)):
            isLogical = !scene.saysRealSleep
            // It may be over: only a property tells of it, and no lock was granted before it.
            switch scene.step.event {
            case .login(.available(_, true, _)): isLogical = nil
            case .login(.preparingForSleep(true)): if !holdsLock { isLogical = nil }
            default: break
            }
        case .note(.sleep(.released)): isAsleep = true
        case .note(.sleep(.ended)), .note(.sleep(.darkWake)): isAsleep = false
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if isHandled, !isAsleep { violate("it is said of a board that does not sleep", scene) }
        guard isAsleep, let isLogical else { return }
        if isLogical, isHandled { violate("it is said of a sleep that is not the kernel's", scene) }
        if !isLogical, !isHandled { violate("it is not said any more", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) {
        scene.inspection.violate(.sleepHandled, "handled sleep: \(message)")
    }
}
