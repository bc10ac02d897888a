internal import Lifecycle

/// An app that could not be frozen in time at two sleeps in a row, or at a third of ten, whichever instance it was, is
/// killed by the release of that sleep, and for that reason nothing else is.
final class StuckAgainChecker: Checker {
    static let hears: [EventKind]? = [.handlerReturned]
    static let sees: [EffectKind]? = [.call, .giveUp, .kill, .report]

    private var killed: Set<InstanceID> = []
    private var justified: Set<InstanceID> = []
    /// The command of its last call did not get to run: that may be what does not freeze.
    private var unstarted: Set<InstanceID> = []
    private var calls: [InstanceID: CallID] = [:]

    func heard(_ event: Event, _ scene: Scene) {
        guard case .app(.handlerReturned(let instance, let call)) = event, calls[instance] == call else { return }
        unstarted.remove(instance)
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .app(.call(let instance, let call, _, _)): calls[instance] = call
        case .app(.giveUp(let instance, _)):
            unstarted.insert(instance)
            calls[instance] = nil
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
            } else if !unstarted.contains(each.instance) {
                violate("\(scene.name(each.instance)) is left in another sleep, though it never freezes", scene)
            }
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.stuckAgain, message) }
}
