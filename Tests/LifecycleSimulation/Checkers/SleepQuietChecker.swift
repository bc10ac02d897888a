internal import Lifecycle

/// From the first `true` edge until the board is awake nothing is launched and no app is thawed, but those that hold
/// tasks in a dark wake, or in a sleep of which it is in doubt whether it is one; or that hold a lock of their own,
/// which is frozen again in the same step.
final class SleepQuietChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.spawn, .thaw]

    func did(_ effect: Effect, _ scene: Scene) {
        guard scene.sleep.isBinding else { return }
        switch effect {
        case .process(.spawn(let app, _, _, _)):
            scene.inspection.violate(.quietInSleep, "\(scene.name(app)) is launched in a sleep")
        case .process(.thaw(let instance)):
            // A sleep that is in doubt freezes no app: what froze it was something else.
            if scene.sleep.isDoubtful { return }
            let isFrozenAgain = scene.step.effects.contains(.process(.freeze(instance)))
            if scene.step.event == .login(.appHoldsLock(instance)), isFrozenAgain { return }
            if scene.sleep.isDark, scene.chronicle.record(instance)?.tasks.isEmpty == false { return }
            scene.inspection.violate(.quietInSleep, "\(scene.name(instance)) is thawed in a sleep")
        case .app, .process(.terminate), .process(.kill), .process(.clear), .process(.freeze), .process(.reportStuck),
            .login, .sleep, .report, .client, .note, .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }
}
