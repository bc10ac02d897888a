// Time as the core sees it: what the clocks say of the board, and who is due.

extension DeviceLifecycle {
    /// A wake-up that comes later than this means that the board gave no time (a stopped VM, a sleep in which MONOTONIC
    /// ran on, a debugger).
    static let stallThreshold = Nanoseconds.milliseconds(250)
    /// While a handler's time runs, and while the kernel is about to sleep, the core looks at the clock this often,
    /// so that a stall in the middle of a long allowance is noticed too.
    static let stallCheckInterval = Nanoseconds.seconds(1)
    /// What runs for longer (liveness, budgets) is looked at less often, for the battery's sake: a stall that falls
    /// between two looks, and only such a one, is not noticed.
    static let longestCheckInterval = Nanoseconds.seconds(30)
    /// After a stall nobody is judged for so long: what the apps said meanwhile is still to be read.
    static let reprieve = Nanoseconds.milliseconds(250)
    /// Who is overdue by so much is judged all the same, or a board that stalls again and again would never end a
    /// hanging app.
    static let longestReprieve = Nanoseconds.seconds(2)
    /// BOOTTIME gaining this much on MONOTONIC means that the board slept; less is the time between two readings.
    static let sleepThreshold = Nanoseconds.milliseconds(500)

    /// heardFromLogin: the event at hand is logind's word that the board is awake.
    mutating func advanceClocks(to instant: Instant, _ heardFromLogin: Bool) {
        let last = now
        now = instant
        guard let asked else { return }
        let late = now.monotonic - max(asked.at, last.monotonic)
        if late > Self.stallThreshold {
            // When it began is not known: it may have been soon after the last look. A little always counts, or a board
            // that is late every time would never end a hanging app.
            let lost = late + min(late, max(asked.at - last.monotonic - Self.stallThreshold, .zero))
            reprieveEnd = now.monotonic + Self.reprieve
            sleep.stage.change { (nap: inout Nap) in nap.timeStopped += lost }
            for index in apps.indices where apps[index].instance != nil {
                apps[index].instance?.clock.credit(lost)
                deadlineOfApp[index] = deadline(ofApp: index)
            }
            if runningCalls > 0 { emit(.note(.board(.stalled(lost)))) }
        }
        let slept = now.timeAsleep - last.timeAsleep
        if slept > Self.sleepThreshold { didSleep(slept, heardFromLogin: heardFromLogin) }
    }

    /// When the core wants to be woken, if nothing happens before, and why.
    public var nextDeadline: Deadline? { asked.flatMap { $0.at == .max ? nil : $0 } }

    /// The earliest of all deadlines; of those that are due at the same moment, the first of this list.
    var earliestDeadline: Deadline {
        var next = Deadline.never
        next.consider(sleepDeadline)
        next.consider(shutdownDeadline)
        next.consider(conditionDeadline)
        next.consider(loginDeadline)
        for deadline in deadlineOfApp { next.consider(deadline) }
        next.consider(now.monotonic + checkInterval, .stallCheck)
        return next
    }

    /// How soon the core looks at the clock though nothing may be due; `.max`: it need not.
    private var checkInterval: Nanoseconds {
        if runningCalls > 0 || sleep.state == .asleep && !sleep.isLogical { return Self.stallCheckInterval }
        var interval = Nanoseconds.max
        for each in checkOfApp where each < interval { interval = each }
        return interval
    }

    /// The same for one app's longer times.
    func checkInterval(ofApp index: Int) -> Nanoseconds {
        guard let instance = apps[index].instance, !instance.clock.isStopped else { return .max }
        if instance.stage == .spawning { return Self.stallCheckInterval }
        guard instance.isAlive else { return .max }
        var span = Nanoseconds.max
        if instance.livenessDue != nil, let interval = apps[index].policy.liveness { span = min(span, interval) }
        if instance.poolEnd != nil, let pool = apps[index].pool { span = min(span, pool.size) }
        for task in instance.tasks where !task.isOver {
            if let limit = task.limit { span = min(span, limit - task.begun) }
        }
        if instance.lockEnd != nil { span = min(span, limited(apps[index].policy.taskBudget)) }
        if span == .max { return .max }
        return min(max(span / 10, Self.stallCheckInterval), Self.longestCheckInterval)
    }

    /// An app's own next deadline.
    func deadline(ofApp index: Int) -> Deadline {
        let id = AppID(rawValue: index)
        var next = Deadline.never
        if canLaunch {
            next.consider(apps[index].launch.restart.due, .restart(id))
            next.consider(apps[index].launchIfDenied?.restart.due, .restart(id))
        }
        guard let instance = apps[index].instance else { return next }
        switch instance.stage {
        case .spawning:
            next.consider(judgement(instance, instance.startedAt + Self.spawnBound), .spawn(id))
        case .running, .stopping:
            if let call = instance.call {
                next.consider(judgement(instance, call.deadline), .handler(id, call.call.handler))
            }
            if let due = instance.stop?.exitDue { next.consider(judgement(instance, due), .exit(id)) }
            if let due = instance.livenessDue { next.consider(judgement(instance, due), .liveness(id)) }
            next.consider(instance.limitQuietEnd, .memoryLimit(id))
            if let due = instance.poolEnd { next.consider(judgement(instance, due), .taskBudget(id)) }
            if let due = instance.lockEnd { next.consider(instance.clock.moment(of: due), .keepAwakeBudget(id)) }
            if let due = expirationDue(index, instance) {
                next.consider(instance.clock.moment(of: due), .taskExpiration(id))
            }
            if instance.freezer == .freezing { next.consider(instance.waitingSince + Self.freezeBound, .freeze(id)) }
        case .killing:
            if !instance.isNamed { next.consider(instance.waitingSince + Self.killBound, .clearing(id)) }
        case .clearing:
            if !instance.isNamed { next.consider(instance.waitingSince + Self.clearBound, .clearing(id)) }
        }
        return next
    }

    /// When an app is judged for a reading of its clock; nil while that stands still.
    private func judgement(_ instance: Instance, _ due: Nanoseconds) -> Nanoseconds? {
        instance.clock.moment(of: due).map { max($0, min($0 + Self.longestReprieve, reprieveEnd)) }
    }

    /// Judges everybody who is due, after the event at hand has been heard: it may have been the sign of life.
    mutating func judge() {
        for index in apps.indices where deadlineOfApp[index].at <= now.monotonic || apps[index].isTouched {
            judge(index)
        }
        judgeLogin()
        judgeSleep()
        judgeShutdown()
    }

    private mutating func judge(_ index: Int) {
        let monotonic = now.monotonic
        if canLaunch,
            apps[index].launch.isRestartDue(at: monotonic)
                || apps[index].launchIfDenied?.isRestartDue(at: monotonic) == true
        {
            let reason = apps[index].lastTermination?.reason
            apps[index].changeLaunch { $0.judgeRestart(at: monotonic, after: reason) }
            touch(index)
        }
        guard let instance = apps[index].instance else { return }
        switch instance.stage {
        case .spawning:
            if judgement(instance, instance.startedAt + Self.spawnBound) ?? .max <= monotonic { giveUpSpawn(index) }
        case .running, .stopping: judgeAlive(index, instance)
        case .killing where !instance.isNamed && instance.waitingSince + Self.killBound <= monotonic:
            nameCulprits(index, .unkillable)
        case .clearing where !instance.isNamed && instance.waitingSince + Self.clearBound <= monotonic:
            nameCulprits(index, .unkillable)
            forget(index)
        case .killing, .clearing: break
        }
    }

    private mutating func judgeAlive(_ index: Int, _ instance: Instance) {
        func isOver(_ due: Nanoseconds) -> Bool { judgement(instance, due) ?? .max <= now.monotonic }
        if let end = instance.limitQuietEnd, end <= now.monotonic {
            apps[index].instance?.limitQuietEnd = nil
            emit(.memory(.watchLimit(instance.id)))
            touch(index)
        }
        // The event at hand may have ended the last task.
        if let due = instance.poolEnd, isOver(due), !instance.tasks.isEmpty { return spendBudget(index, instance) }
        if let call = instance.call, isOver(call.deadline) {
            return overrun(index, call, taken: instance.clock.reading(at: now.monotonic) - call.issued)
        }
        if let stop = instance.stop, let due = stop.exitDue, isOver(due) {
            return kill(index, Cause(reason: .exitOverrun(allowance: stop.exitAllowance)))
        }
        if let due = instance.livenessDue, isOver(due), let interval = apps[index].policy.liveness {
            return kill(index, Cause(reason: .livenessMissed(interval: interval)))
        }
        if let due = instance.lockEnd, instance.clock.moment(of: due) ?? .max <= now.monotonic { spendLockTime(index) }
        if let due = expirationDue(index, instance), instance.clock.moment(of: due) ?? .max <= now.monotonic {
            touch(index)
        }
        if instance.freezer == .freezing, instance.waitingSince + Self.freezeBound <= now.monotonic {
            apps[index].instance?.freezer = .stuck
            // It may have been named already, when the lock was released.
            touch(index)
            touchNeighbours(index)
            nameCulprits(index, .unfreezable)
        }
    }
}
