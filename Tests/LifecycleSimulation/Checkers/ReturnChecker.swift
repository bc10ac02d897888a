internal import Lifecycle

/// Who was in front when memory or heat ended it comes back as soon as the board is well again, and nothing of it is
/// left; not before.
final class ReturnChecker: Checker {
    static let hears: [EventKind]? = [.configured, .prepareForShutdown, .loginAvailable, .requested, .stopRequested]
    static let sees: [EffectKind]? = [.report, .spawn, .endNotice, .reply]

    private var waiting: [AppID] = []
    /// They may be on their way to background, for all that is known.
    private var sentBack: [AppID] = []
    /// Not answered yet.
    private var activations: [(request: RequestID, app: AppID)] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured:
            waiting = []
            sendEverybodyBack(scene)
        case .stopRequested, .login(.prepareForShutdown), .login(.available): waiting = []
        case .client(.requested(_, .background(let app))), .client(.requested(_, .terminate(let app, _))):
            waiting.removeAll { $0 == app }
            sentBack.append(app)
        case .client(.requested(_, .launch(let app, _))), .client(.requested(_, .activate(let app))):
            waiting.removeAll { $0 == app || scene.conditions.policy.front == .one }
            if scene.conditions.policy.front == .one { sendEverybodyBack(scene) }
            guard case .client(.requested(let id, .activate(let app))) = event else { break }
            let isDenied = scene.denies(id)
            guard !isDenied else { break }
            sentBack.removeAll { $0 == app }
            activations.append((id, app))
        default: break
        }
    }

    private func sendEverybodyBack(_ scene: Scene) { sentBack = scene.board.directory.entries.map(\.id) }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .report(let end):
            waiting.removeAll { $0 == end.app }
            guard end.reason.namespace == .jetsam || end.reason.namespace == .thermal, end.phase == .active,
                !sentBack.contains(end.app),
                let entry = scene.board.directory.entry(end.app), entry.isConfigured, entry.policy.restart != .never,
                !scene.chronicle.isEnding, scene.chronicle.record(end.instance)?.isDoomed == false
            else { return }
            waiting.append(end.app)
        case .process(.spawn(let app, _, .restart, _)):
            waiting.removeAll { $0 == app }
        case .note(.shutdown(.criticalBattery)): waiting = []
        case .client(.reply(let id, let outcome)):
            guard let index = activations.firstIndex(where: { $0.request == id }) else { return }
            let activation = activations.remove(at: index)
            if outcome.isRefusal { sentBack.append(activation.app) }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard scene.conditions.pressure == .normal, scene.conditions.isSurelyCool, !scene.chronicle.isEnding,
            scene.board.core.device.sleepState == .awake
        else { return }
        for app in waiting {
            guard let view = scene.board.core.view(of: app), view.instance == nil, !view.restartPending,
                !view.isLeftDown
            else {
                continue
            }
            scene.inspection.violate(.returns, "\(scene.name(app)) was in front, and does not come back")
        }
    }
}
