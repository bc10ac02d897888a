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
        if !sleep.isLogical { setSleepHandled(true) }
        releaseForSleep()
        sleep.state = .asleep
        sleep.recheckAt = sleep.isLogical ? nil : now.monotonic + Self.cancellationDelay
        emit(
            .note(
                .sleepReleased(
                    sleep: sleep.id, elapsed: now.monotonic - sleep.since, killed: sleep.killed.count)))
        answerSleepers()
        touchAll()
    }

    mutating func setSleepHandled(_ isHandled: Bool) {
        guard sleep.isHandled != isHandled else { return }
        sleep.isHandled = isHandled
        emit(.sleepHandled(isHandled))
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
            guard let isAlive = apps[index].instance?.isAlive else { continue }
            apps[index].instance?.isNamed = false
            nameCulprits(index, isAlive ? .unfreezable : .unkillable)
            // That a sleep did not wait for its end does not mean that it is beyond killing.
            if !isAlive { apps[index].instance?.isNamed = false }
        }
    }

    /// Everybody comes back to where they were: servers thaw before their clients.
    mutating func endSleep(cancelled: Bool, heardFromLogin: Bool) {
        guard sleep.state != .awake else { return }
        let hasSlept = sleep.state == .asleep && !cancelled || sleep.state == .darkWake
        emit(.note(.sleepEnded(sleep: sleep.id, cancelled: !hasSlept)))
        answerSleepers()
        if sleep.state == .darkWake {
            // What was refused then can be had now.
            login.isKeepAwakeRefused = false
        } else {
            leaveSleep(hasSlept: hasSlept, heardFromLogin: heardFromLogin)
        }
        sleep.state = .awake
        clearAlarm()
        for index in apps.indices.sorted(by: { (apps[$0].level, $0) < (apps[$1].level, $1) }) {
            apps[index].instance?.freezeReasons.remove(.sleep)
            settleFreezer(index)
        }
        touchAll()
    }

    /// What a sleep leaves behind, and the lock for the next one.
    mutating func leaveSleep(hasSlept: Bool, heardFromLogin: Bool) {
        setSleepHandled(false)
        let wasHeld = sleep.state == .preparing && login.locks[.sleep] == .held
        sleep.recheckAt = nil
        sleep.isAllowanceOver = false
        sleep.isGraceOver = false
        if hasSlept { refillLockTime() }
        login.isKeepAwakeRefused = false
        if heardFromLogin { sleep.echo = .none }
        if sleep.isAnnouncedByLogin, login.isAvailable {
            if !heardFromLogin {
                sleep.echo = .end
            } else if wasHeld {
                sleep.echo = .cancellation
                emit(.readPreparingForSleep)
            }
        }
        if sleep.echo == .end { sleep.recheckAt = now.monotonic + Self.cancellationDelay }
        sleep.state = .awake
        takeLock(.sleep)
    }

    private mutating func answerSleepers() {
        for id in sleep.waiting { emit(.reply(id, .sleepReady(sleep: sleep.id, killed: sleep.killed))) }
        sleep.waiting = []
    }
}
