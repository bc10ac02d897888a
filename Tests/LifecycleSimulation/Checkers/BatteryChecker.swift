internal import Lifecycle

/// A board that is about to be switched off for its battery is kept on by a better word alone: external power, a level
/// above the threshold, or what makes the whole question void. A reading that fails is not one.
final class BatteryChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.endNotice]

    private var isEnding = false

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.shutdown(.criticalBattery)): isEnding = true
        case .note(.shutdown(.cancelled)):
            if isEnding, !isBetterWord(scene.step.event, scene) {
                scene.inspection.violate(.battery, "the shutdown of an empty battery is called off for no better word")
            }
            isEnding = false
        default: break
        }
    }

    private func isBetterWord(_ event: Event, _ scene: Scene) -> Bool {
        switch event {
        case .board(.power(let reading)):
            reading.isExternal == true
                || reading.level.map { (0...100).contains($0) && $0 > scene.conditions.policy.batteryCritical } ?? false
        case .configured, .login(.prepareForShutdown(false, _, _)), .login(.available): true
        default: false
        }
    }
}
