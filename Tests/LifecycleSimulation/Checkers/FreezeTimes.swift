internal import Lifecycle

/// How long freezing may take: 2 s; half as long in the sleep after one in which it has taken an app too long, and so
/// on down to 500 ms. A sleep counts in which that became so before the board slept, or that was released while it was.
final class FreezeTimes {
    private struct Freezing {
        let instance: InstanceID
        let since: Nanoseconds
        var isStuck = false
    }

    private struct Row {
        /// The last sleep that counts, and how many in a row.
        var last: Int
        var sleeps = 1
    }

    struct Counted {
        let instance: InstanceID
        let app: AppID
        /// The sleep before counts too.
        let isAgain: Bool
    }

    private var freezing: [Freezing] = []
    private var rows: [AppID: Row] = [:]
    private var killed: Set<InstanceID> = []
    private(set) var sleep = 0
    private var isPreparing = false
    private var isReleased = false
    /// In this step, be it a second time: a logical sleep has become logind's.
    private var isLockReleased = false
    private var hasSlept = false
    private var asleepBefore: Nanoseconds?
    private var story = SleepStory()

    func bound(of instance: InstanceID, _ scene: Scene) -> Nanoseconds {
        guard let app = scene.board.directory.app(of: instance), let row = rows[app], row.last >= sleep - 1 else {
            return .seconds(2)
        }
        return row.sleeps == 1 ? .seconds(1) : .milliseconds(500)
    }

    func hear(_ event: Event, _ scene: Scene) {
        let asleep = scene.step.at.boottime - scene.step.at.monotonic
        let slept = asleep - (asleepBefore ?? asleep) > .milliseconds(500)
        // A stall may have been a sleep.
        if slept || scene.times.excess > .zero, story.stage == .asleep, !story.isLogical { hasSlept = true }
        asleepBefore = asleep
        story.hear(event, scene)
        switch event {
        case .process(.frozen(let instance)), .process(.exited(let instance, _)): end(instance)
        default: break
        }
    }

    private func end(_ instance: InstanceID) { freezing.removeAll { $0.instance == instance } }

    func see(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        // A process that is taken over is an app of its own, whatever had that place before.
        case .process(.spawn(let app, _, .backgroundTask, _)): rows[app] = nil
        case .process(.freeze(let instance)): freezing.append(Freezing(instance: instance, since: scene.now))
        case .process(.thaw(let instance)): end(instance)
        case .process(.kill(let instance)): killed.insert(instance)
        case .note(.sleep(.preparing(let id, _))):
            sleep = id
            isPreparing = true
            hasSlept = false
        case .note(.sleep(.released)): isReleased = true
        case .login(.releaseLock(.sleep)): isLockReleased = true
        case .note(.sleep(.ended)): isPreparing = false
        default: break
        }
    }

    /// Those that this step counts.
    func counted(_ scene: Scene) -> [Counted] {
        let isReleasedBefore = story.stage == .asleep && !isReleased
        guard isPreparing || isReleasedBefore && !story.isLogical && !hasSlept else { return [] }
        return freezing.compactMap { each in
            let isOver = isOver(each, scene)
            guard each.isStuck || isOver, isOver != each.isStuck || isReleased || isLockReleased,
                let app = scene.board.directory.app(of: each.instance), rows[app]?.last != sleep
            else { return nil }
            return Counted(instance: each.instance, app: app, isAgain: rows[app]?.last == sleep - 1)
        }
    }

    private func isOver(_ each: Freezing, _ scene: Scene) -> Bool {
        scene.now - each.since >= bound(of: each.instance, scene)
    }

    /// After all checkers.
    func finishStep(_ scene: Scene) {
        let counted = counted(scene)
        for index in freezing.indices where isOver(freezing[index], scene) { freezing[index].isStuck = true }
        for each in counted {
            rows[each.app] = Row(last: sleep, sleeps: each.isAgain ? (rows[each.app]?.sleeps ?? 0) + 1 : 1)
        }
        freezing.removeAll { killed.contains($0.instance) }
        killed = []
        if isReleased { isPreparing = false }
        isReleased = false
        isLockReleased = false
    }
}
