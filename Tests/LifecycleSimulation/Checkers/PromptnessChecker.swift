internal import Lifecycle

/// What an operator orders is carried out at once, and answered when it is.
///
/// - `terminate --force` kills in the same step what runs, whatever else was under way.
/// - A launch that an operator's terminate calls off is denied in the same step.
/// - `background` is done when the app is frozen, where it is to be.
/// - An app that an operator ends has all the time of its willTerminate, unless the board sleeps or shuts down.
final class PromptnessChecker: Checker {
    static let hears: [EventKind]? = [.requested, .requestAbandoned, .killedForMemory, .configured]
    static let sees: [EffectKind]? = [.reply, .call, .reportStuck]

    private struct Wish {
        let id: RequestID
        let app: AppID
        /// What was on its way out when it came.
        let leaving: InstanceID?
    }

    private var launches: [Wish] = []
    private var retreats: [Wish] = []
    /// Answered as done in this step.
    private var done: [Wish] = []
    private var killed: [InstanceID] = []
    private var named: [InstanceID] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .client(.abandoned(let id)): forget(id)
        case .memory(.killed(let instance, _)): killed.append(instance)
        case .configured: launches = []
        case .client(.requested(let id, .launch(let app, _))), .client(.requested(let id, .activate(let app))):
            launches.append(wish(id, app, scene))
        case .client(.requested(let id, .background(let app))): retreats.append(wish(id, app, scene))
        default: break
        }
    }

    private func wish(_ id: RequestID, _ app: AppID, _ scene: Scene) -> Wish {
        let record = scene.chronicle.records.last { $0.app == app && !$0.isGone }
        let isLeaving = record.map { $0.isKillAsked || $0.isTerminateAsked || $0.status != nil } ?? false
        return Wish(id: id, app: app, leaving: isLeaving ? record?.instance : nil)
    }

    private func forget(_ id: RequestID) {
        launches.removeAll { $0.id == id }
        retreats.removeAll { $0.id == id }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .client(.reply(let id, let outcome)):
            if outcome == .app(.done), let wish = retreats.first(where: { $0.id == id }) { done.append(wish) }
            if outcome == .app(.notRunning), let wish = launches.first(where: { $0.id == id }) {
                judgeRefusal(wish, scene)
            }
            if case .app(.ended(let end)) = outcome,
                launches.contains(where: { $0.id == id && $0.leaving == end.instance })
            {
                violate("request \(id.rawValue) is answered by an end that was under way before it", scene)
            }
            forget(id)
        case .process(.reportStuck(let instance, _)): named.append(instance)
        case .app(.call(let instance, _, .willTerminate("user"), let deadline)): judge(deadline, instance, scene)
        default: break
        }
    }

    private func judgeRefusal(_ wish: Wish, _ scene: Scene) {
        guard case .client(.requested(_, .terminate(let app, _))) = scene.step.event, app == wish.app else { return }
        violate("request \(wish.id.rawValue) was called off, and that is not said", scene)
    }

    private func judge(_ deadline: Nanoseconds, _ instance: InstanceID, _ scene: Scene) {
        guard !scene.chronicle.isEnding, scene.board.core.device.sleepState == .awake,
            let app = scene.board.directory.app(of: instance), let entry = scene.board.directory.entry(app)
        else { return }
        let own = min(entry.policy.allowances[.willTerminate], entry.former.allowances[.willTerminate])
        if deadline < own { violate("\(scene.name(instance)) is given \(deadline.text) of \(own.text) to end", scene) }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for wish in done { judgeRetreat(wish, scene) }
        done = []
        guard case .client(.requested(let id, .terminate(let app, let force))) = step.event, !scene.refuses(id) else {
            return
        }
        let record = scene.chronicle.records.last { $0.app == app && !$0.isGone }
        if force, let record, record.isSpawned, record.isAlive, !record.isKillAsked, !killed.contains(record.instance) {
            violate("\(scene.name(record.instance)) is to be killed, and is not", scene)
        }
        let waiting = launches.first { $0.app == app && (record == nil || $0.leaving == record?.instance) }
        if let waiting { violate("request \(waiting.id.rawValue) waits for a launch that was called off", scene) }
    }

    private func judgeRetreat(_ wish: Wish, _ scene: Scene) {
        guard let record = scene.chronicle.records.last(where: { $0.app == wish.app && $0.isAlive }),
            record.isFreezeAsked, !record.isFrozenHeard, !named.contains(record.instance), record.tasks.isEmpty,
            scene.board.core.device.sleepState == .awake
        else { return }
        violate("\(scene.name(record.instance)) is said to be in background, and is not frozen yet", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.promptness, message) }
}
