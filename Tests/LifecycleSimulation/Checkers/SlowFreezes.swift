internal import Lifecycle

/// Apps whose freezing took half a second and more at one of the last ten sleeps, though not longer than it may: a
/// sleep waits no longer than that half second for them. What was taken over together has that in common.
final class SlowFreezes {
    private static let promptly = Nanoseconds.milliseconds(500)

    private var freezing: [InstanceID: Nanoseconds] = [:]
    private var left: Set<InstanceID> = []
    /// The last sleep at which it was so.
    private var slow: [AppID: Int] = [:]
    private var slowAdopted: Int?
    private var adopted: Set<AppID> = []
    private var sleep = 0
    private var isPreparing = false
    private var isReleased = false

    func hear(_ event: Event, _ scene: Scene) {
        for (instance, since) in freezing { freezing[instance] = scene.freezing.later(since, scene) }
        switch event {
        case .process(.exited(let instance, _)): end(instance)
        case .process(.frozen(let instance)):
            if isPreparing, isLateWithinBound(instance, scene) { note(instance, scene) }
            end(instance)
        default: break
        }
    }

    func see(_ effect: Effect, _ scene: Scene) {
        switch effect {
        // A process that is taken over is an app of its own, whatever had that place before.
        case .process(.spawn(let app, _, .backgroundTask, _)):
            slow[app] = nil
            adopted.insert(app)
        case .process(.spawn(let app, _, _, _)): adopted.remove(app)
        case .process(.freeze(let instance)): freezing[instance] = scene.now
        case .process(.thaw(let instance)), .process(.kill(let instance)): end(instance)
        // Named before a sleep as what never freezes, it is no slow one.
        case .process(.reportStuck(let instance, .unfreezable)): if !isPreparing { end(instance) }
        case .note(.sleep(.preparing)):
            sleep = scene.board.core.sleepAge
            isPreparing = true
        case .note(.sleep(.released)): isReleased = true
        case .note(.sleep(.ended)): isPreparing = false
        default: break
        }
    }

    /// Whether no sleep waits for its freezing any more.
    func isLeft(_ instance: InstanceID, _ scene: Scene) -> Bool {
        if left.contains(instance) { return true }
        guard isPreparing, let since = freezing[instance], scene.now - since >= Self.promptly,
            let app = scene.board.directory.app(of: instance)
        else { return false }
        func isBefore(_ slow: Int?) -> Bool { slow.map { $0 + 10 >= sleep && $0 < sleep } == true }
        return isBefore(slow[app]) || adopted.contains(app) && isBefore(slowAdopted)
    }

    /// After all checkers.
    func finishStep(_ scene: Scene) {
        let new = freezing.keys.filter { !left.contains($0) && isLeft($0, scene) }
        for instance in new {
            left.insert(instance)
            note(instance, scene)
        }
        guard isReleased else { return }
        for instance in freezing.keys where isLateWithinBound(instance, scene) { note(instance, scene) }
        isReleased = false
        isPreparing = false
    }

    private func end(_ instance: InstanceID) {
        freezing[instance] = nil
        left.remove(instance)
    }

    private func isLateWithinBound(_ instance: InstanceID, _ scene: Scene) -> Bool {
        guard let since = freezing[instance] else { return false }
        return scene.now - since >= Self.promptly && scene.now - since < scene.freezing.bound(of: instance, scene)
    }

    private func note(_ instance: InstanceID, _ scene: Scene) {
        guard let app = scene.board.directory.app(of: instance) else { return }
        slow[app] = sleep
        if adopted.contains(app) { slowAdopted = sleep }
    }
}
