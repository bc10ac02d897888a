import Lifecycle

/// An app that could not be frozen within 2 s at two sleeps in a row, whichever instance it was, is killed by the
/// release of the second, and for that reason nothing else is. A sleep counts in which that became so, or that was
/// released while it was.
final class StuckAgainChecker: Checker {
    static let hears: [EventKind]? = [.frozen, .exited]
    static let sees: [EffectKind]? = [.freeze, .thaw, .kill, .report, .sleepNotice]
    private static let bound = Nanoseconds.seconds(2)

    private struct Freezing {
        let instance: InstanceID
        let since: Nanoseconds
        var isStuck = false
    }

    private var freezing: [Freezing] = []
    /// The last sleep that counts.
    private var lastSleep: [AppID: Int] = [:]
    private var killed: Set<InstanceID> = []
    private var justified: Set<InstanceID> = []
    private var sleep = 0
    private var isPreparing = false
    private var isReleased = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .process(.frozen(let instance)), .process(.exited(let instance, _)): end(instance)
        default: break
        }
    }

    private func end(_ instance: InstanceID) { freezing.removeAll { $0.instance == instance } }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.freeze(let instance)): freezing.append(Freezing(instance: instance, since: scene.now))
        case .process(.thaw(let instance)): end(instance)
        case .process(.kill(let instance)): killed.insert(instance)
        case .report(let end) where end.reason == .unfreezable && !justified.contains(end.instance):
            violate("\(scene.name(end.instance)) is killed as unfreezable, and was not so twice", scene)
        case .note(.sleep(.preparing(let id, _))):
            sleep = id
            isPreparing = true
        case .note(.sleep(.released)): isReleased = true
        case .note(.sleep(.ended)): isPreparing = false
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for index in freezing.indices {
            let instance = freezing[index].instance
            let becameStuck = !freezing[index].isStuck && scene.now - freezing[index].since >= Self.bound
            if becameStuck { freezing[index].isStuck = true }
            guard isPreparing, freezing[index].isStuck, becameStuck || isReleased else { continue }
            count(instance, scene)
        }
        freezing.removeAll { killed.contains($0.instance) }
        if isReleased { isPreparing = false }
        isReleased = false
    }

    private func count(_ instance: InstanceID, _ scene: Scene) {
        guard let app = scene.board.directory.app(of: instance),
            let last = lastSleep.updateValue(sleep, forKey: app), last == sleep - 1
        else { return }
        if killed.contains(instance) {
            justified.insert(instance)
        } else {
            violate("\(scene.name(instance)) is left in sleep \(sleep), though it never freezes", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.stuckAgain, message) }
}
