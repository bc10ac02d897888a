// What can be done about an end that the board asked for, or that was its own.

extension TerminationRecord {
    /// For its memory, by the kernel or by systemd-oomd: the code is SIGKILL's.
    var isByOthers: Bool { namespace == "jetsam" && number == 9 }
}

extension Advice {
    var memory: [String] {
        if report.isByOthers {
            return [
                "Which limit it was: journalctl -k tells, or journalctl -u systemd-oomd. Where it was its own, "
                    + "\(AppKeyName.memoryMax.text) of \(file), raise that, or have the app use less.",
                "Set \(AppKeyName.memoryHigh.text) well below \(AppKeyName.memoryMax.name): from there on it is slowed "
                    + "down and hears DidReceiveMemoryWarning, instead of being killed without a word.", comesBack,
            ]
        }
        return [
            "It need not be the culprit: suspended apps are ended first, then those of the lowest "
                + "\(AppKeyName.priorityBand.name), then the largest. Which app has how much: \(tool) status",
            "Bound the app that grows: \(AppKeyName.memoryHigh.setting("…M")) of its file. From there on it is slowed "
                + "down, and hears DidReceiveMemoryWarning.",
            "Have this app give back what it can when it hears DidReceiveMemoryWarning, and in "
                + "DidEnterBackground.",
            "If others are to go first, raise its \(AppKeyName.priorityBand.name) in \(file). From "
                + "\(protectedBand) it is ended only when no other is left.", comesBack,
        ]
    }

    var heat: [String] {
        [
            "Look at the board's cooling, and at what computes all the time: \(tool) status, top.",
            "Running apps of the lowest \(AppKeyName.priorityBand.name) are ended first, the next band ten seconds "
                + "later, until the board is cooler. If others are to go first, raise its "
                + "\(AppKeyName.priorityBand.name) in \(file); from \(protectedBand) it is not ended for heat.",
            "Save energy sooner: \(DeviceKeyName.thermalSerious.setting("low-power")) of \(deviceFile).",
            "What counts as critical is in the board's hardware profile, [[thermal]] (\(tool) profile show), or "
                + "else in the kernel's trip points (/sys/class/thermal).",
            "\(DeviceKeyName.thermalCritical.setting("low-power")) ends no app; then only the kernel's own shutdown "
                + "protects the board.", comesBack,
        ]
    }

    var lowBattery: [String] {
        [
            "Nothing was wrong with the app: it had its WillTerminate, and starts again with the board as its "
                + "launch says.",
            "From how many percent on that is: \(ProfileKeyName.batteryCritical.text) of the board's hardware profile "
                + "(\(ProfileKeyName.batteryCritical.standard) by default); \(ProfileKeyName.batteryLow.name) there "
                + "(\(ProfileKeyName.batteryLow.standard)) is when low power mode begins. See: \(tool) profile show",
            "\(DeviceKeyName.batteryCritical.setting("low-power")) of \(deviceFile) keeps the board on until "
                + "its supply fails.",
        ]
    }

    private var comesBack: String {
        "If it was in front it is started again when the board is well (not with "
            + "\(AppKeyName.restart.setting("never"))); else: \(tool) launch \(report.app)"
    }

    private var protectedBand: String {
        "\(DeviceKeyName.protectedBand.text) of \(deviceFile) on (\(DeviceKeyName.protectedBand.standard) by default)"
    }

    /// The end of a boot.
    var boot: [String] {
        let logs = "What was logged last before: journalctl -b -1 -e (where the journal is kept over boots)"
        switch report.namespace {
        case "watchdog":
            return [
                logs,
                "Its hardware watchdog was not fed: the kernel or curfewd hung, curfewd was stopped while the "
                    + "watchdog could not be, or an app with \(AppKeyName.essential.set("true")) was gone for good. "
                    + "Such an app's end is "
                    + "among the last before this one: \(tool) reports",
                "If the board was only very busy, give it more time: \(DeviceKeyName.watchdogTimeout.text) of "
                    + deviceFile,
            ]
        case "crash":
            return [
                "The kernel's last words: /sys/fs/pstore, or /var/lib/systemd/pstore where systemd keeps them.", logs,
            ]
        case "thermal":
            return [
                "Look at the board's cooling.",
                "Have apps told and ended before the hardware steps in: lower the limits in [[thermal]] of "
                    + "its hardware profile (\(tool) profile show), and see "
                    + "\(DeviceKeyName.thermalSerious.name) and \(DeviceKeyName.thermalCritical.text) of \(deviceFile)",
            ]
        case "lowBattery":
            return [
                "Charge the battery, or make it last: \(DeviceKeyName.batteryLow.name) = \"low-power\" and "
                    + "\(DeviceKeyName.onBattery.setting("low-power")) of \(deviceFile)",
                "If it ran out before curfewd could switch the board off, raise \(ProfileKeyName.batteryCritical.text) "
                    + "of its hardware profile (\(tool) profile show).",
            ]
        default:
            return [
                logs,
                "Power that is cut leaves no trace, nor does a reset button; a hardware watchdog that reports "
                    + "its resets would tell them from a hang (\(tool) profile show).",
            ]
        }
    }
}
