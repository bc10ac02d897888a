internal import Lifecycle

/// What cannot be frozen in time (`FreezeTimes`), or killed within 5 s, or cleared away within 10 s is named then, and
/// not before but at the release of a sleep. What cannot be cleared away is given up, and its app started anew: one
/// that has left an instance so waits for the end of the next.
final class CulpritChecker: Checker {
    static let hears: [EventKind]? = nil
    static let sees: [EffectKind]? = [
        .spawn, .freeze, .thaw, .kill, .clear, .reportStuck, .report, .releaseLock, .sleepNotice, .endNotice,
    ]

    private enum Work { case freezing, killing, clearing }
    private struct Watch {
        let instance: InstanceID
        let work: Work
        var since: Nanoseconds
        var isOver = false
        var wasNamed = false

        func bound(_ scene: Scene) -> Nanoseconds {
            switch work {
            case .freezing: scene.freezing.bound(of: instance, scene)
            case .killing: .seconds(5)
            case .clearing: .seconds(10)
            }
        }
    }

    private var watches: [Watch] = []
    /// Given up, and not gone; and the one after it.
    private var leftovers: [AppID: InstanceID] = [:]
    private var seconds: [AppID: InstanceID] = [:]
    /// Nothing is left of them, or is waited for.
    private var gone: [InstanceID] = []
    private var named: [(instance: InstanceID, stuck: Stuck, watch: Watch?)] = []
    private var isReleased = false
    /// A sleep has begun in this step, which may leave less time: what that ends is named at the next.
    private var hasBegun = false
    /// Of those that were on their way out as a shutdown was cancelled, or were named before they had come up, nothing
    /// can be told any more.
    private var vague: [InstanceID] = []

    private func watch(_ instance: InstanceID, _ work: Work, _ scene: Scene) {
        // What comes late is killed and cleared away again, and not waited for.
        if gone.contains(instance) || vague.contains(instance) { return }
        // What is killed again as it came up late is being cleared away all the same.
        if watches.contains(where: { $0.instance == instance && $0.work == .clearing }) { return }
        // What is asked again by another loop is waited for since it was asked first.
        if case .process(.regained) = scene.step.event,
            watches.contains(where: { $0.instance == instance && $0.work == work })
        {
            return
        }
        watches.removeAll { $0.instance == instance }
        watches.append(Watch(instance: instance, work: work, since: scene.now))
    }

    func heard(_ event: Event, _ scene: Scene) {
        for index in watches.indices where watches[index].work == .freezing {
            watches[index].since = scene.freezing.later(watches[index].since, scene)
        }
        switch event {
        case .process(.frozen(let instance)): watches.removeAll { $0.instance == instance && $0.work == .freezing }
        case .process(.exited(let instance, _)): watches.removeAll { $0.instance == instance && $0.work != .clearing }
        case .process(.groupEmptied(let instance)) where leftovers.values.contains(instance):
            for (app, leftover) in leftovers where leftover == instance {
                leftovers[app] = seconds.removeValue(forKey: app)
            }
        case .process(.groupEmptied(let instance)), .process(.spawnFailed(let instance, _, _)):
            for (app, second) in seconds where second == instance { seconds[app] = nil }
            guard watches.contains(where: { $0.instance == instance && $0.work == .clearing }) else { return }
            watches.removeAll { $0.instance == instance }
            gone.append(instance)
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, let instance, let reason, _)):
            if reason == .backgroundTask { (leftovers[app], seconds[app]) = (nil, nil) }
            if seconds[app] != nil { violate("\(scene.name(instance)) is a third beside two that are not gone", scene) }
        case .process(.freeze(let instance)): watch(instance, .freezing, scene)
        case .process(.thaw(let instance)): watches.removeAll { $0.instance == instance && $0.work == .freezing }
        case .process(.kill(let instance)): watch(instance, .killing, scene)
        case .process(.clear(let instance)): watch(instance, .clearing, scene)
        case .note(.shutdown(.cancelled)):
            vague += watches.map(\.instance) + gone
            watches = []
            isReleased = true
        case .login(.releaseLock), .note(.sleep(.released)): isReleased = true
        case .note(.sleep(.preparing)): hasBegun = true
        case .process(.reportStuck(let instance, let stuck)):
            judgeStart(instance, stuck, scene)
            let index = watches.firstIndex { $0.instance == instance }
            named.append((instance, stuck, index.map { watches[$0] }))
            if let index { watches[index].wasNamed = true }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        // A release names all that is not still; so does the end of the time for a shutdown.
        if !isReleased, !scene.chronicle.isEnding {
            for name in named where !vague.contains(name.instance) {
                judge(name.instance, name.stuck, name.watch, scene)
            }
        }
        for name in named where name.watch == nil && scene.chronicle.record(name.instance)?.isSpawned == false {
            vague.append(name.instance)
        }
        defer { hasBegun = false }
        for index in watches.indices
        where !hasBegun && scene.now - watches[index].since >= watches[index].bound(scene) {
            defer { watches[index].isOver = true }
            let instance = watches[index].instance
            guard !watches[index].isOver, !watches[index].wasNamed else { continue }
            violate("\(scene.name(instance)) is \(watches[index].work) for too long, and not named", scene)
        }
        for watch in watches where watch.isOver && watch.work == .clearing && !isReleased && !scene.chronicle.isEnding {
            guard scene.now - watch.since >= watch.bound(scene),
                let app = scene.board.directory.app(of: watch.instance)
            else { continue }
            let isWaitedFor = scene.board.core.view(of: app)?.instance == watch.instance
            if scene.chronicle.record(watch.instance)?.isGivenUp != true {
                if leftovers[app] == nil { leftovers[app] = watch.instance } else { seconds[app] = watch.instance }
            }
            guard isWaitedFor != (seconds[app] == watch.instance) else { continue }
            violate("\(scene.name(watch.instance)) cannot be cleared away, and is waited for", scene)
        }
        for watch in watches where watch.work == .clearing && watch.isOver { gone.append(watch.instance) }
        watches.removeAll { $0.work == .clearing && $0.isOver }
        named = []
        isReleased = false
    }

    /// What has not come up yet was neither frozen nor killed.
    private func judgeStart(_ instance: InstanceID, _ stuck: Stuck, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance) else { return }
        let isStarting = !record.isSpawned && !record.spawnFailed && !record.isGivenUp
        if (stuck == .unstarted) != isStarting { violate("\(scene.name(instance)) is said to be \(stuck)", scene) }
    }

    private func judge(_ instance: InstanceID, _ stuck: Stuck, _ watch: Watch?, _ scene: Scene) {
        guard let watch else { return violate("\(scene.name(instance)) is named, and nothing is awaited of it", scene) }
        if watch.isOver { violate("\(scene.name(instance)) is named twice", scene) }
        if scene.now - watch.since < watch.bound(scene) {
            violate("\(scene.name(instance)) is named after \((scene.now - watch.since).text)", scene)
        }
        if (stuck == .unfreezable) != (watch.work == .freezing) {
            violate("\(scene.name(instance)) is \(stuck), and is \(watch.work)", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.culprits, message) }
}
