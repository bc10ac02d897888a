internal import Configuration
internal import HardwareWatchdog
internal import Journal
internal import Lifecycle
internal import SystemCalls

/// The board's watchdog as the core wants it, and the last words that tell the next boot how this one ended.
final class WatchdogFeeder {
    private unowned(unsafe) let supervisor: Supervisor
    private let kernel = LinuxWatchdogKernel()
    private let words: LastWords
    private var settings: BoardSettings?
    private var device: WatchdogDevice?
    /// It was armed, by the loop before this one, too, and was not closed for good since.
    private var isArmed: Bool
    /// That it cannot be had has been said.
    private var isTrying = false
    private var saidNotFed = false
    /// The kernel is about to sleep, or does: it is as the sleep needs it.
    private var isResting = false
    private var lastWord = LastWord.running
    /// Why there is none, for people; "" where none is wanted.
    private var absence = ""
    private(set) var cause: BootCause?

    init(_ supervisor: Supervisor) {
        self.supervisor = supervisor
        isArmed = supervisor.core.expectsWatchdog
        words = LastWords(path: supervisor.paths.state + "/last-words")
    }

    /// Why there is none; nil where there is one, or none is wanted.
    var problem: String? { device?.isOpen == true || absence.isEmpty ? nil : absence }

    /// For people: "/dev/watchdog0 (iTCO_wdt), 30 s"; nil: there is none, and none is wanted.
    var status: String? {
        guard let device, device.isOpen else { return problem.map { "none: " + $0 } }
        return device.location.path + " (" + device.support.identity + "), \(device.timeout) s"
    }

    /// What a reload in a sleep asks for: it is armed only when the kernel sleeps no more.
    private var deferred: BoardSettings?

    /// Opens it, or changes its timeout. What runs and is not wanted any more is stopped.
    func configure(_ next: BoardSettings) {
        deferred = nil
        if isResting || supervisor.core.device.sleepState == .asleep && !next.board.sleep.isLogical {
            deferred = next
            return
        }
        let location = find(next)
        if let device, device.location != location { close(device) }
        let isSame =
            settings.map { $0.watchdogTimeout == next.watchdogTimeout && $0.board.watchdog == next.board.watchdog }
            ?? false
        settings = next
        if let location, device?.isOpen != true || !isSame {
            let device = self.device ?? WatchdogDevice(location, kernel: kernel)
            self.device = device
            open(device)
        }
        judgeBoot()
    }

    /// A watchdog has come, or gone.
    func tryAgain() {
        guard let settings = deferred ?? settings else { return }
        if device?.isOpen != true, !isResting { configure(settings) } else { judgeBoot() }
    }

    private func find(_ settings: BoardSettings) -> WatchdogLocation? {
        absence = ""
        switch settings.watchdogDevice {
        case .none: return nil
        case .path(let path): return .named(path, kernel: kernel)
        case .automatic:
            // A daemon with a root of its own is a guest here.
            if !supervisor.paths.root.isEmpty { return nil }
            let watchdog = settings.board.watchdog
            let found = WatchdogLocation.find(driver: watchdog.driver ?? watchdog.identity ?? "", kernel: kernel)
            if found == nil { absence = "the board has none" }
            return found
        }
    }

    private func open(_ device: WatchdogDevice) {
        guard let settings else { return }
        let wanted = Int(settings.watchdogTimeout.rawValue / 1_000_000_000)
        do throws(WatchdogError) {
            try device.open(timeout: max(wanted, 1), maximum: maximum, stoppable: isStoppable)
            saidNotFed = false
            supervisor.log.daemon(.info, "hardware watchdog: " + (status ?? ""), .hardwareWatchdog)
            if let remark = device.timeoutRemark { supervisor.log.daemon(.notice, remark, .hardwareWatchdog) }
            let plan = plan(device)
            if plan.isWarning, !settings.board.sleep.isLogical {
                supervisor.log.daemon(.warning, plan.explanation, .hardwareWatchdog)
            }
        } catch {
            absence = error.text
            if !isTrying {
                supervisor.log.daemon(.warning, "no hardware watchdog: " + error.text, .hardwareWatchdog)
            }
        }
        tell(device)
    }

    private var maximum: Int? {
        settings?.board.watchdog.maxTimeout.map { Int($0.rawValue / 1_000_000_000) }
    }

    /// The profile's word.
    private var isStoppable: Bool { settings?.board.watchdog.isStoppable ?? true }

    private func tell(_ device: WatchdogDevice) {
        if device.isOpen {
            isArmed = true
            supervisor.dispatch(.watchdog(.hardware(timeout: .seconds(Int64(device.timeout)))))
        } else {
            supervisor.dispatch(.watchdog(isArmed && !isResting ? .lost : .hardware(timeout: nil)))
        }
    }

    func feed() { attempt { device throws(WatchdogError) in try device.feed() } }

    /// The kernel is about to sleep.
    func rest() {
        isResting = true
        attempt { device throws(WatchdogError) in try device.prepareForSleep(plan(device)) }
        if let device { tell(device) }
    }

    /// It is awake again: hardware may have forgotten everything, and say that it has not.
    func wake() {
        isResting = false
        attempt { device throws(WatchdogError) in try device.rearm(stoppable: isStoppable) }
        if let device, device.isOpen { tell(device) }
    }

    /// It was lost, and some time has passed.
    func retry() {
        guard let device, let wanted = deferred ?? settings else {
            return supervisor.dispatch(.watchdog(.hardware(timeout: nil)))
        }
        isTrying = true
        if device.isOpen { tell(device) } else { configure(wanted) }
        isTrying = false
    }

    private func plan(_ device: WatchdogDevice) -> SleepPlan {
        let watchdog = settings?.board.watchdog
        let inSleep: SleepPlan.InSleep =
            switch watchdog?.inSleep {
            case .stops: .stops
            case .counts: .counts
            case .unknown, nil: .unknown
            }
        let stops = isStoppable && device.isStoppable == true
        return SleepPlan(inSleep: inSleep, stoppable: stops, limits: device.limits, timeout: device.timeout)
    }

    private func attempt(_ action: (WatchdogDevice) throws(WatchdogError) -> Void) {
        guard let device else { return }
        do throws(WatchdogError) {
            try action(device)
            saidNotFed = false
        } catch {
            if !saidNotFed { supervisor.log.daemon(.error, error.text, .hardwareWatchdog) }
            saidNotFed = true
            absence = error.text
            if !device.isOpen {
                tell(device)
                supervisor.control?.deviceDidChange()
            }
        }
    }

    private func close(_ device: WatchdogDevice) {
        if device.isOpen, device.stop() == .runsOn {
            supervisor.log.daemon(
                .warning, device.location.path + " cannot be stopped: the board resets unless another program feeds it",
                .hardwareWatchdog)
        }
        self.device = nil
        isArmed = false
        supervisor.dispatch(.watchdog(.hardware(timeout: nil)))
    }

    /// The daemon leaves in good order, and feeds it no more.
    func leave(isShuttingDown: Bool) {
        if let device { close(device) }
        say(isShuttingDown ? .goingDown : .stopped)
    }

    func deviceDidChange(_ device: DeviceView) {
        hearBattery(device)
        if let deferred, device.sleepState != .asleep { configure(deferred) }
    }

    /// Should the battery run out without a word, the next boot knows why. It has recovered only when it is well above
    /// the threshold, so that neither hovering nor a loose plug wears the flash.
    private func hearBattery(_ device: DeviceView) {
        guard lastWord != .goingDown, !device.isShuttingDown else { return }
        // A battery that cannot be read is not full; what has external power does not go down with it.
        guard let level = device.batteryLevel ?? (device.externalPower == true ? 100 : nil) else { return }
        let low = settings?.board.power.batteryLow ?? 0
        if level <= low, device.externalPower != true {
            say(.runningLow)
        } else if lastWord != .running, level >= low + 5 {
            say(.running)
        } else if lastWord == .poweringOffBattery {
            say(.runningLow)
        }
    }

    // MARK: The boot before

    /// Why this boot started; judged as soon as the watchdog was asked, and again when one comes that was not there:
    /// its driver may be loaded after the daemon was started.
    private func judgeBoot() {
        let before = words.causeSoFar
        let found = words.bootCause(
            bootStatus: WatchdogLocation.bootStatus(kernel: kernel),
            reportsResets: device?.support.options.contains(.cardReset) ?? false)
        guard found != cause else { return }
        cause = found
        if found.explanation != before?.explanation { supervisor.reportBoot(found, before: before) }
        hearBattery(supervisor.core.device)
        say(lastWord)
    }

    /// The battery is critical, and every app is gone; or the board stays on after all.
    func saysPowerOff(_ isPoweringOff: Bool) { say(isPoweringOff ? .poweringOffBattery : .runningLow) }

    private func say(_ word: LastWord) {
        // Not before what the last boot left has been read.
        guard cause != nil else { return }
        // Why the board goes down stays what it was.
        if lastWord == .poweringOffBattery, word == .goingDown || word == .stopped { return }
        lastWord = word
        do throws(SystemError) {
            try Files.createDirectories(supervisor.paths.state, mode: 0o750)
            try words.say(word)
        } catch {
            supervisor.log.daemon(.warning, "the last words cannot be written: " + error.text)
        }
    }
}
