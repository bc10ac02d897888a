// The clocks tell that the kernel has slept, whatever was known of it before.

extension DeviceLifecycle {
    /// BOOTTIME gained on MONOTONIC: the board has slept, and is awake now.
    mutating func clocksTellOfSleep(_ time: Nanoseconds, heardFromLogin: Bool) {
        login.doubtGrant()
        switch sleep.state {
        case .awake:
            noteUnannouncedSleep(time)
            if login.isAvailable, !heardFromLogin { expectEnd() }
        // After its limit logind does not wait for the apps. Before, it was another sleep than the one that is
        // prepared.
        case .preparing:
            if sleep.isLogical { return noteSleepInside(time, heardFromLogin: heardFromLogin) }
            guard let preparation = sleep.preparation, preparation.release <= now.monotonic else {
                return noteUnannouncedSleep(time)
            }
            sleep.clocksShowSleep = true
            if time >= Self.refillingSleep { refillPools() }
            rearmHardwareWatchdog()
            endSleep(cancelled: false, heardFromLogin: heardFromLogin)
        case .asleep:
            guard !sleep.isLogical else { return noteSleepInside(time, heardFromLogin: heardFromLogin) }
            sleep.clocksShowSleep = true
            wake(heardFromLogin: heardFromLogin)
        // Whatever woke it this time, it was not our alarm.
        case .darkWake:
            if sleep.isLogical { return noteSleepInside(time, heardFromLogin: heardFromLogin) }
            endDarkWake()
            noteUnannouncedSleep(time)
            if login.isAvailable, !heardFromLogin { expectEnd() }
        }
    }

    /// The kernel has slept in a logical sleep, which goes on.
    private mutating func noteSleepInside(_ time: Nanoseconds, heardFromLogin: Bool) {
        noteUnannouncedSleep(time)
        if login.isAvailable, !heardFromLogin { sleep.echo = .end }
    }

    private mutating func noteUnannouncedSleep(_ time: Nanoseconds) {
        emit(.note(.sleep(.unannounced(time))))
        settleAfterSleep(time)
        rearmHardwareWatchdog()
    }

    /// Some are disarmed by a sleep and do not say so.
    private mutating func rearmHardwareWatchdog() {
        if watchdog.rearm() { emit(.watchdog(.wake)) }
    }

    /// logind's own job may have been a part of the sleep that is over; it has still to say so.
    mutating func expectEnd() {
        // One short sleep after the other does not put the question off for ever.
        if sleep.state == .awake, sleep.echo == .end, sleep.echoDue != nil { return }
        sleep.echo = .end
        sleep.echoDue = now.monotonic + Login.recheckDelay
    }
}
