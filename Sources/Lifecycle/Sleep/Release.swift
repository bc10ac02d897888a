// All apps are ready, or the time is over: the lock is released.

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
            Asleep(
                released: now, overtime: preparation.overtime, alarm: alarm,
                question: sleep.isLogical ? .none : .due(now.monotonic + Login.recheckDelay)))
        emit(
            .note(
                .sleep(
                    .released(
                        sleep: sleep.id, elapsed: now.monotonic - sleep.allowanceSince, killed: sleep.killed.count))))
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

    /// The time to get ready is over: who still runs is named, and the lock given back where it is logind's sleep. It
    /// is never kept.
    mutating func releaseForSleep() {
        let isFreed = sleep.isAnnouncedByLogin && login.locks[.sleep] == .held
        if sleep.state == .preparing || isFreed {
            reportUnsettled()
            for index in apps.indices { noteWhatItCost(index) }
        }
        guard isFreed else { return }
        // Where the sleep was released without logind (an operator's), it may have been armed since.
        restWatchdogs()
        releaseLock(.sleep)
    }

    /// What an app has cost this sleep it is not to cost the next.
    private mutating func noteWhatItCost(_ index: Int) {
        noteHeldUp(index)
        endWhatIsStuckAgain(index)
        if apps[index].instance?.isFreezeLate(at: now.monotonic) == true { noteSlowFreeze(index) }
        noteLateEnd(index)
    }

    /// A sleep that was too short for handlers says nothing of an app.
    private mutating func noteHeldUp(_ index: Int) {
        guard let preparation = sleep.preparation, preparation.overtime.isAllowanceOver,
            preparation.waited(at: now.monotonic) >= Self.leastSleepAllowance,
            !sleep.isDoubtful, !apps[index].isNotAwaited(by: sleep),
            let instance = apps[index].instance,
            instance.stage == .spawning || instance.isLaunching || instance.stage == .stopping
                || instance.hasExpired(for: Self.leastSleepAllowance, at: now.monotonic)
        else { return }
        remember(index)
    }

    /// Its program could not be executed for a while: a lease on it, say, or a slow disk.
    mutating func noteLongStart(_ index: Int) {
        guard let instance = apps[index].instance, instance.stage == .spawning,
            now.monotonic - instance.startedAt > Self.leastSleepAllowance
        else { return }
        rememberWait(index, Self.leastSleepAllowance)
    }

    /// Its launch, with more time than is configured for it, of which a sleep has waited for a part.
    mutating func noteLongLaunch(_ index: Int) {
        guard let instance = apps[index].instance, instance.isLaunching, let call = instance.call,
            instance.clock.reading(at: now.monotonic) - call.issued > call.allowance
        else { return }
        rememberWait(index, Self.leastSleepAllowance)
    }

    /// Its end, by its own wish, or with more time than is configured for it: what it asked for before there was a
    /// sleep to wait for it.
    mutating func noteLongEnd(_ index: Int) {
        guard let instance = apps[index].instance, instance.stage == .stopping, let stop = instance.stop else { return }
        if stop.isOwnWish { return rememberWait(index, Self.leastSleepAllowance) }
        guard stop.isExtended else { return }
        rememberWait(index, max(apps[index].policy.allowances[.willTerminate], Self.leastSleepAllowance))
    }

    /// The expiration handler of an app that is in front: no other is called, nor is it frozen, before that returns.
    mutating func noteLongExpiration(_ index: Int) {
        guard apps[index].instance?.hasExpired(for: Self.leastSleepAllowance, at: now.monotonic) == true else { return }
        rememberWait(index, Self.leastSleepAllowance)
    }

    private mutating func rememberWait(_ index: Int, _ least: Nanoseconds) {
        guard let preparation = sleep.preparation, !sleep.isDoubtful, !apps[index].isNotAwaited(by: sleep),
            preparation.waited(at: now.monotonic) > least
        else { return }
        remember(index)
    }

    /// The next ten sleeps wait neither for its launch nor for its end, nor for its expiration handlers in front.
    mutating func remember(_ index: Int) {
        apps[index].heldUpSleep = sleep.age
        if apps[index].isAdopted { adoptedHeldUpSleep = sleep.age }
        emit(.note(.app(.heldUpSleep(AppID(rawValue: index)))))
    }

    private mutating func reportUnsettled() {
        for index in apps.indices {
            guard let instance = apps[index].instance else { continue }
            // One that was not waited for may be alive all the same.
            let isLeftOut =
                instance.isLeftToFreeze || instance.stage == .spawning
                || endsLate(apps[index]) && instance.isDyingUnnamed
            if apps[index].isSettledForSleep, !isLeftOut { continue }
            // Its freezing begins at this very moment, after a stall: judged when that has had its time.
            let isAlive = instance.isAlive
            if isAlive, instance.freezer == .freezing, instance.waitingSince == now.monotonic { continue }
            apps[index].instance?.forgetReport()
            reportStuck(index, isAlive ? .unfreezable : instance.stage == .spawning ? .unstarted : .unkillable)
            // That a sleep did not wait for its end does not mean that it is beyond killing.
            if !isAlive { apps[index].instance?.forgetReport() }
        }
    }

    mutating func answer(_ waiting: [WaitingClient], isCalledOff: Bool = false) {
        let ready = SleepAnswer.ready(sleep: sleep.id, killed: sleep.killed)
        for client in waiting {
            reply(client.id, .sleep(isCalledOff && !client.isHook ? .denied(.sleepCalledOff) : ready))
        }
    }
}

extension App {
    /// It is not awaited on the way to this sleep: an app that is slow to get ready, or to end, costs one its time, not
    /// every one.
    func isNotAwaited(by sleep: Sleep) -> Bool {
        guard sleep.remembers(heldUpSleep), let instance else { return false }
        return !instance.isLaunched || instance.stage == .stopping || instance.isExpiringInFront
    }
}
