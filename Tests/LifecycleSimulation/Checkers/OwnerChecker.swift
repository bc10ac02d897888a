internal import Lifecycle

/// No process runs that belongs to no instance: a start that was given up and comes late is killed at once.
final class OwnerChecker: Checker {
    static let hears: [EventKind]? = [.spawned]
    static let sees: [EffectKind]? = []

    func heard(_ event: Event, _ scene: Scene) {
        guard case .process(.spawned(let instance)) = event, scene.board.process(instance)?.stage == .alive,
            scene.chronicle.record(instance)?.isGivenUp != false,
            !scene.step.effects.contains(.process(.kill(instance)))
        else { return }
        scene.inspection.violate(.owned, "\(scene.name(instance)) comes up when it was given up, and lives")
    }
}
