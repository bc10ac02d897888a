internal import Lifecycle

/// At a wake a server is thawed before the apps that come after it: they may need it at once.
final class ThawOrderChecker: Checker {
    static let hears: [EventKind]? = [.configured]
    static let sees: [EffectKind]? = [.thaw, .sleepNotice]

    private var order = LaunchOrder()
    private var thawed: [AppID] = []
    /// The step in which a sleep has ended last.
    private var wake = -1

    func heard(_ event: Event, _ scene: Scene) {
        if case .configured = event { order.learn(scene.board.directory) }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleepEnded):
            thawed = []
            wake = isOnlyWake(scene.step) ? scene.step.number : -1
        case .thaw(let instance):
            guard wake == scene.step.number, let app = scene.board.directory.app(of: instance) else { return }
            if let client = thawed.first(where: { order.comesAfter($0, app) }) {
                let message = "\(scene.name(client)) is thawed before \(scene.name(app)), which it comes after"
                scene.inspection.violate(.thawOrder, message)
            }
            thawed.append(app)
        default: break
        }
    }

    /// Nothing else that happens in the step thaws an app that has been in background before.
    private func isOnlyWake(_ step: Step) -> Bool {
        if step.effects.contains(where: { if case .note(.phaseLimited) = $0 { true } else { false } }) { return false }
        return switch step.event {
        case .woke, .prepareForSleep, .preparingForSleep, .loginAvailable, .loginUnavailable, .suspendRefused,
            .requested(_, .sleep), .powerKeyPressed:
            true
        default: false
        }
    }
}
