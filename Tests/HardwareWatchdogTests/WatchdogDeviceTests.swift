import CLinux
import HardwareWatchdog
import SystemCalls
import Testing

@Suite struct WatchdogDeviceTests {
    let watchdog = PlayedWatchdog()
    let kernel: PlayedKernel
    let device: WatchdogDevice

    init() {
        kernel = PlayedKernel(watchdog)
        device = kernel.device()
    }

    private func failure(_ body: () throws(WatchdogError) -> Void) -> WatchdogError? {
        do throws(WatchdogError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func openStartsSetsAndFeeds() throws {
        watchdog.bootStatus = 0x20
        try device.open(timeout: 20)
        #expect(watchdog.log == ["open", "set 20", "feed"])
        #expect(device.isOpen && device.timeout == 20 && device.timeoutRemark == nil)
        #expect(device.support == watchdog.support)
        #expect(device.bootStatus == .cardReset)
        #expect(device.limits == WatchdogLimits(minimum: 1, maximum: 60))
        watchdog.pass(5)
        #expect(device.timeLeft() == 15)
    }

    @Test func fedInTimeItNeverResets() throws {
        try device.open(timeout: 20)
        for _ in 0..<100 {
            watchdog.pass(19)
            try device.feed()
        }
        #expect(!watchdog.hasReset)
        watchdog.pass(20)
        #expect(watchdog.hasReset)
    }

    // MARK: - Opening fails

    @Test func busyNamesSystemd() {
        watchdog.openFault = .busy
        kernel.files["/proc/1/comm"] = "systemd\n"
        let error = failure { () throws(WatchdogError) in try device.open(timeout: 20) }
        #expect(error?.problem == .busyBySystemd)
        #expect(
            error?.text
                == "/dev/watchdog0: in use, most likely by systemd (RuntimeWatchdogSec=): leave it there and set "
                + "[watchdog] device = \"none\", or set RuntimeWatchdogSec=0")
        #expect(!device.isOpen && kernel.openDescriptors == 0)
    }

    @Test func busyWithoutSystemdNamesNoProcess() {
        watchdog.openFault = .busy
        kernel.files["/proc/1/comm"] = "init\n"
        let error = failure { () throws(WatchdogError) in try device.open(timeout: 20) }
        #expect(error?.problem == .busy)
        #expect(error?.text.contains("systemd") == false && error?.text.contains("another process") == true)
    }

    @Test(arguments: [
        (ENOENT, WatchdogError.Problem.missing), (ENODEV, .missing), (ENXIO, .missing), (EACCES, .denied),
        (EPERM, .denied), (EIO, .notOpened), (EISDIR, .notOpened),
    ])
    func whatOpenAnswers(_ errno: Int32, _ problem: WatchdogError.Problem) {
        watchdog.openFault = Errno(rawValue: errno)
        let error = failure { () throws(WatchdogError) in try device.open(timeout: 20) }
        #expect(error?.problem == problem)
        #expect(error?.text.contains("/dev/watchdog0") == true)
        #expect(!device.isOpen)
        // Nothing keeps it from being tried again.
        watchdog.openFault = nil
        #expect(throws: Never.self) { try device.open(timeout: 20) }
    }

    @Test func somethingElseIsNeverWrittenTo() {
        watchdog.supportFault = Errno(rawValue: ENOTTY)
        let error = failure { () throws(WatchdogError) in try device.open(timeout: 20) }
        #expect(error?.problem == .notAWatchdog)
        #expect(watchdog.log == ["open", "close"])
    }

    @Test func openedButNotToBeFedIsStoppedAgain() {
        watchdog.faults[.keepAlive] = Errno(rawValue: EIO)
        let error = failure { () throws(WatchdogError) in try device.open(timeout: 20) }
        #expect(error?.problem == .notFed)
        #expect(!device.isOpen && !watchdog.isActive)
        watchdog.pass(1000)
        #expect(!watchdog.hasReset)
    }

    @Test func openedButNotToBeFedStaysOpenWhereItCannotBeStopped() throws {
        watchdog.noWayOut = true
        watchdog.faults[.keepAlive] = Errno(rawValue: EIO)
        #expect(failure { () throws(WatchdogError) in try device.open(timeout: 20) }?.problem == .notFed)
        #expect(device.isOpen)
        watchdog.faults = [:]
        watchdog.pass(15)
        try device.feed()
        watchdog.pass(15)
        #expect(!watchdog.hasReset)
    }

    /// The kernel does not say beforehand that it cannot be stopped, or the profile alone knows.
    @Test(arguments: [true, false])
    func openedButNotToBeFedStaysOpenWhereItRunsOn(stoppable: Bool) throws {
        watchdog.stopFails = true
        watchdog.faults[.keepAlive] = Errno(rawValue: EIO)
        let error = failure { () throws(WatchdogError) in try device.open(timeout: 20, stoppable: stoppable) }
        #expect(error?.problem == .notFed)
        #expect(device.isOpen && kernel.openDescriptors == 1 && watchdog.log.contains("V") == stoppable)
        watchdog.faults = [:]
        for _ in 0..<3 {
            watchdog.pass(15)
            try device.feed()
        }
        #expect(!watchdog.hasReset)
    }

    @Test func supportThatCannotBeReadLeavesItFed() throws {
        watchdog.supportFault = Errno(rawValue: EIO)
        try device.open(timeout: 20)
        #expect(watchdog.log == ["open", "set 20", "feed"])
    }

    // MARK: - Vanishing

    @Test(arguments: [false, true]) func vanishedIsClosedAndMayComeBack(_ byWriting: Bool) throws {
        if byWriting { watchdog.faults[.keepAlive] = .notSupported }
        try device.open(timeout: 20)
        watchdog.isPresent = false
        if byWriting { watchdog.faults = [:] }
        #expect(failure { () throws(WatchdogError) in try device.feed() }?.problem == .vanished)
        #expect(!device.isOpen && kernel.openDescriptors == 0)
        #expect(failure { () throws(WatchdogError) in try device.feed() }?.problem == .closed)
        #expect(failure { () throws(WatchdogError) in try device.rearm() }?.problem == .missing)
        watchdog.isPresent = true
        try device.rearm()
        #expect(device.isOpen && device.timeout == 20)
    }

    @Test func vanishesWhileItIsOpened() {
        watchdog.faults[.setTimeout] = Errno(rawValue: ENODEV)
        #expect(failure { () throws(WatchdogError) in try device.open(timeout: 20) }?.problem == .vanished)
        #expect(!device.isOpen && kernel.openDescriptors == 0)
    }

    // MARK: - Feeding

    @Test func errorWhileFeedingMayPass() throws {
        try device.open(timeout: 20)
        watchdog.faults[.keepAlive] = Errno(rawValue: EIO)
        let error = failure { () throws(WatchdogError) in try device.feed() }
        #expect(error?.problem == .notFed)
        #expect(
            error?.text
                == "/dev/watchdog0 cannot be fed, and resets the board when its timeout is over: Input/output error")
        #expect(device.isOpen)
        watchdog.faults = [:]
        #expect(throws: Never.self) { try device.feed() }
    }

    @Test(arguments: [EOPNOTSUPP, ENOTTY, EINVAL]) func withoutKeepAliveAByteIsWritten(_ errno: Int32) throws {
        watchdog.faults[.keepAlive] = Errno(rawValue: errno)
        try device.open(timeout: 20)
        watchdog.pass(19)
        try device.feed()
        watchdog.pass(19)
        #expect(watchdog.log == ["open", "set 20", "byte", "byte"] && !watchdog.hasReset)
        watchdog.writeFault = Errno(rawValue: EIO)
        #expect(failure { () throws(WatchdogError) in try device.feed() }?.problem == .notFed)
    }

    // MARK: - Letting go

    @Test func stopIsTheMagicClose() throws {
        try device.open(timeout: 20)
        watchdog.log = []
        #expect(device.stop() == .stopped)
        #expect(watchdog.log == ["V", "close"])
        watchdog.pass(1000)
        #expect(!watchdog.hasReset && !device.isOpen)
        #expect(device.stop() == .unknown)
    }

    @Test func noWayOutIsStretchedAndSaysSo() throws {
        watchdog.noWayOut = true
        try device.open(timeout: 20)
        #expect(device.isStoppable == false)
        watchdog.log = []
        #expect(device.stop() == .runsOn)
        #expect(watchdog.log == ["set 60", "V", "close"])
        watchdog.pass(59)
        #expect(!watchdog.hasReset)
    }

    @Test func driverThatFailsToStopIsRemembered() throws {
        watchdog.stopFails = true
        try device.open(timeout: 20)
        #expect(device.isStoppable == true)
        #expect(device.stop() == .runsOn)
        #expect(device.isStoppable == false)
    }

    @Test func withoutSysfsItIsNotKnownWhetherItStopped() throws {
        kernel.hasSysfs = false
        let device = kernel.device()
        try device.open(timeout: 20)
        #expect(device.isStoppable == nil && device.timeout == 20)
        #expect(device.stop() == .unknown)
        #expect(!watchdog.isActive)
    }

    @Test func handedOverItRunsOn() throws {
        try device.open(timeout: 20)
        watchdog.log = []
        #expect(device.handOver())
        #expect(watchdog.log == ["feed", "close"] && watchdog.isActive && !device.isOpen)
        let successor = kernel.device()
        watchdog.pass(19)
        try successor.open(timeout: 20)
        watchdog.pass(19)
        #expect(!watchdog.hasReset)
    }

    @Test func driverWithoutMagicStopsAtEveryClose() throws {
        watchdog.support.options = [.setTimeout, .keepAlivePing]
        try device.open(timeout: 20)
        #expect(!device.handOver())
        #expect(!watchdog.isActive)
    }

    @Test func descriptorIsGivenToTheNextImage() throws {
        try device.open(timeout: 20)
        let descriptor = try #require(device.release())
        #expect(!device.isOpen && watchdog.isOpen && device.release() == nil)
        let successor = kernel.device()
        try successor.adopt(descriptor, timeout: 25)
        #expect(watchdog.log == ["open", "set 20", "feed", "feed", "set 25", "feed"])
        #expect(successor.timeout == 25)
    }

    @Test func droppedDeviceRunsOn() throws {
        do { try kernel.device().open(timeout: 20) }
        #expect(kernel.openDescriptors == 0 && watchdog.isActive)
    }
}
