internal import Lifecycle

/// Where one app is in front at a time, it is the one that was asked for last, and none becomes active before the one
/// before has left the front or is being killed.
final class FrontChecker: Checker {
    static let hears: [EventKind]? = [.configured, .requested, .stopRequested]
    static let sees: [EffectKind]? = [.call, .appNotice, .report, .reply]

    /// Asked for last, while nothing else was wanted of it since.
    private var last: AppID?
    /// An activation of an app that was there, the last thing that was asked for, and who was asked for before.
    private var pending: (request: RequestID, former: AppID?)?

    private func isOne(_ scene: Scene) -> Bool { scene.conditions.policy.front == .one }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .app(.call(let instance, _, .didBecomeActive, _)):
            if isOne(scene) { expectAlone(scene.board.directory.app(of: instance), scene) }
        case .note(.app(.phaseChanged(let app, .active))):
            // Whose handler has returned was judged when it was called.
            if case .app(.handlerReturned) = scene.step.event { return }
            if isOne(scene) { expectAlone(app, scene) }
        case .report(let end):
            if end.app == last { last = nil }
            if end.app == pending?.former { pending?.former = nil }
        // What was denied later is undone, and what was wished before is wished again.
        case .client(.reply(let id, .app(.denied))):
            last = id == pending?.request ? pending?.former : nil
            pending = nil
        default: break
        }
    }

    private func expectAlone(_ app: AppID?, _ scene: Scene) {
        let other = scene.chronicle.records.first {
            $0.app != app && $0.isAlive && !$0.isKillAsked
                && ($0.phase == .active || $0.call?.call == .didBecomeActive && !$0.isDoomed)
        }
        guard let other, let app else { return }
        let message = "\(scene.name(app)) becomes active, and \(scene.name(other.instance)) is"
        scene.inspection.violate(.oneInFront, message)
    }

    func heard(_ event: Event, _ scene: Scene) {
        let former = last
        switch event {
        case .configured, .client(.requested), .stopRequested: pending = nil
        default: return
        }
        switch event {
        case .configured, .stopRequested: last = nil
        case .client(.requested(_, .background(let app))), .client(.requested(_, .terminate(let app, _))):
            if app == last { last = nil }
        // Both of them may be denied, and nothing is known until that is.
        case .client(.requested(_, .launch)): last = nil
        case .client(.requested(let id, .activate(let app))):
            let isDenied = scene.denies(id)
            if !isDenied {
                last = app
                let isThere = scene.chronicle.records.contains {
                    $0.app == app && $0.isSpawned && $0.isAlive && !$0.isDoomed && !$0.isKillAsked
                }
                if isThere, former != app { pending = (id, former) }
            }
        default: break
        }
    }

    /// Who was asked for last is on its way, and has the front as soon as it is free.
    func stepped(_ step: Step, _ scene: Scene) {
        guard let last, isOne(scene), !scene.chronicle.isEnding,
            let record = scene.chronicle.records.last(where: { $0.app == last }), record.phase != .active,
            record.call == nil, scene.isLaunched(record), scene.isWell(record)
        else { return }
        let device = scene.board.core.device
        guard device.sleepState == .awake, device.phaseLimit == .active else { return }
        if record.phase == .background {
            return scene.inspection.violate(.oneInFront, "\(scene.name(last)) was asked for last, and stays behind")
        }
        let isTaken = scene.chronicle.records.contains { other in
            other.app != last && other.isAlive && !other.isKillAsked
                && (other.phase == .active || other.call?.call == .didBecomeActive)
        }
        if isTaken { return }
        scene.inspection.violate(.oneInFront, "the front is free, and \(scene.name(last)) waits for it")
    }

    func rested(_ scene: Scene) {
        guard isOne(scene) else { return }
        // Who is being ended is still there for a while.
        let front = scene.chronicle.records.filter {
            $0.isAlive && $0.phase == .active && !$0.isTerminateAsked && !$0.isKillAsked
        }
        if front.count > 1 {
            scene.inspection.violate(.oneInFront, "\(front.map { scene.name($0.instance) }) are active")
        }
        guard let last, scene.conditions.limit == .active, let phase = scene.board.core.view(of: last)?.phase,
            phase != .active
        else { return }
        scene.inspection.violate(.oneInFront, "\(scene.name(last)) was asked for last, and is \(phase.name)")
    }
}
