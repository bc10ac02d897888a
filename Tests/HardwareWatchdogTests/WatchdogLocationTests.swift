import CLinux
import HardwareWatchdog
import SystemCalls
import Testing

@Suite struct WatchdogLocationTests {
    private func watchdog(_ identity: String, status: Int32 = 0) -> PlayedWatchdog {
        let watchdog = PlayedWatchdog()
        watchdog.support.identity = identity
        watchdog.bootStatus = status
        return watchdog
    }

    private func location(_ number: Int) -> WatchdogLocation {
        WatchdogLocation(path: "/dev/watchdog\(number)", sysfs: "/sys/class/watchdog/watchdog\(number)")
    }

    @Test func lowestHardwareIsTaken() {
        let kernel = PlayedKernel(watchdog("Software Watchdog"), watchdog("iTCO_wdt"), watchdog("i6300ESB timer"))
        #expect(WatchdogLocation.find(kernel: kernel) == location(1))
        // In the order of numbers, not of names.
        kernel.watchdogs = [10: watchdog("a"), 2: watchdog("b")]
        #expect(WatchdogLocation.find(kernel: kernel) == location(2))
    }

    @Test func profilesDriverIsPreferred() {
        let kernel = PlayedKernel(
            watchdog("iTCO_wdt"), watchdog("i6300ESB timer"), watchdog("Broadcom BCM2835 Watchdog"))
        kernel.files["/sys/class/watchdog/watchdog2/device/uevent"] =
            "OF_NAME=watchdog\nDRIVER=bcm2835-wdt\nMODALIAS=x\n"
        for (driver, number) in [
            ("i6300esb", 1), ("bcm2835_wdt", 2), ("iTCO_wdt", 0), ("dw_wdt", 0), ("", 0), ("--", 0),
        ] {
            #expect(WatchdogLocation.find(driver: driver, kernel: kernel) == location(number))
        }
    }

    @Test func softwareAndAlarmsAreNotTakenByThemselves() {
        let kernel = PlayedKernel(watchdog("Software Watchdog"), watchdog("Bell"))
        kernel.files["/sys/class/watchdog/watchdog1/options"] = "0x8580\n"
        #expect(WatchdogLocation.find(kernel: kernel) == nil)
        #expect(WatchdogLocation.named("/dev/watchdog0", kernel: kernel) == location(0))
        kernel.files["/sys/class/watchdog/watchdog1/options"] = "0x8180\n"
        #expect(WatchdogLocation.find(kernel: kernel) == location(1))
    }

    @Test func choicesByPath() {
        let kernel = PlayedKernel(watchdog("a"), watchdog("b"))
        #expect(WatchdogLocation.named("/dev/watchdog1", kernel: kernel) == location(1))
        #expect(
            WatchdogLocation.named("/dev/watchdog", kernel: kernel)
                == WatchdogLocation(path: "/dev/watchdog", sysfs: "/sys/class/watchdog/watchdog0"))
        #expect(
            WatchdogLocation.named("/dev/watchdog7", kernel: kernel)
                == WatchdogLocation(path: "/dev/watchdog7", sysfs: nil))
    }

    @Test func boardWithoutAny() {
        let kernel = PlayedKernel()
        #expect(WatchdogLocation.find(kernel: kernel) == nil)
        // A driver older than the class.
        kernel.files["/dev/watchdog"] = ""
        #expect(
            WatchdogLocation.find(kernel: kernel) == WatchdogLocation(path: "/dev/watchdog", sysfs: nil)
        )
    }

    @Test func bootStatusIsThatOfAllAndOpensNone() {
        let one = watchdog("a", status: 0x20)
        let other = watchdog("b", status: 0x1)
        let kernel = PlayedKernel(one, other, watchdog("c", status: -1))
        #expect(WatchdogLocation.bootStatus(kernel: kernel) == [.cardReset, .overheat])
        #expect(one.log.isEmpty && other.log.isEmpty)
        #expect(WatchdogFlags([.cardReset, .overheat]).causeText == "overheated, watchdog reset")
        #expect(WatchdogFlags([.magicClose, .keepAlivePing]).causeText == "")
    }

    // MARK: - The kernel itself

    @Test func kernelAnswersForWhatIsNoWatchdog() throws {
        let kernel = LinuxWatchdogKernel()
        let null = WatchdogDevice(WatchdogLocation(path: "/dev/null", sysfs: nil), kernel: kernel)
        #expect(throws: WatchdogError.self) { try null.open(timeout: 20) }
        #expect(!null.isOpen)
        var descriptor: Int32 = -1
        #expect(kernel.open("/dev/null", &descriptor) == nil)
        var value: Int32 = 0
        #expect(kernel.control(descriptor, .getTimeout, &value) == Errno(rawValue: ENOTTY))
        #expect(kernel.write(descriptor, 0) == nil)
        kernel.close(descriptor)
        #expect(kernel.write(descriptor, 0) == Errno(rawValue: EBADF))
        #expect(kernel.open("/dev/watchdog-that-is-not", &descriptor) == .noEntry)
        #expect(kernel.read("/proc/1/comm")?.isEmpty == false && kernel.read("/nowhere") == nil)
        #expect(kernel.list("/nowhere").isEmpty && kernel.list("/dev").contains("null"))
    }

    /// As linux/watchdog.h has them on arm, arm64, riscv and x86.
    @Test func requestsAreTheKernels() {
        let numbers: [(WatchdogRequest, UInt)] = [
            (.bootStatus, 0x8004_5702), (.keepAlive, 0x8004_5705), (.setTimeout, 0xc004_5706),
            (.getTimeout, 0x8004_5707), (.setPretimeout, 0xc004_5708), (.getPretimeout, 0x8004_5709),
            (.timeLeft, 0x8004_570a),
        ]
        for (request, number) in numbers { #expect(linux_watchdog_number(request.rawValue) == number) }
        #expect(linux_watchdog_number(7) == 0)
    }

    @Test func aFifoInItsPlaceIsNotWaitedFor() throws {
        var name = Array("/tmp/curfew-watchdog-XXXXXX".utf8CString)
        let directory = String(cString: try #require(mkdtemp(&name)))
        let path = directory + "/fifo"
        defer {
            _ = CLinux.remove(path)
            _ = CLinux.remove(directory)
        }
        #expect(mkfifo(path, 0o600) == 0)
        let device = WatchdogDevice(WatchdogLocation(path: path, sysfs: nil), kernel: LinuxWatchdogKernel())
        #expect(throws: WatchdogError.self) { try device.open(timeout: 20) }
    }
}
