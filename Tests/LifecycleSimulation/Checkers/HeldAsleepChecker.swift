internal import Lifecycle

/// While the board is asleep for sure, whatever can be frozen has been sent the order; and what is called unfreezable
/// had been sent it, and had a moment to obey.
final class HeldAsleepChecker: Checker {
    static let hears: [EventKind]? = [.prepareForSleep, .requested, .spawned]
    static let sees: [EffectKind]? = [.nameCulprits]

    private var looks = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .prepareForSleep, .requested, .spawned: looks = true
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        guard case .nameCulprits(let instance, .unfreezable) = effect,
            let record = scene.chronicle.record(instance), mayBeFrozen(record, scene)
        else { return }
        if !record.isFreezeAsked {
            violate("\(scene.name(instance)) is called unfreezable, and was not asked to freeze", scene)
        } else if scene.step.effects.contains(.freeze(instance)) {
            violate("\(scene.name(instance)) is called unfreezable as it is asked to freeze", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard looks else { return }
        looks = false
        guard scene.board.core.device.sleepState == .asleep, !scene.sleep.isDoubtful else { return }
        for record in scene.chronicle.records
        where record.isSpawned && record.isAlive && !record.isKillAsked && !record.isFreezeAsked {
            guard mayBeFrozen(record, scene) else { continue }
            violate("\(scene.name(record.instance)) is not frozen, and the board is asleep", scene)
        }
    }

    private func mayBeFrozen(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        guard scene.chronicle.isFreezingAvailable, let entry = scene.board.directory.entry(record.app) else {
            return false
        }
        return entry.policy.suspend && entry.former.suspend
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.heldAsleep, message) }
}
