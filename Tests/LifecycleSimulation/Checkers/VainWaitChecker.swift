internal import Lifecycle

/// A sleep that was released while an app had been killed, or its main process gone, for a second and more, or that it
/// came to an end in so late, has waited in vain: the next ten do not wait for that app's end. Nor does any wait longer
/// than it is to for what freezes slowly (`SlowFreezes`).
final class VainWaitChecker: Checker {
    static let hears: [EventKind]? = [.exited, .groupEmptied, .spawnFailed]
    static let sees: [EffectKind]? = [.spawn, .kill, .clear, .reportStuck, .sleepNotice, .endNotice]
    private static let inTime = Nanoseconds.seconds(1)

    private struct Dying {
        var since: Nanoseconds
        /// After that it is beyond killing.
        var patience = Nanoseconds.seconds(5)
        var isLate = false
        var isNamed = false
        /// It has been given up: what becomes of it is no sleep's.
        var isForgotten = false
    }

    private var dying: [InstanceID: Dying] = [:]
    private var gone: Set<InstanceID> = []
    /// The last sleep at which it was so.
    private var late: [AppID: Int] = [:]
    private var adopted: Set<AppID> = []
    private var lateAdopted: Int?
    private var sleep = 0
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
            guard let last = dying.removeValue(forKey: instance), last.isLate, !last.isForgotten else { return }
            if isPreparing { isLate(instance, scene) }
        default: break
        }
    }

    private func noteLate(_ instance: InstanceID, _ scene: Scene) {
        if let since = dying[instance]?.since, scene.now - since >= Self.inTime { dying[instance]?.isLate = true }
    }

    /// One that is given up is another's no more.
    private func owner(_ instance: InstanceID, _ scene: Scene) -> AppID? {
        guard let app = scene.board.directory.app(of: instance), scene.board.core.view(of: app)?.instance == instance
        else { return nil }
        return app
    }

    private func isLate(_ instance: InstanceID, _ scene: Scene) {
        guard let app = scene.board.directory.app(of: instance) else { return }
        late[app] = sleep
        if adopted.contains(app) { lateAdopted = sleep }
    }

    private func endsLate(_ app: AppID) -> Bool {
        late[app].map { $0 + 10 >= sleep } == true
            || adopted.contains(app) && lateAdopted.map { $0 + 10 >= sleep } == true
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        // A process that is taken over is an app of its own, whatever had that place before.
        case .process(.spawn(let app, _, let reason, _)):
            if reason == .backgroundTask {
                late[app] = nil
                adopted.insert(app)
            } else {
                adopted.remove(app)
            }
        case .process(.kill(let instance)):
            // One that comes up after all that is killed once more.
            if dying[instance] == nil, !gone.contains(instance) { dying[instance] = Dying(since: scene.now) }
        case .process(.clear(let instance)):
            if gone.contains(instance) { return }
            dying[instance] = Dying(
                since: scene.now, patience: .seconds(10), isLate: dying[instance]?.isLate ?? false)
        case .process(.reportStuck(let instance, _)): dying[instance]?.isNamed = true
        // That it did not wait for an end does not mean that no sleep is to.
        case .note(.shutdown(.cancelled)): for instance in dying.keys { dying[instance]?.isNamed = false }
        case .note(.sleep(.preparing)):
            sleep = scene.board.core.sleepAge
            isPreparing = true
        case .note(.sleep(.released)): isReleased = true
        case .note(.sleep(.ended)): isPreparing = false
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for instance in dying.keys where owner(instance, scene) == nil { dying[instance]?.isForgotten = true }
        if isReleased { return release(scene) }
        guard isPreparing, scene.sleep.isCertain, !scene.sleep.isDoubtful else { return }
        let left = scene.chronicle.records.filter { !$0.isGone }
        let vain = left.first { !isAwaited($0, scene) && isThere($0, scene) }
        guard let vain, left.allSatisfy({ !isAwaited($0, scene) }) else { return }
        scene.inspection.violate(.vainWaits, "another sleep waits in vain for \(scene.name(vain.instance))")
    }

    private func isThere(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        scene.slowFreezes.isLeft(record.instance, scene)
            || dying[record.instance]?.isNamed == false && endsLate(record.app)
    }

    private func isAwaited(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        if let dying = dying[record.instance] { return !dying.isNamed && !endsLate(record.app) }
        if scene.slowFreezes.isLeft(record.instance, scene) { return false }
        return !record.isAlive || !record.isFrozenHeard
    }

    /// Of several that it waited for each is to blame. One that it did not wait for, and that is named for it, is not
    /// beyond killing, before its own time is over.
    private func release(_ scene: Scene) {
        for (instance, last) in dying where scene.now - last.since < last.patience { dying[instance]?.isNamed = false }
        for (instance, dying) in dying where dying.isLate || scene.now - dying.since >= Self.inTime {
            if !dying.isForgotten { isLate(instance, scene) }
        }
        isReleased = false
        isPreparing = false
    }
}
