internal import Lifecycle

/// Invariant 2: when the sleep lock is released, every supervised process that is not exempt is dead, frozen, or named.
///
/// Looked at when the lock is released and when the core says that the sleep may go on (there may be no lock). An
/// instance is excused when its app is never frozen by its policy, when nothing can be frozen on this board, or when
/// its culprits are named in this sleep, before the release or along with it. Frozen means that the kernel has said so,
/// and that it is true. What is spawned after the release is frozen in the same step.
final class StillnessChecker: Checker {
    static let sees: [EffectKind]? = [.reportStuck, .freeze, .thaw, .sleepNotice, .releaseLock]

    private var named: [InstanceID] = []
    /// The last freeze that was asked for, and when.
    private var asked: [(instance: InstanceID, at: Nanoseconds)] = []
    private var released = false

    func heard(_ event: Event, _ scene: Scene) {
        if !scene.sleep.isCertain { released = false }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.reportStuck(let instance, _)): named.append(instance)
        case .process(.freeze(let instance)):
            named.removeAll { $0 == instance }
            asked.removeAll { $0.instance == instance || $0.at < scene.now }
            asked.append((instance, scene.now))
        case .process(.thaw(let instance)): named.removeAll { $0 == instance }
        case .note(.sleep(.released)):
            released = true
            look(scene)
        case .note(.sleep(.ended)), .note(.sleep(.darkWake)): released = false
        case .login(.releaseLock(.sleep)):
            // One that came too late is given back.
            if scene.step.event != .login(.lockTaken(.sleep)) { look(scene) }
        case .process(.spawn), .app, .process(.terminate), .process(.kill), .process(.clear), .login, .sleep, .report,
            .client, .note, .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }

    private func look(_ scene: Scene) {
        if scene.sleep.isDoubtful { return }
        for record in scene.chronicle.records where !record.isGone {
            guard !isExempt(record, scene), !named.contains(record.instance) else { continue }
            let process = scene.board.process(record.instance)
            // Whose end is not heard yet was still to be there.
            let isFrozen = record.isFrozenHeard && (process?.isFrozen == true || process?.stage == .exited)
            // The core was late for everything, and tries only now.
            let isTried = asked.contains { $0.instance == record.instance && $0.at == scene.now }
            guard !isFrozen, !isTried || record.isKillAsked else { continue }
            scene.inspection.violate(
                .everybodyStill, "\(scene.name(record.instance)) is neither dead nor frozen nor named at the release")
        }
    }

    private func isExempt(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        // A daemon that leaves ends all apps, and does not keep its lock for that.
        if !scene.chronicle.isFreezingAvailable || scene.chronicle.isStopping { return true }
        guard let entry = scene.board.directory.entry(record.app) else { return true }
        return !entry.policy.suspend || !entry.former.suspend
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard case .process(.spawned(let instance)) = step.event, released, scene.sleep.isCertain,
            !scene.sleep.isDoubtful,
            let record = scene.chronicle.record(instance), record.isAlive, !isExempt(record, scene)
        else { return }
        if !record.isFreezeAsked, !record.isKillAsked {
            scene.inspection.violate(.everybodyStill, "\(scene.name(instance)) came up in a sleep and is not frozen")
        }
    }
}
