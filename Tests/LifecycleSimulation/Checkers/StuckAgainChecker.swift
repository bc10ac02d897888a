internal import Lifecycle

/// An app that could not be frozen in time at two sleeps in a row, or at a third of ten, whichever instance it was, is
/// killed by the release of that sleep, and for that reason nothing else is.
final class StuckAgainChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.kill, .report]

    private var killed: Set<InstanceID> = []
    private var justified: Set<InstanceID> = []

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.kill(let instance)): killed.insert(instance)
        case .report(let end) where end.reason == .unfreezable && !justified.contains(end.instance):
            violate("\(scene.name(end.instance)) is killed as unfreezable, and was not so twice", scene)
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for each in scene.freezing.counted(scene) where each.isAgain {
            if killed.contains(each.instance) {
                justified.insert(each.instance)
            } else {
                violate("\(scene.name(each.instance)) is left in another sleep, though it never freezes", scene)
            }
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.stuckAgain, message) }
}
