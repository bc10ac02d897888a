internal import Lifecycle

/// At a wake a server is thawed before the apps that come after it: they may need it at once. And on the way to sleep
/// it is frozen when they are, unless time is short.
final class ThawOrderChecker: Checker {
    static let hears: [EventKind]? = [
        .configured, .prepareForSleep, .preparingForSleep, .loginAvailable, .lockTaken, .requested,
    ]
    static let sees: [EffectKind]? = [.thaw, .freeze, .sleepNotice, .reportStuck]

    private var order = LaunchOrder()
    private var thawed: [AppID] = []
    /// The step in which a sleep has ended last.
    private var wake = -1
    /// MONOTONIC: until then there is time for an order; nil: no sleep is prepared, or its limits may be others.
    private var orderlyEnd: Nanoseconds?
    private var named: [InstanceID] = []

    func heard(_ event: Event, _ scene: Scene) {
        if case .configured = event { order.learn(scene.board.directory) }
        // The limits may be others from now on.
        if scene.saysRealSleep || event == .login(.lockTaken(.sleep)) { orderlyEnd = nil }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing(_, let allowance))):
            orderlyEnd = begun(scene).map { $0 + allowance }
        case .note(.sleep(.released)): orderlyEnd = nil
        case .process(.reportStuck(let instance, _)): named.append(instance)
        case .process(.freeze(let instance)): judgeFreeze(instance, scene)
        case .note(.sleep(.ended)):
            orderlyEnd = nil
            thawed = []
            wake = isOnlyWake(scene.step) ? scene.step.number : -1
        case .process(.thaw(let instance)):
            named.removeAll { $0 == instance }
            guard wake == scene.step.number, let app = scene.board.directory.app(of: instance) else { return }
            if let client = thawed.first(where: { order.comesAfter($0, app) }) {
                let message = "\(scene.name(client)) is thawed before \(scene.name(app)), which it comes after"
                scene.inspection.violate(.thawOrder, message)
            }
            thawed.append(app)
        default: break
        }
    }

    /// From where the allowance counts; nil: it cannot be told, or is over already.
    private func begun(_ scene: Scene) -> Nanoseconds? {
        let isOver = scene.step.effects.contains { if case .note(.sleep(.released)) = $0 { true } else { false } }
        switch scene.step.event {
        case _ where isOver: return nil
        case .login(.prepareForSleep(_, _, let signalled)): return min(signalled, scene.now)
        case .login(.preparingForSleep), .login(.available): return nil
        default: return scene.now
        }
    }

    private func judgeFreeze(_ instance: InstanceID, _ scene: Scene) {
        // It was frozen all the time, but for letting go of a lock.
        if scene.step.event == .login(.appHoldsLock(instance)) { return }
        // It is asked again.
        if case .process(.regained) = scene.step.event { return }
        guard let orderlyEnd, scene.now < orderlyEnd, !order.isCircular,
            let server = scene.board.directory.app(of: instance)
        else { return }
        let client = scene.chronicle.records.first { record in
            guard record.isSpawned, record.isAlive, !record.isKillAsked, !record.isFrozenHeard,
                !named.contains(record.instance), !scene.slowFreezes.isLeft(record.instance, scene),
                order.servers(of: record.app).contains(server),
                let entry = scene.board.directory.entry(record.app)
            else { return false }
            return entry.policy.suspend && entry.former.suspend
        }
        guard let client else { return }
        let message = "\(scene.name(instance)) is frozen before \(scene.name(client.instance)), which comes after it"
        scene.inspection.violate(.thawOrder, message)
    }

    /// Nothing else that happens in the step thaws an app that has been in background before.
    private func isOnlyWake(_ step: Step) -> Bool {
        if step.effects.contains(where: { if case .note(.board(.phaseLimited)) = $0 { true } else { false } }) {
            return false
        }
        return switch step.event {
        case .timePassed, .login(.prepareForSleep), .login(.preparingForSleep), .login(.available),
            .login(.unavailable),
            .login(.suspendRefused),
            .client(.requested(_, .sleep)), .board(.keyPressed):
            true
        default: false
        }
    }
}
