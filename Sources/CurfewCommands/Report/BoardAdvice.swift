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
                    + "memory-max in [limits] of \(file), raise that, or have the app use less.",
                "Set memory-high in [limits] well below memory-max: from there on it is slowed down and hears "
                    + "DidReceiveMemoryWarning, instead of being killed without a word.", comesBack,
            ]
        }
        return [
            "It need not be the culprit: suspended apps are ended first, then those of the lowest "
                + "priority-band, then the largest. Which app has how much: \(tool) status",
            "Bound the app that grows: memory-high = \"…M\" in [limits] of its file. From there on it is slowed "
                + "down, and hears DidReceiveMemoryWarning.",
            "Have this app give back what it can when it hears DidReceiveMemoryWarning, and in "
                + "DidEnterBackground.",
            "If others are to go first, raise its priority-band in \(file). From protected-band in [memory] of "
                + "\(deviceFile) on (900 by default) it is ended only when no other is left.", comesBack,
        ]
    }

    var heat: [String] {
        [
            "Look at the board's cooling, and at what computes all the time: \(tool) status, top.",
            "Running apps of the lowest priority-band are ended first, the next band ten seconds later, until "
                + "the board is cooler. If others are to go first, raise its priority-band in \(file); from "
                + "protected-band in [memory] of \(deviceFile) on (900 by default) it is not ended for heat.",
            "Save energy sooner: thermal-serious = \"low-power\" in [policy] of \(deviceFile).",
            "What counts as critical is in the board's hardware profile, [[thermal]] (\(tool) profile show), or "
                + "else in the kernel's trip points (/sys/class/thermal).",
            "thermal-critical = \"low-power\" in [policy] ends no app; then only the kernel's own shutdown "
                + "protects the board.", comesBack,
        ]
    }

    var lowBattery: [String] {
        [
            "Nothing was wrong with the app: it had its WillTerminate, and starts again with the board as its "
                + "launch says.",
            "From how many percent on that is: battery-critical in [power] of the board's hardware profile (5 "
                + "by default); battery-low there (20) is when low power mode begins. See: \(tool) profile show",
            "battery-critical = \"low-power\" in [policy] of \(deviceFile) keeps the board on until its supply "
                + "fails.",
        ]
    }

    private var comesBack: String {
        "If it was in front it is started again when the board is well (not with restart = \"never\"); else: "
            + "\(tool) launch \(report.app)"
    }

    /// The end of a boot.
    var boot: [String] {
        let logs = "What was logged last before: journalctl -b -1 -e (where the journal is kept over boots)"
        switch report.namespace {
        case "watchdog":
            return [
                logs,
                "Its hardware watchdog was not fed: the kernel or curfewd hung, curfewd was stopped while the "
                    + "watchdog could not be, or an app with essential = true was gone for good. Such an app's end is "
                    + "among the last before this one: \(tool) reports",
                "If the board was only very busy, give it more time: timeout in [watchdog] of \(deviceFile)",
            ]
        case "crash":
            return [
                "The kernel's last words: /sys/fs/pstore, or /var/lib/systemd/pstore where systemd keeps them.", logs,
            ]
        case "thermal":
            return [
                "Look at the board's cooling.",
                "Have apps paused and ended before the hardware steps in: lower the limits in [[thermal]] of "
                    + "its hardware profile (\(tool) profile show), and see thermal-serious and thermal-critical in "
                    + "[policy] of "
                    + deviceFile,
            ]
        case "lowBattery":
            return [
                "Charge the battery, or make it last: battery-low = \"low-power\" and on-battery = "
                    + "\"low-power\" in [policy] of \(deviceFile)",
                "If it ran out before curfewd could switch the board off, raise battery-critical in [power] of "
                    + "its hardware profile (\(tool) profile show).",
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
