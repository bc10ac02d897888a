// The board is awake again: what a sleep came to, and the lock for the next one. The clocks may tell of it before
// logind does; the first to tell ends the sleep, and the other finds it over.

extension DeviceLifecycle {
    /// The board is awake again: for all apps, or in the dark.
    mutating func wake(heardFromLogin: Bool, isCancelled: Bool = false) {
        guard isAlarmDue(lead: Self.alarmLead) else {
            return endSleep(cancelled: isCancelled, heardFromLogin: heardFromLogin)
        }
        clearAlarm()
        leaveSleep(heardFromLogin: heardFromLogin)
        sleep.stage = .darkWake(DarkWake(end: now.monotonic + policy.darkWakeAllowance))
        emit(.note(.sleep(.darkWake(sleep: sleep.id, allowance: policy.darkWakeAllowance))))
        touchAll()
    }

    /// A person is at the board: all apps come back.
    mutating func endDarkWake() {
        if sleep.state == .darkWake { endSleep(cancelled: false, heardFromLogin: false) }
    }

    /// All apps come back to where they were: servers thaw before their clients.
    mutating func endSleep(cancelled: Bool, heardFromLogin: Bool) {
        guard sleep.state != .awake else { return }
        let hadAlarm = sleep.asleep?.alarm != nil
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
        for level in 0...highestLevel {
            for index in apps.indices where apps[index].level == level {
                apps[index].instance?.forgetSleep()
                settleFreezer(index)
            }
        }
        touchAll()
    }

    private var highestLevel: Int {
        var highest = 0
        for index in apps.indices { highest = max(highest, apps[index].level) }
        return highest
    }

    private func outcome(cancelled: Bool) -> SleepOutcome {
        switch sleep.state {
        case .awake: .cancelled
        case .preparing: sleep.clocksShowSleep || sleep.kernelCountedSleep == true ? .slept : .cancelled
        case .asleep: countsAsSlept ? .slept : cancelled ? .cancelled : .failed
        case .darkWake: .slept
        }
    }

    /// Whether it was a sleep that counts: a logical one, or the kernel has slept since the release. That a sleep was
    /// announced is no proof. Where the kernel does not count its sleeps the clocks tell; a sleep that it refuses after
    /// it has stopped all processes looks to them like a short sleep.
    private var countsAsSlept: Bool {
        if sleep.clocksShowSleep { return true }
        guard sleep.state == .asleep || sleep.state == .preparing else { return false }
        if let kernelCountedSleep = sleep.kernelCountedSleep, !sleep.isLogical { return kernelCountedSleep }
        guard let asleep = sleep.asleep else { return false }
        return sleep.isLogical || asleep.timeStopped > Self.stallThreshold
            || now.timeAsleep - asleep.released.timeAsleep > Self.sleepThreshold
    }

    /// What a sleep leaves behind, and the lock for the next one.
    mutating func leaveSleep(heardFromLogin: Bool) {
        setSleepHandled(false)
        let hasSlept = countsAsSlept
        if hasSlept { settleAfterSleep(now.boottime - (sleep.asleep?.released ?? now).boottime) }
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
    mutating func settleAfterSleep(_ time: Nanoseconds) {
        refillKeepAwake()
        if time >= Self.refillingSleep { refillPools() }
        // An app that was not frozen could not give a sign of life all the same.
        for index in apps.indices where apps[index].instance?.liveness.due != nil { armLiveness(index) }
    }
}
