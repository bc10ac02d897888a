internal import Lifecycle

/// The service manager expects no signs of life while the kernel may sleep: it is told so before the lock of a sleep is
/// released, and of the opposite as soon as the board does not sleep any more.
final class ServiceWatchdogChecker: Checker {
    static let hears: [EventKind]? = [.serviceWatchdog]
    static let sees: [EffectKind]? = [.restServiceWatchdog, .wakeServiceWatchdog, .releaseLock]

    private var isWatching = false
    private var isResting = false

    func heard(_ event: Event, _ scene: Scene) {
        if event == .watchdog(.service) { isWatching = true }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .watchdog(.restService):
            if !isWatching || isResting { violate("it is told to rest, and does", scene) }
            isResting = true
        case .watchdog(.wakeService):
            if !isResting { violate("it is told to watch, and does", scene) }
            isResting = false
        // One that came too late is given back.
        case .login(.releaseLock(.sleep)) where scene.step.event == .login(.lockTaken(.sleep)): break
        case .login(.releaseLock(.sleep)):
            if isWatching, !isResting { violate("it watches in the sleep", scene) }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if isResting, scene.board.core.device.sleepState != .asleep {
            violate("it rests, and the board is awake", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) {
        scene.inspection.violate(.serviceWatchdog, "the service manager: \(message)")
    }
}
