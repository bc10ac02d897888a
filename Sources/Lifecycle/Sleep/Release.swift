// The lock is released, and the board is awake again.

extension DeviceLifecycle {
    /// Lets the board sleep once every app is ready, or at the latest moment.
    mutating func advanceSleep() {
        if sleep.state == .darkWake { return advanceDarkWake() }
        guard let preparation = sleep.preparation, touched.isEmpty else { return }
        let isLate = preparation.release <= now.monotonic
        guard sleep.unsettled == 0 || isLate else { return startGrace(preparation) }
        // The board may be asleep as soon as the lock is gone.
        let alarm = alarmToSet
        if let alarm { emit(.sleep(.setWakeAlarm(alarm))) }
        restWatchdogs()
        // An operator's sleep is no real one yet: logind may still announce that.
        if !sleep.isLogical, !sleep.isDoubtful { setSleepHandled(true) }
        releaseForSleep()
        sleep.stage = .asleep(
            Nap(
                released: now, overtime: preparation.overtime, alarm: alarm,
                question: sleep.isLogical ? .none : .due(now.monotonic + Self.cancellationDelay)))
        emit(
            .note(
                .sleep(
                    .released(
                        sleep: sleep.id, elapsed: now.monotonic - sleep.since, killed: sleep.killed.count))))
        answer(preparation.waiting)
        touchAll()
    }

    mutating func setSleepHandled(_ isHandled: Bool) {
        guard sleep.isHandled != isHandled else { return }
        sleep.isHandled = isHandled
        emit(.sleep(.handled(isHandled)))
    }

    /// Background tasks are given no more than this once nothing else holds the sleep up.
    private mutating func startGrace(_ preparation: Preparation) {
        guard preparation.graceEnd == nil, !preparation.overtime.isAllowanceOver else { return }
        for index in apps.indices where !apps[index].isSettledForSleep {
            guard let instance = apps[index].instance, instance.isReadyInBackground, instance.freezer == .thawed else {
                return
            }
        }
        let end = now.monotonic + policy.taskGrace
        sleep.stage.change { (preparation: inout Preparation) in preparation.graceEnd = end }
    }

    /// Who still runs by then is named: the lock is never kept for it.
    mutating func releaseForSleep() {
        let isFreed = sleep.isAnnouncedByLogin && login.locks[.sleep] == .held
        if sleep.unsettled > 0, sleep.state == .preparing || isFreed { nameUnsettled() }
        guard isFreed else { return }
        // It may have been armed since.
        restWatchdogs()
        releaseLock(.sleep)
    }

    private mutating func nameUnsettled() {
        for index in apps.indices where !apps[index].isSettledForSleep {
            guard let instance = apps[index].instance else { continue }
            // Its freezing begins at this very moment, after a stall: judged when that has had its time.
            let isAlive = instance.isAlive
            if isAlive, instance.freezer == .freezing, instance.waitingSince == now.monotonic { continue }
            apps[index].instance?.unname()
            nameCulprits(index, isAlive ? .unfreezable : .unkillable)
            // That a sleep did not wait for its end does not mean that it is beyond killing.
            if !isAlive { apps[index].instance?.unname() }
        }
    }

    /// All apps come back to where they were: servers thaw before their clients.
    mutating func endSleep(cancelled: Bool, heardFromLogin: Bool) {
        guard sleep.state != .awake else { return }
        let hadAlarm = sleep.nap?.alarm != nil
        emit(.note(.sleep(.ended(sleep: sleep.id, outcome(cancelled: cancelled)))))
        answer(sleep.preparation?.waiting ?? [], isCalledOff: outcome(cancelled: cancelled) != .slept)
        if sleep.state == .darkWake {
            // What was refused then can be had now.
            login.forgetRefusal()
        } else {
            leaveSleep(heardFromLogin: heardFromLogin)
        }
        sleep.stage = .awake
        sleep.formerEnd = now.boottime
        if hadAlarm { emit(.sleep(.setWakeAlarm(nil))) }
        conditions.restWish.postpone(at: now.monotonic)
        for index in apps.indices.sorted(by: { (apps[$0].level, $0) < (apps[$1].level, $1) }) {
            apps[index].instance?.forgetSleep()
            settleFreezer(index)
        }
        touchAll()
    }

    private func outcome(cancelled: Bool) -> SleepOutcome {
        switch sleep.state {
        case .awake: .cancelled
        case .preparing: sleep.isSlept || sleep.kernelSlept == true ? .slept : .cancelled
        case .asleep: hasReallySlept ? .slept : cancelled ? .cancelled : .failed
        case .darkWake: .slept
        }
    }

    /// Whether the kernel has slept since the release: that a sleep was announced is no proof. Where the kernel does
    /// not count its sleeps the clocks tell; one that it refuses after it has stopped all processes looks like a short
    /// one.
    private var hasReallySlept: Bool {
        if sleep.isSlept { return true }
        guard sleep.state == .asleep || sleep.state == .preparing else { return false }
        if let kernelSlept = sleep.kernelSlept, !sleep.isLogical { return kernelSlept }
        guard let nap = sleep.nap else { return false }
        return sleep.isLogical || nap.timeStopped > Self.stallThreshold
            || now.timeAsleep - nap.released.timeAsleep > Self.sleepThreshold
    }

    /// What a sleep leaves behind, and the lock for the next one.
    mutating func leaveSleep(heardFromLogin: Bool) {
        setSleepHandled(false)
        let hasSlept = hasReallySlept
        if hasSlept { didSleepFor(now.boottime - (sleep.nap?.released ?? now).boottime) }
        let wasHeld = sleep.state == .preparing && login.locks[.sleep] == .held
        sleep.isDoubtful = false
        login.forgetRefusal()
        if heardFromLogin { sleep.echo = .none }
        // Also where an operator has announced it: logind's own job may be a part of it.
        let mayBeLogins = sleep.isAnnouncedByLogin || hasSlept && !sleep.isLogical
        if mayBeLogins, login.isAvailable {
            if !heardFromLogin {
                expectEnd()
            } else if wasHeld {
                sleep.echo = .cancellation
                readPreparing()
            }
        }
        sleep.stage = .awake
        // logind would refuse it until it says itself that the sleep is over.
        if sleep.echo == .end { expectEnd() } else { takeLock(.sleep) }
    }

    /// The board has really slept, for so long.
    mutating func didSleepFor(_ time: Nanoseconds) {
        refillLockTime()
        if time >= Self.refillingSleep { refillPools() }
        // An app that was not frozen could not give a sign of life all the same.
        for index in apps.indices where apps[index].instance?.livenessDue != nil { armLiveness(index) }
    }

    private mutating func answer(_ sleepers: [Sleeper], isCalledOff: Bool = false) {
        let ready = SleepAnswer.ready(sleep: sleep.id, killed: sleep.killed)
        for sleeper in sleepers {
            reply(sleeper.id, .sleep(isCalledOff && !sleeper.isHook ? .denied(.sleepCalledOff) : ready))
        }
    }
}
