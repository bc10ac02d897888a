import CLinux
import HardwareWatchdog
import SystemCalls
import Testing

/// What is asked for, what the driver takes, and what is in force.
@Suite struct WatchdogTimeoutTests {
    let watchdog = PlayedWatchdog()
    let kernel: PlayedKernel
    let device: WatchdogDevice

    init() {
        kernel = PlayedKernel(watchdog)
        device = kernel.device()
    }

    @Test(arguments: [(600, 60), (60, 60), (59, 59), (1, 5), (0, 5), (-7, 5), (Int.max, 60)])
    func fittedToTheLimitsThatSysfsTells(_ asked: Int, _ given: Int) throws {
        watchdog.minimum = 5
        try device.open(timeout: asked)
        #expect(device.timeout == given && watchdog.timeout == Int32(given))
        #expect(device.timeoutRemark == nil || asked != given)
    }

    @Test func remarkTellsWhatBecameOfIt() throws {
        watchdog.maximum = 15
        try device.open(timeout: 600)
        #expect(device.timeoutRemark == "/dev/watchdog0: asked for a timeout of 600 s, the driver gives 15 s")
    }

    /// The Raspberry Pi's 15 s: refused above, and nothing in sysfs.
    @Test(arguments: [15, 16, 60, 600, 86_400, 2_000_000_000])
    func aboveAnUnknownLimitTheLargestIsFound(_ asked: Int) throws {
        watchdog.maximum = 15
        watchdog.limitsInSysfs = false
        watchdog.timeout = 10
        try device.open(timeout: asked)
        #expect(device.timeout == 15 && watchdog.timeout == 15)
        #expect(watchdog.log.count < 40)
    }

    @Test func underAnUnknownLimitTheDriversOwnStays() throws {
        watchdog.minimum = 30
        watchdog.limitsInSysfs = false
        watchdog.timeout = 45
        try device.open(timeout: 20)
        #expect(device.timeout == 45)
    }

    @Test func profileNarrowsWhatTheDriverTakes() throws {
        try device.open(timeout: 600, maximum: 16)
        #expect(device.timeout == 16)
        #expect(device.limits.maximum == 16)
    }

    @Test func hardwareRounds() throws {
        watchdog.rounding = { $0 <= 16 ? 16 : 32 }
        try device.open(timeout: 10)
        #expect(device.timeout == 16)
        #expect(device.timeoutRemark != nil)
    }

    /// The driver takes it, and gives less: systemd#21949 fed by what it had asked for.
    @Test func getTimeoutHasTheLastWord() throws {
        watchdog.limitsInSysfs = false
        watchdog.maximum = .max
        watchdog.rounding = { min($0, 15) }
        try device.open(timeout: 600)
        #expect(device.timeout == 15)
    }

    @Test func timeoutThatCannotBeSetIsRead() throws {
        watchdog.faults[.setTimeout] = .notSupported
        try device.open(timeout: 20)
        #expect(device.timeout == 30)
    }

    @Test(arguments: [0, -1, Int32.min]) func nonsenseFromGetTimeoutIsNotBelieved(_ nonsense: Int32) throws {
        watchdog.lies[.getTimeout] = nonsense
        try device.open(timeout: 20)
        #expect(device.timeout == 20)
    }

    @Test func hugeTimeoutIsNotBelieved() throws {
        watchdog.limitsInSysfs = false
        watchdog.lies[.getTimeout] = .max
        try device.open(timeout: 20)
        #expect(device.timeout == 20)
    }

    @Test func driverThatTellsNothingIsTakenForAShortOne() throws {
        watchdog.faults = [.setTimeout: .notSupported, .getTimeout: .notSupported]
        kernel.files["/sys/class/watchdog/watchdog0/timeout"] = ""
        try device.open(timeout: 60)
        #expect(device.timeout == WatchdogDevice.assumedTimeout)
        kernel.files["/sys/class/watchdog/watchdog0/timeout"] = "24\n"
        try device.open(timeout: 60)
        #expect(device.timeout == 24)
    }

    @Test func zeroFromBothIsNotInForce() throws {
        watchdog.lies = [.setTimeout: 0, .getTimeout: 0]
        kernel.files["/sys/class/watchdog/watchdog0/timeout"] = "0"
        try device.open(timeout: 8)
        #expect(device.timeout == 8)
    }

    @Test(arguments: ["", "x", "-3", "99999999999999999999999"]) func nonsenseLimitsAreNone(_ text: String) throws {
        kernel.files["/sys/class/watchdog/watchdog0/max_timeout"] = text
        kernel.files["/sys/class/watchdog/watchdog0/min_timeout"] = text
        try device.open(timeout: 40)
        #expect(device.limits == WatchdogLimits() && device.timeout == 40)
    }

    @Test func maximumUnderTheMinimumIsNone() {
        #expect(WatchdogLimits(minimum: 10, maximum: 5).maximum == nil)
        #expect(WatchdogLimits(minimum: 10, maximum: 10).maximum == 10)
        #expect(WatchdogLimits(maximum: 5).narrowed(toAtMost: 3).maximum == 3)
        #expect(WatchdogLimits(maximum: 5).narrowed(toAtMost: 9).maximum == 5)
        #expect(WatchdogLimits().narrowed(toAtMost: nil).maximum == nil)
    }

    @Test(arguments: [-1, -2_000_000_000, 21, Int32.max]) func timeLeftThatIsNonsenseIsNotKnown(_ nonsense: Int32)
        throws
    {
        watchdog.lies[.timeLeft] = nonsense
        try device.open(timeout: 20)
        #expect(device.timeLeft() == nil)
    }

    @Test func timeLeftIsNotKnownWithoutTheCallOrTheDevice() throws {
        #expect(device.timeLeft() == nil)
        watchdog.faults[.timeLeft] = .notSupported
        try device.open(timeout: 20)
        #expect(device.timeLeft() == nil)
    }

    // MARK: - Pretimeout

    @Test func pretimeoutIsSetWhereThereIsOne() throws {
        watchdog.support.options.insert(.pretimeout)
        try device.open(timeout: 20, pretimeout: 5)
        #expect(device.pretimeout == 5)
        #expect(watchdog.log == ["open", "set 20", "pre 5", "feed"])
    }

    @Test func pretimeoutIsLeftOutWhereThereIsNone() throws {
        try device.open(timeout: 20, pretimeout: 5)
        #expect(device.pretimeout == 0)
        #expect(watchdog.log == ["open", "set 20", "feed"])
    }

    @Test func pretimeoutFitsIntoTheTimeout() throws {
        watchdog.support.options.insert(.pretimeout)
        watchdog.maximum = 15
        try device.open(timeout: 600, pretimeout: 100)
        #expect(device.timeout == 15 && device.pretimeout == 14)
    }

    @Test func pretimeoutThatFailsIsNone() throws {
        watchdog.support.options.insert(.pretimeout)
        watchdog.faults[.setPretimeout] = Errno(rawValue: EIO)
        try device.open(timeout: 20, pretimeout: 5)
        #expect(device.pretimeout == 0 && device.isOpen)
        watchdog.faults = [:]
        watchdog.lies[.getPretimeout] = -1
        try device.open(timeout: 20, pretimeout: 5)
        #expect(device.pretimeout == 0)
    }

    @Test(arguments: [(-1, 0), (0x21, 0x21), (0x8180, 0)] as [(Int32, UInt32)])
    func bootStatusHoldsCausesOnly(_ answer: Int32, _ causes: UInt32) throws {
        let flags = WatchdogFlags(rawValue: causes)
        watchdog.bootStatus = answer
        try device.open(timeout: 20)
        #expect(device.bootStatus == flags && device.attributes.bootStatus == flags)
        watchdog.faults[.bootStatus] = Errno(rawValue: EIO)
        let other = kernel.device()
        device.stop()
        try other.open(timeout: 20)
        #expect(other.bootStatus == flags)
    }
}
