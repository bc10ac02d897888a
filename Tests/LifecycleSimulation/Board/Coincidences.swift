internal import Lifecycle

/// What comes just when something else happens: where one rule has to give way to another. With a generator of its own.
extension SimulatedBoard {
    private func happens(_ fault: Fault, perMille: Int) -> Bool {
        let isRolled = coincidenceRandom.chance(perMille: perMille)
        return isRolled && plan.has(fault)
    }

    private func soon(_ most: Nanoseconds) -> Nanoseconds { coincidenceRandom.magnitude(.microseconds(10), most) }

    /// The next app may have to go while the last one still goes.
    func coincideWithKill() {
        if happens(.memoryPressure, perMille: 80) { plan(.pressure(.critical), after: soon(.milliseconds(1500))) }
    }

    /// The kernel ends it before the daemon does.
    func coincideWithOverrun(of instance: InstanceID) {
        guard happens(.memoryLimits, perMille: 250) else { return }
        schedule(.deliver(.memory(.killed(instance, by: .kernel))), after: .microseconds(1))
    }

    /// People and cables are about when a board goes to sleep.
    func coincideWithPreparing() {
        if happens(.powerKey, perMille: 100) { plan(.key, after: soon(.seconds(2))) }
        if happens(.network, perMille: 150) {
            plan(.network(false), after: .microseconds(20))
            plan(.network(true), after: soon(.seconds(2)))
        }
    }

    func coincideWithRelease() {
        if alarm != nil, happens(.reload, perMille: 200) { return reloadPolicy() }
        if happens(.reload, perMille: 80) { plan(.reloads, after: soon(.seconds(4))) }
    }

    /// Dark wakes are switched off, or the clock wakes the board no longer, or it is about something else.
    private func reloadPolicy() {
        switch coincidenceRandom.below(3) {
        case 0: devicePolicy.darkWakeInterval = nil
        case 1: devicePolicy.wakeSources = WakeSources(.key)
        default: devicePolicy.protectedBand = 900
        }
        schedule(.deliver(.configured(configuration, devicePolicy)), after: soon(.microseconds(500)))
    }

    /// The key that woke the board is pressed again, or the first of two presses was another one's.
    func coincideWithWake() {
        guard happens(.powerKey, perMille: 300) else { return }
        plan(.key, after: coincidenceRandom.span(.milliseconds(100), .milliseconds(4500)))
    }

    /// The last of a battery is its last word.
    func coincideWithPowerOff() {
        if happens(.supplyBlank, perMille: 400) { blankSupply() }
    }

    /// A battery that is nearly empty is first seen, and then not any more.
    func showEmptyBattery() {
        guard happens(.charger, perMille: 500), !plan.has(.battery), !plan.has(.batteryFalls),
            devicePolicy.batteryCritical == 0
        else { return }
        plan(.battery(1 + coincidenceRandom.below(3)), after: soon(.seconds(4)))
        plan(.battery(nil), after: .seconds(4) + soon(.seconds(4)))
    }

    /// Apps without which the board is of no use, and that end for good.
    func makeEssential() {
        guard limits.storms, happens(.hardwareWatchdog, perMille: 300) else { return }
        for index in configuration.indices {
            configuration[index].isEssential = coincidenceRandom.chance(perMille: 600)
            configuration[index].restartLimit = coincidenceRandom.pick([1, 2, 10])
        }
        plan(.arms(coincidenceRandom.pick([.seconds(15), .seconds(60)])), after: soon(.seconds(20)))
    }
}
