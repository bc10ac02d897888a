internal import Lifecycle

/// How long freezing may take: 2 s; half as long in the ten sleeps after one in which it has taken an app too long, and
/// half of that after the next, which is the least; of all that was taken over together. A sleep counts in which that
/// became so before the board slept, or that was released while it was.
final class FreezeTimes {
    private struct Freezing {
        let instance: InstanceID
        var since: Nanoseconds
        var isStuck = false
    }

    struct Counted {
        let instance: InstanceID
        let app: AppID
        /// The sleep before counts too, or two of the ten before.
        let isAgain: Bool
    }

    private var freezing: [Freezing] = []
    private var rows: [AppID: OverdueRow] = [:]
    private var adopted: Set<AppID> = []
    private var rowOfAdopted: OverdueRow?
    private var killed: Set<InstanceID> = []
    /// In this step, without a word on their freezing: for that, or for another reason, which their report will tell.
    private var killedUnnamed: Set<InstanceID> = []
    /// What was counted of them, as it was before.
    private var doubtful: [InstanceID: (row: OverdueRow?, ofAdopted: OverdueRow?)] = [:]
    /// Thawed in this step, as it ended the sleep in which they were named.
    private var thawed: Set<InstanceID> = []
    private(set) var sleep = 0
    private var isPreparing = false
    private var isReleased = false
    /// In this step, be it a second time: a logical sleep has become logind's.
    private var isLockReleased = false
    private var hasSlept = false
    /// Named in this step, before it ended the sleep.
    private var named: Set<InstanceID> = []
    /// The same, in a sleep or not.
    private var said: Set<InstanceID> = []
    /// The sleep before the one that has begun in this step.
    private var former: Int?
    private var asleepBefore: Nanoseconds?
    private var lastLook: Nanoseconds?
    /// What the board may not have given since the step before.
    private var lost = Nanoseconds.zero
    private var story = SleepStory()

    func bound(of instance: InstanceID, _ scene: Scene) -> Nanoseconds { bound(of: instance, inSleep: sleep, scene) }

    private func bound(of instance: InstanceID, inSleep sleep: Int, _ scene: Scene) -> Nanoseconds {
        guard let app = scene.board.directory.app(of: instance) else { return .seconds(2) }
        let shared = adopted.contains(app) ? rowOfAdopted : nil
        return min(rows[app]?.bound(in: sleep) ?? .seconds(2), shared?.bound(in: sleep) ?? .seconds(2))
    }

    func hear(_ event: Event, _ scene: Scene) {
        let asleep = scene.step.at.boottime - scene.step.at.monotonic
        let slept = asleep - (asleepBefore ?? asleep) > .milliseconds(500)
        // A stall may have been a sleep.
        if slept || scene.times.excess > .zero, story.stage == .asleep, !story.isLogical { hasSlept = true }
        asleepBefore = asleep
        lost = .zero
        if scene.times.excess > .zero, let asked = scene.step.askedBefore?.at, let lastLook {
            let late = scene.times.excess + .milliseconds(250)
            lost = late + min(late, max(asked - lastLook - .milliseconds(250), .zero))
        }
        lastLook = scene.now
        for index in freezing.indices { freezing[index].since = later(freezing[index].since, scene) }
        story.hear(event, scene)
        switch event {
        case .process(.frozen(let instance)), .process(.exited(let instance, _)): end(instance)
        default: break
        }
    }

    /// Time that the board did not give counts for nothing; a moment before the event at hand, counted so.
    func later(_ since: Nanoseconds, _ scene: Scene) -> Nanoseconds { min(since + lost, scene.now) }

    private func end(_ instance: InstanceID) { freezing.removeAll { $0.instance == instance } }

    func see(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        // A process that is taken over is an app of its own, whatever had that place before.
        case .process(.spawn(let app, _, .backgroundTask, _)):
            rows[app] = nil
            adopted.insert(app)
        case .process(.spawn(let app, _, _, _)): adopted.remove(app)
        case .process(.freeze(let instance)): freezing.append(Freezing(instance: instance, since: scene.now))
        case .process(.thaw(let instance)):
            if named.contains(instance) { thawed.insert(instance) } else { end(instance) }
        case .process(.kill(let instance)):
            killed.insert(instance)
            if !said.contains(instance) { killedUnnamed.insert(instance) }
        case .report(let end) where end.reason != .unfreezable: takeBack(end)
        case .note(.sleep(.preparing)):
            former = former ?? sleep
            sleep = scene.board.core.sleepAge
            isPreparing = true
            hasSlept = false
        case .note(.sleep(.released)): isReleased = true
        // One that came too late is given back.
        case .login(.releaseLock(.sleep)): isLockReleased = scene.step.event != .login(.lockTaken(.sleep))
        case .process(.reportStuck(let instance, .unfreezable)):
            said.insert(instance)
            if isPreparing { named.insert(instance) }
        case .note(.sleep(.ended)): isPreparing = false
        default: break
        }
    }

    /// It was killed for another reason before that could be counted.
    private func takeBack(_ end: Termination) {
        guard let before = doubtful.removeValue(forKey: end.instance), rows[end.app]?.last == sleep else { return }
        rows[end.app] = before.row
        if adopted.contains(end.app) { rowOfAdopted = before.ofAdopted }
    }

    /// As far as is known, the board has not slept yet in the present sleep.
    var isYetToCome: Bool {
        let isReleasedBefore = story.stage == .asleep && !isReleased
        return isPreparing || isReleasedBefore && !story.isLogical && !hasSlept
    }

    /// Those that this step counts.
    func counted(_ scene: Scene) -> [Counted] {
        let isYetToCome = isYetToCome
        return freezing.compactMap { each in
            guard isYetToCome || named.contains(each.instance) else { return nil }
            let isOver = isOver(each, scene)
            guard each.isStuck || isOver, isOver != each.isStuck || isReleased || isLockReleased,
                let app = scene.board.directory.app(of: each.instance), rows[app]?.last != sleep
            else { return nil }
            return Counted(instance: each.instance, app: app, isAgain: OverdueRow.isTooMuch(rows[app], sleep))
        }
    }

    /// A sleep that begins may leave it less time, which the same step need not judge.
    private func isOver(_ each: Freezing, _ scene: Scene) -> Bool {
        let time = scene.now - each.since
        guard time >= bound(of: each.instance, scene) else { return false }
        guard let former, !said.contains(each.instance), !killed.contains(each.instance) else { return true }
        return time >= bound(of: each.instance, inSleep: former, scene)
    }

    /// After all checkers.
    func finishStep(_ scene: Scene) {
        let counted = counted(scene)
        for index in freezing.indices where isOver(freezing[index], scene) { freezing[index].isStuck = true }
        for each in counted {
            if killedUnnamed.contains(each.instance) { doubtful[each.instance] = (rows[each.app], rowOfAdopted) }
            rows[each.app] = .after(rows[each.app], sleep)
            if adopted.contains(each.app) { rowOfAdopted = .after(rowOfAdopted, sleep) }
        }
        freezing.removeAll { killed.contains($0.instance) || thawed.contains($0.instance) }
        (killed, killedUnnamed, thawed) = ([], [], [])
        (named, said) = ([], [])
        former = nil
        if isReleased { isPreparing = false }
        isReleased = false
        isLockReleased = false
    }
}
