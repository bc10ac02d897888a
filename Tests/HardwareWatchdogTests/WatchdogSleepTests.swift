import HardwareWatchdog
import SystemCalls
import Testing

@Suite struct WatchdogSleepTests {
    let watchdog = PlayedWatchdog()
    let kernel: PlayedKernel
    let device: WatchdogDevice

    init() throws {
        kernel = PlayedKernel(watchdog)
        device = kernel.device()
        try device.open(timeout: 20, maximum: 50)
        watchdog.log = []
    }

    private func plan(_ inSleep: SleepPlan.InSleep, stoppable: Bool = true) -> SleepPlan {
        SleepPlan(
            inSleep: inSleep, stoppable: stoppable && device.isStoppable == true, limits: device.limits,
            timeout: device.timeout)
    }

    // MARK: - The plan

    @Test func whatIsPlanned() {
        let limits = WatchdogLimits(maximum: 89)
        let none = WatchdogLimits()
        let cases: [(SleepPlan.InSleep, Bool, WatchdogLimits, SleepPlan.Before, Int?)] = [
            (.stops, true, limits, .feed, nil), (.stops, false, limits, .feed, nil),
            (.counts, true, limits, .stop, nil), (.unknown, true, none, .stop, nil),
            (.counts, false, limits, .stretch, 89), (.unknown, false, limits, .stretch, 89),
            (.counts, false, none, .feed, 20), (.unknown, false, WatchdogLimits(maximum: 20), .feed, 20),
        ]
        for (inSleep, stoppable, limits, before, longest) in cases {
            let plan = SleepPlan(inSleep: inSleep, stoppable: stoppable, limits: limits, timeout: 20)
            #expect(plan.before == before && plan.longestSleep == longest, "\(inSleep) \(stoppable) \(limits)")
            #expect(plan.isWarning == (longest != nil))
        }
    }

    /// RK3399's dw_wdt: armbian/build#10705.
    @Test func whatCountsAndCannotBeStoppedIsWarnedOfWithItsNumber() {
        let plan = SleepPlan(inSleep: .counts, stoppable: false, limits: WatchdogLimits(maximum: 89), timeout: 20)
        #expect(
            plan.explanation
                == "the watchdog counts on in sleep and cannot be stopped: its timeout is stretched to the "
                + "maximum, and a sleep longer than 89 s ends in a reset")
        let unsure = SleepPlan(inSleep: .unknown, stoppable: false, limits: WatchdogLimits(maximum: 20), timeout: 20)
        #expect(
            unsure.explanation == "the watchdog may count on in sleep and cannot be stopped: its timeout is at the "
                + "maximum, and a sleep longer than 20 s may end in a reset")
    }

    /// Without a stop the kernel never calls the driver's start again.
    @Test func whatCannotBeStoppedIsNotSaidToBeArmedAnew() throws {
        #expect(plan(.stops).explanation.contains("it is armed anew"))
        watchdog.noWayOut = true
        #expect(plan(.stops).explanation.contains("cannot be armed anew"))
        try device.prepareForSleep(plan(.stops))
        watchdog.forgetInSleep()
        try device.rearm()
        #expect(!watchdog.counts)
    }

    // MARK: - The device

    @Test func whatCountsIsStoppedAndArmedAnew() throws {
        try device.prepareForSleep(plan(.counts))
        #expect(watchdog.log == ["V", "close"])
        watchdog.pass(100_000)
        watchdog.log = []
        try device.rearm()
        #expect(watchdog.log == ["open", "set 20", "feed"] && !watchdog.hasReset)
    }

    @Test func whatForgetsInSleepIsArmedAnew() throws {
        try device.prepareForSleep(plan(.stops))
        #expect(watchdog.log == ["feed"])
        watchdog.forgetInSleep()
        watchdog.pass(100_000)
        #expect(device.attributes.isActive == true && !watchdog.counts)
        watchdog.log = []
        try device.rearm()
        #expect(watchdog.log == ["V", "close", "open", "set 20", "feed"])
        #expect(watchdog.counts && !watchdog.hasReset)
    }

    @Test(arguments: [false, true]) func whatCannotBeStoppedIsStretchedAndNeverClosed(_ byProfile: Bool) throws {
        watchdog.noWayOut = !byProfile
        try device.prepareForSleep(plan(.counts, stoppable: !byProfile))
        #expect(watchdog.log == ["set 50", "feed"] && device.timeout == 50)
        watchdog.pass(49)
        watchdog.log = []
        try device.rearm(stoppable: !byProfile)
        #expect(watchdog.log == ["set 20", "feed"] && device.timeout == 20)
        #expect(!watchdog.hasReset)
    }

    @Test func whatDoesNotStopAfterAllIsStretched() throws {
        watchdog.stopFails = true
        try device.prepareForSleep(plan(.counts))
        #expect(device.isOpen && device.timeout == 50)
        #expect(watchdog.log == ["V", "close", "open", "set 20", "feed", "set 50", "feed"])
        // The next plan knows.
        #expect(plan(.counts).before == .feed && plan(.counts).longestSleep == 50)
        try device.rearm()
        #expect(device.timeout == 20 && watchdog.isOpen)
    }

    @Test func takenByAnotherProcessAfterSleepIsSaid() throws {
        try device.prepareForSleep(plan(.counts))
        watchdog.openFault = .busy
        #expect(throws: WatchdogError.self) { try device.rearm() }
        watchdog.openFault = nil
        try device.rearm()
        #expect(device.isOpen)
    }

    @Test func whatWasNeverOpenedIsNotRearmed() {
        #expect(throws: WatchdogError.self) { try kernel.device().rearm() }
        #expect(throws: WatchdogError.self) { try kernel.device().prepareForSleep(plan(.stops)) }
    }

    @Test func goneBeforeSleepIsSaid() {
        watchdog.isPresent = false
        #expect(throws: WatchdogError.self) { try device.prepareForSleep(plan(.stops)) }
        #expect(!device.isOpen)
    }
}
