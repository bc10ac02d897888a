internal import Lifecycle

/// A sleep that was released while an app had been killed, or its main process gone, for a second and more, and
/// something of it was left, has waited in vain. None waits for that app's end again, until one of its instances that
/// was killed has gone in time, from the kill to the end of the last process.
final class VainWaitChecker: Checker {
    static let hears: [EventKind]? = [.exited, .groupEmptied, .spawnFailed]
    static let sees: [EffectKind]? = [.spawn, .kill, .clear, .reportStuck, .sleepNotice]
    private static let inTime = Nanoseconds.seconds(1)

    private struct Dying {
        var since: Nanoseconds
        var isLate = false
        var isNamed = false
        var isKilled = false
    }

    private var dying: [InstanceID: Dying] = [:]
    private var gone: Set<InstanceID> = []
    private var owing: Set<AppID> = []
    private var isPreparing = false
    private var isReleased = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .process(.exited(let instance, _)): noteLate(instance, scene)
        case .process(.spawnFailed(let instance, _, _)):
            gone.insert(instance)
            dying[instance] = nil
        case .process(.groupEmptied(let instance)):
            noteLate(instance, scene)
            gone.insert(instance)
            guard let last = dying.removeValue(forKey: instance), last.isKilled, !last.isLate,
                let app = scene.board.directory.app(of: instance)
            else { return }
            owing.remove(app)
        default: break
        }
    }

    private func noteLate(_ instance: InstanceID, _ scene: Scene) {
        if let since = dying[instance]?.since, scene.now - since >= Self.inTime { dying[instance]?.isLate = true }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        // A process that is taken over is an app of its own, whatever had that place before.
        case .process(.spawn(let app, _, .backgroundTask, _)): owing.remove(app)
        case .process(.kill(let instance)):
            // One that comes up after all that is killed once more.
            if dying[instance] == nil, !gone.contains(instance) {
                dying[instance] = Dying(since: scene.now, isKilled: true)
            }
        case .process(.clear(let instance)):
            if gone.contains(instance) { return }
            let before = dying[instance]
            dying[instance] = Dying(
                since: scene.now, isLate: before?.isLate ?? false, isKilled: before?.isKilled ?? false)
        case .process(.reportStuck(let instance, _)): dying[instance]?.isNamed = true
        case .note(.sleep(.preparing)): isPreparing = true
        case .note(.sleep(.released)): isReleased = true
        case .note(.sleep(.ended)): isPreparing = false
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if isReleased { release(scene) }
        guard isPreparing, scene.sleep.isCertain, !scene.sleep.isDoubtful else { return }
        let left = scene.chronicle.records.filter { !$0.isGone }
        let vain = left.first { record in
            owing.contains(record.app) && dying[record.instance]?.isNamed == false && !isAwaited(record)
        }
        guard let vain, left.allSatisfy({ !isAwaited($0) }) else { return }
        scene.inspection.violate(.vainWaits, "another sleep waits for the end of \(scene.name(vain.instance))")
    }

    private func isAwaited(_ record: InstanceRecord) -> Bool {
        if let dying = dying[record.instance] { return !dying.isNamed && !owing.contains(record.app) }
        return !record.isAlive || !record.isFrozenHeard
    }

    /// Of several that it waited for each is to blame.
    private func release(_ scene: Scene) {
        for (instance, since) in dying.mapValues(\.since) where scene.now - since >= Self.inTime {
            // One that is given up is another's no more.
            if let app = scene.board.directory.app(of: instance), scene.board.core.view(of: app)?.instance == instance {
                owing.insert(app)
            }
        }
        isReleased = false
        isPreparing = false
    }
}
