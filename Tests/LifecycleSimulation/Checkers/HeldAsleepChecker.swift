internal import Lifecycle

/// While the board is asleep for sure, whatever can be frozen has been sent the order; and what is called unfreezable
/// had been sent it, and had a moment to obey.
///
/// While all apps are to end, none is frozen in the middle of it for a sleep that is not the kernel's: it need never be
/// over.
final class HeldAsleepChecker: Checker {
    static let hears: [EventKind]? = [.prepareForSleep, .preparingForSleep, .loginAvailable, .requested, .spawned]
    static let sees: [EffectKind]? = [.reportStuck, .freeze, .sleepNotice]

    private var looks = false
    private var story = SleepStory()

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.prepareForSleep), .client(.requested), .process(.spawned): looks = true
        default: break
        }
        story.hear(event, scene)
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        if case .process(.freeze(let instance)) = effect { judgeFreeze(instance, scene) }
        guard case .process(.reportStuck(let instance, .unfreezable)) = effect,
            let record = scene.chronicle.record(instance), mayBeFrozen(record, scene)
        else { return }
        if !record.isFreezeAsked {
            violate("\(scene.name(instance)) is called unfreezable, and was not asked to freeze", scene)
        } else if hasJustBeenAsked(instance, scene.step) {
            violate("\(scene.name(instance)) is called unfreezable as it is asked to freeze", scene)
        }
    }

    /// The order comes before the name, in one step.
    private func hasJustBeenAsked(_ instance: InstanceID, _ step: Step) -> Bool {
        // It is asked again.
        if case .process(.regained) = step.event { return false }
        let effects = step.effects
        guard let order = effects.firstIndex(of: .process(.freeze(instance))),
            let name = effects.firstIndex(of: .process(.reportStuck(instance, .unfreezable)))
        else { return false }
        return order < name
    }

    private func judgeFreeze(_ instance: InstanceID, _ scene: Scene) {
        guard scene.chronicle.isEnding, story.isLogical, story.stage != .awake,
            let record = scene.chronicle.record(instance),
            record.isTerminateAsked || record.call?.call.handler == .willTerminate
        else { return }
        switch scene.step.event {
        // It could not be frozen as its end began.
        case .configured, .freezing: return
        default: break
        }
        violate("\(scene.name(instance)) is frozen for a logical sleep in the middle of its end", scene)
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
