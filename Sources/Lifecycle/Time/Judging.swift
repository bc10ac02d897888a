// Time as the core sees it: what the clocks say of the board, and who is due.

extension Instance {
    /// What is overdue by so much is judged all the same, or a board that stalls again and again would never end a
    /// hanging app.
    static let longestReprieve = Nanoseconds.seconds(2)
}

extension DeviceLifecycle {
    /// A wake-up that comes later than this means that the board gave no time (a stopped VM, a sleep in which MONOTONIC
    /// ran on, a debugger).
    static let stallThreshold = Nanoseconds.milliseconds(250)
    /// After a stall no app is judged for so long: what the apps said meanwhile is still to be read.
    static let reprieve = Nanoseconds.milliseconds(250)
    /// BOOTTIME gaining this much on MONOTONIC means that the board slept; less is the time between two readings.
    static let sleepThreshold = Nanoseconds.milliseconds(500)

    /// heardFromLogin: the event at hand is logind's word that the board is awake.
    mutating func advanceClocks(to instant: Instant, _ heardFromLogin: Bool) {
        let last = now
        now = instant
        guard let wakeUp else { return }
        let late = now.monotonic - max(wakeUp.at, last.monotonic)
        if late > Self.stallThreshold {
            // Up to twice as much as it was late: when the stall began is not known, it may have been soon after the
            // last look, before the wake-up was due. A little of each wait always counts, or a board that is late every
            // time would never end a hanging app.
            let lost = late + min(late, max(wakeUp.at - last.monotonic - Self.stallThreshold, .zero))
            reprieveEnd = now.monotonic + Self.reprieve
            sleep.stage.change { (asleep: inout Asleep) in asleep.timeStopped += lost }
            for index in apps.indices where apps[index].hasInstance {
                apps[index].instance?.credit(lost)
                apps[index].instance?.creditFreezing(lost, at: now.monotonic)
                deadlineOfApp[index] = deadline(ofApp: index)
            }
            if runningCalls > 0 { emit(.note(.board(.stalled(lost)))) }
        }
        let slept = now.timeAsleep - last.timeAsleep
        if slept > Self.sleepThreshold { clocksTellOfSleep(slept, heardFromLogin: heardFromLogin) }
    }

    /// When the core wants to be woken, if nothing happens before, and why.
    public var nextDeadline: Deadline? { wakeUp.flatMap { $0.at == .max ? nil : $0 } }

    /// The earliest of all deadlines; of those that are due at the same moment, the first of this list.
    var earliestDeadline: Deadline {
        var next = Deadline.never
        next.consider(sleep.nextDeadline)
        next.consider(shutdown.nextDeadline)
        next.consider(conditionDeadline)
        next.consider(memory.nextDeadline)
        next.consider(watchdog.nextDeadline(mayRetry: mayRetryWatchdog))
        next.consider(login.nextDeadline)
        for deadline in deadlineOfApp { next.consider(deadline) }
        next.consider(now.monotonic + checkInterval, .stallCheck)
        return next
    }

    /// An app's own next deadline.
    func deadline(ofApp index: Int) -> Deadline {
        apps[index].nextDeadline(
            AppID(rawValue: index), canLaunch: canLaunch, freezeBound: nextFreezeBound(index), reprieveEnd: reprieveEnd)
    }

    /// Judges every app that is due, after the event at hand has been heard: it may have been the sign of life.
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
        judgeRestart(index)
        let isAlive = apps[index].instance?.isAlive == true
        if isAlive, let id = instanceID(index), apps[index].instance?.news.endQuiet(at: monotonic) == true {
            emit(.memory(.watchLimit(id)))
            touch(index)
        }
        let overdue = apps[index].instance?.overdue(at: monotonic, reprieveEnd: reprieveEnd)
        if let overdue { end(index, overdue) } else if isAlive { judgeLesserTimes(index) }
    }

    private mutating func end(_ index: Int, _ overdue: Instance.Overdue) {
        switch overdue {
        case .start: giveUpSpawn(index)
        case .budget: killForBudget(index)
        case .call(let call, _) where call.isStarting: giveUpStart(index, call)
        case .call(let call, let taken): overrun(index, call, taken: taken)
        case .exit(let allowance): overrunExit(index, allowance)
        case .liveness(let interval): kill(index, Cause(reason: .livenessMissed(interval: interval)))
        case .death: reportStuck(index, .unkillable)
        case .clearing:
            reportStuck(index, .unkillable)
            leaveBehind(index)
        }
    }

    /// What is over and ends no app, but for one that has held up sleep after sleep.
    private mutating func judgeLesserTimes(_ index: Int) {
        if apps[index].instance?.isKeepAwakeOver(at: now.monotonic) == true { spendKeepAwake(index) }
        if apps[index].instance?.isExpirationDue(lead: lead(index), at: now.monotonic) == true { touch(index) }
        if hasFrozenSlowly(apps[index]), apps[index].instance?.stopAwaitingFreeze(at: now.monotonic) == true {
            noteSlowFreeze(index)
            touch(index)
            touchNeighbours(index)
        }
        let bound = freezeBound(index)
        if apps[index].instance?.judgeFreezing(at: now.monotonic, bound: bound) == true {
            // It may have been named already, when the lock was released.
            touch(index)
            touchNeighbours(index)
            reportStuck(index, .unfreezable)
            endWhatIsStuckAgain(index)
        }
        judgeHeldLock(index)
    }
}
