internal import Lifecycle

/// An alarm as the kernel has it.
struct SetAlarm {
    /// BOOTTIME the core asked for.
    let moment: Nanoseconds
    /// What the kernel adds to that, by a fault.
    let delay: Nanoseconds

    var rings: Nanoseconds { moment + delay }
}

/// Dark wakes: the alarm that wakes the board, and logind putting it to sleep again.
extension SimulatedBoard {
    func setAlarm(_ moment: Nanoseconds?) {
        alarm = nil
        alarmGeneration += 1
        guard let moment else { return }
        if plan.strikes(.alarmFails, &darkRandom) { return say("there is no alarm to be had") }
        let isLate = plan.strikes(.alarmLate, &darkRandom)
        alarm = SetAlarm(
            moment: moment, delay: isLate ? darkRandom.magnitude(.milliseconds(100), .seconds(90)) : .zero)
        rearmAlarm()
    }

    /// BOOTTIME has leapt, or the alarm is new.
    func rearmAlarm() {
        guard let alarm else { return }
        alarmGeneration += 1
        schedule(
            .alarm(generation: alarmGeneration),
            after: max(alarm.rings - now.boottime, .zero) + darkRandom.magnitude(.microseconds(10), .milliseconds(5)))
    }

    func ring(_ generation: Int) {
        guard generation == alarmGeneration, alarm != nil else { return }
        alarm = nil
        say("the alarm rings")
        hear(.timePassed)
    }

    /// How long a sleep is that would last so long without an alarm. Whatever else would wake the board often does not.
    func timeUntilAlarm(within time: Nanoseconds) -> Nanoseconds {
        guard let alarm else { return time }
        // A real-time clock counts whole seconds.
        let early = darkRandom.chance(perMille: 500) ? darkRandom.span(.zero, .seconds(1)) : .zero
        let left = max(alarm.rings - now.boottime - early, .milliseconds(1))
        return darkRandom.chance(perMille: 500) ? left : min(time, left)
    }

    /// The daemon's Suspend call.
    func suspend() {
        guard login.isPresent, login.isConnected else {
            return schedule(
                .deliver(.login(.suspendRefused)), after: darkRandom.magnitude(.microseconds(5), .milliseconds(1)))
        }
        let isBlocked = login.holds(.keepAwake) && !plan.strikes(.forcedSleep, &darkRandom)
        let isBusy = login.sleep != .idle || login.shutdown != .idle
        if isBlocked || isBusy || plan.strikes(.suspendRefused, &darkRandom) {
            say("logind refuses to suspend the board")
            return sendFromLogin(.login(.suspendRefused), after: transport())
        }
        if plan.strikes(.suspendIgnored, &darkRandom) { return say("logind says nothing of the sleep it is asked for") }
        prepareSleep()
    }

    /// The end of a run: a reload without dark wakes; who is at the board then wakes it.
    func leaveTheDark() {
        devicePolicy.darkWakeInterval = nil
        hear(.configured(configuration, devicePolicy))
    }
}
