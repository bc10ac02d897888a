// The lock is released, and the board is awake again.

extension DeviceLifecycle {
    /// Lets the board sleep once every app is ready, or at the latest moment.
    mutating func advanceSleep() {
        if sleep.state == .darkWake { return advanceDarkWake() }
        guard sleep.state == .preparing, touched.isEmpty else { return }
        let isLate = sleep.release <= now.monotonic
        guard sleep.unsettled == 0 || isLate else { return startGrace() }
        // The board may be asleep as soon as the lock is gone.
        setAlarm()
        restWatchdogs()
        // An operator's sleep is none yet: somebody may still announce a real one.
        if !sleep.isLogical, !sleep.isDoubtful { setSleepHandled(true) }
        releaseForSleep()
        sleep.state = .asleep
        sleep.released = now
        sleep.recheckAt = sleep.isLogical ? nil : now.monotonic + Self.cancellationDelay
        emit(
            .note(
                .sleep(
                    .released(
                        sleep: sleep.id, elapsed: now.monotonic - sleep.since, killed: sleep.killed.count))))
        answerSleepers()
        touchAll()
    }

    mutating func setSleepHandled(_ isHandled: Bool) {
        guard sleep.isHandled != isHandled else { return }
        sleep.isHandled = isHandled
        emit(.sleep(.handled(isHandled)))
    }

    /// Background tasks are given no more than this once nothing else holds the sleep up.
    private mutating func startGrace() {
        guard sleep.graceEnd == nil, !sleep.isAllowanceOver else { return }
        for index in apps.indices where !apps[index].isSettledForSleep {
            guard let instance = apps[index].instance, instance.isReadyInBackground, instance.freezer == .thawed else {
                return
            }
        }
        sleep.graceEnd = now.monotonic + policy.taskGrace
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
            apps[index].instance?.isNamed = false
            nameCulprits(index, isAlive ? .unfreezable : .unkillable)
            // That a sleep did not wait for its end does not mean that it is beyond killing.
            if !isAlive { apps[index].instance?.isNamed = false }
        }
    }

    /// Everybody comes back to where they were: servers thaw before their clients.
    mutating func endSleep(cancelled: Bool, heardFromLogin: Bool) {
        guard sleep.state != .awake else { return }
        emit(.note(.sleep(.ended(sleep: sleep.id, outcome(cancelled: cancelled)))))
        answerSleepers(isCalledOff: outcome(cancelled: cancelled) != .slept)
        if sleep.state == .darkWake {
            // What was refused then can be had now.
            login.isKeepAwakeRefused = false
        } else {
            leaveSleep(heardFromLogin: heardFromLogin)
        }
        sleep.state = .awake
        sleep.formerEnd = now.boottime
        clearAlarm()
        postponeRest()
        for index in apps.indices.sorted(by: { (apps[$0].level, $0) < (apps[$1].level, $1) }) {
            apps[index].instance?.freezeReasons.remove(.sleep)
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
        guard sleep.state == .asleep else { return false }
        return sleep.isLogical || sleep.timeStopped > Self.stallThreshold
            || now.timeAsleep - sleep.released.timeAsleep > Self.sleepThreshold
    }

    /// What a sleep leaves behind, and the lock for the next one.
    mutating func leaveSleep(heardFromLogin: Bool) {
        setSleepHandled(false)
        let hasSlept = hasReallySlept
        if hasSlept { didSleepFor(sleep.state == .asleep ? now.boottime - sleep.released.boottime : .zero) }
        let wasHeld = sleep.state == .preparing && login.locks[.sleep] == .held
        sleep.recheckAt = nil
        sleep.isEndAsked = false
        sleep.isDoubtful = false
        sleep.isAllowanceOver = false
        sleep.isGraceOver = false
        login.isKeepAwakeRefused = false
        if heardFromLogin { sleep.echo = .none }
        // Whoever announced it: logind's own job may be a part of it.
        let mayBeLogins = sleep.isAnnouncedByLogin || hasSlept && !sleep.isLogical
        if mayBeLogins, login.isAvailable {
            if !heardFromLogin {
                expectEnd()
            } else if wasHeld {
                sleep.echo = .cancellation
                readPreparing()
            }
        }
        sleep.state = .awake
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

    private mutating func answerSleepers(isCalledOff: Bool = false) {
        let ready = SleepAnswer.ready(sleep: sleep.id, killed: sleep.killed)
        for sleeper in sleep.waiting {
            reply(sleeper.id, .sleep(isCalledOff && !sleeper.isHook ? .denied(.sleepCalledOff) : ready))
        }
        sleep.waiting = []
    }
}
