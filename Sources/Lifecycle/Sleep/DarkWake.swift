// A wake by our own alarm that people at the board do not notice: background tasks run on, and it sleeps again.

/// A wake by our own alarm: background tasks only.
struct DarkWake: Equatable {
    /// MONOTONIC: its end, then that of the wait for the next sleep to be announced. Where none can be asked for yet it
    /// goes on (`darkWakeDue`).
    var end: Nanoseconds
    /// It is over, and the next sleep has been asked for.
    var isReturning = false
}

extension DeviceLifecycle {
    /// An alarm that is older than this has not woken the board.
    static let alarmTolerance = Nanoseconds.seconds(30)
    /// A real-time clock counts whole seconds: it may wake the board so much before the alarm's moment.
    static let alarmLead = Nanoseconds.seconds(2)
    /// How long the next sleep may take to be announced once it has been asked for.
    static let returnDelay = Nanoseconds.seconds(30)

    /// Whether an app is let run in a dark wake: it holds a task, and has gone to background for it.
    func worksInTheDark(_ instance: Instance) -> Bool { instance.isReadyInBackground && instance.isHeldByTasks }

    private var hasDarkWork: Bool {
        apps.contains { app in app.policy.suspend && app.instance.map { worksInTheDark($0) } ?? false }
    }

    /// logind or the sleep hook must be there to put the board to sleep again.
    private var canReturn: Bool { sleep.isLogical || login.isAvailable }

    /// BOOTTIME at which the board is to be woken for what its apps have still to do; nil: it is not.
    var alarmToSet: Nanoseconds? {
        guard let interval = policy.darkWakeInterval, !conditions.forbidsDarkWake, canFreeze, canReturn, hasDarkWork,
            !sleep.isLogical || policy.wakeSources.contains(.clock)
        else { return nil }
        return now.boottime + interval
    }

    /// Asleep already, and it is another sleep now.
    mutating func setAlarm() {
        guard let alarm = alarmToSet else { return clearAlarm() }
        sleep.stage.change { (asleep: inout Asleep) in asleep.alarm = alarm }
        emit(.sleep(.setWakeAlarm(alarm)))
    }

    mutating func clearAlarm() {
        guard sleep.asleep?.alarm != nil else { return }
        sleep.stage.change { (asleep: inout Asleep) in asleep.alarm = nil }
        emit(.sleep(.setWakeAlarm(nil)))
    }

    /// Whether the board is awake because of our alarm, and of nothing else. lead: how long before its moment that
    /// may be.
    func isAlarmDue(lead: Nanoseconds = .zero) -> Bool {
        guard let alarm = sleep.asleep?.alarm, !shutdown.isRunning, !sleep.isAttended else { return false }
        return alarm <= now.boottime + lead && now.boottime - alarm <= Self.alarmTolerance && canReturn
    }

    /// Asleep as far as is known, the alarm's moment comes. Work that has ended since it was set needs no wake, but the
    /// kernel's alarm has woken the board all the same: it is sent back.
    mutating func alarmDidPass() {
        guard let alarm = sleep.asleep?.alarm, alarm <= now.boottime else { return }
        if isAlarmDue(), !sleep.isLogical || hasDarkWork { return wake(heardFromLogin: false) }
        // Until it is too old, logind may still come back.
        if sleep.isLogical || now.boottime - alarm > Self.alarmTolerance { clearAlarm() }
    }

    /// Back to sleep as soon as the work is done.
    mutating func advanceDarkWake() {
        guard touched.isEmpty, sleep.darkWake?.isReturning == false, !hasDarkWork, sleep.mayReturn else { return }
        returnToSleep()
    }

    mutating func judgeDarkWake() {
        guard let darkWake = sleep.darkWake, let due = sleep.darkWakeDue, due <= now.monotonic else { return }
        // It was asked for in vain, or cannot be: the board is awake, and no app is to sit there frozen.
        if darkWake.isReturning || !sleep.mayReturn { return endSleep(cancelled: false, heardFromLogin: false) }
        returnToSleep()
    }

    private mutating func returnToSleep() {
        if sleep.isLogical {
            let isForIdleness = sleep.isForIdleness
            announceSleep(since: now.monotonic, logical: true, byLogin: false)
            sleep.isForIdleness = isForIdleness
            return
        }
        sleep.stage = .darkWake(DarkWake(end: now.monotonic + Self.returnDelay, isReturning: true))
        emit(.login(.suspendDevice))
    }

    mutating func suspendWasRefused() {
        if sleep.darkWake?.isReturning == true { endSleep(cancelled: false, heardFromLogin: false) }
    }
}
