import HardwareWatchdog
import Testing
import Varlink

@testable import CurfewCommands

/// What people see of the board's conditions.
@Suite struct BoardTests {
    private let plain = Style(isColoured: false)

    private func device(_ changes: JSONObject) -> DeviceRecord {
        DeviceRecord(changes.members.reduce(Sample.device) { $0.with($1.name, $1.value) })
    }

    private func lines(_ changes: JSONObject) -> [String] {
        DeviceLines(device: device(changes)).lines(plain, width: nil)
    }

    @Test func aBoardThatIsWellTakesFourLines() {
        let well = lines([
            "externalPower": true, "batteryLevel": .null, "profile": "none", "underVoltage": false, "limit": .null,
            "polled": [], "bootCause": "any words", "bootWasOrderly": true, "hardwareWatchdog": "any words",
            "hardwareWatchdogProblem": "no driver",
        ])
        #expect(
            well == [
                "  Device  awake, after sleep 3", "  Power   external power",
                "  Board   no hardware profile; no hardware watchdog: no driver",
                "  Limits  logind waits 5 s before a sleep",
            ])
    }

    @Test func whatIsTheMatterHasALineOfItsOwn() {
        let ill = lines([
            "batteryLevel": 0.04, "lowPowerMode": true, "underVoltage": true, "thermalState": "serious",
            "memoryPressure": "warning", "limit": "the session is locked", "profile": "pinephone",
            "hardwareWatchdog": "/dev/watchdog0 (sunxi-wdt), 16 s",
            "polled": ["cpu (it has no trip points)", "battery level"],
            "bootCause": "reset by the hardware watchdog (boot status: card reset)", "bootWasOrderly": false,
            "freezingProblem": "no control group",
        ])
        #expect(
            ill == [
                "  Device     awake, after sleep 3",
                "  Power      on battery, battery 4 %, low power mode, under-voltage: the supply or its cable is too",
                "             weak",
                "  Heat       thermal state serious", "  Memory     memory pressure: warning",
                "  Front      no app can come to the front: the session is locked",
                "  Board      hardware profile pinephone; hardware watchdog /dev/watchdog0 (sunxi-wdt), 16 s; polled:",
                "             cpu (it has no trip points), battery level",
                "  Limits     logind waits 5 s before a sleep",
                "  Freezing   no app can be frozen: no control group",
                "  Last boot  reset by the hardware watchdog (boot status: card reset)",
            ])
    }

    @Test func aBootThatEndedWellIsNotSpokenOf() {
        func badBoot(_ cause: BootCause) -> String? {
            device(["bootCause": .string(cause.explanation), "bootWasOrderly": JSON(cause.wasOrderly)]).badBoot
        }
        for word in LastWord.allCases {
            let cause = BootCause(.init(lastWord: word))
            let isWell = cause.kind == .reboot || cause.kind == .shutdown
            #expect((badBoot(cause) == nil) == isWell, "\(word)")
        }
        #expect(badBoot(BootCause(.init())) == nil, "nothing is known")
        let odd = BootCause(.init(bootStatus: .cardReset, lastWord: .rebooting))
        #expect(badBoot(odd) == odd.explanation, "it may have hung on its way down")
        let reset = BootCause(.init(bootStatus: .cardReset))
        #expect(badBoot(reset) == reset.explanation)
        #expect(device(["bootCause": "no last words", "bootWasOrderly": false]).badBoot == "no last words")
        #expect(device(["bootCause": "restarted"]).badBoot == "restarted", "an older daemon's sentence is shown")
    }

    @Test func anOlderDaemonKnowsLess() {
        let old = DeviceRecord(["sleepState": "awake", "sleepId": 0])
        #expect(!old.underVoltage && old.limit == nil && old.polled.isEmpty && old.badBoot == nil)
        #expect(DeviceLines(device: old).lines(plain, width: nil).count == 4)
    }

    @Test func statusGivesEverythingAsJson() throws {
        let full = Sample.device.with("limit", "the lid is closed").with("polled", ["battery level"])
        let daemon = try PlayedDaemon { _, _ in
            .replies([Sample.change("device", full), Sample.change("synchronized", [:])])
        }
        #expect(try JSON.parse(daemon.run("status", "--json").output)["device"] == full)
    }

    // MARK: monitor

    @Test(
        arguments: [
            (["sleepState": "preparing"], ["sleep 3 preparing"]), (["externalPower": true], ["external power"]),
            (["batteryLevel": 0.81], ["battery 81 %"]), (["batteryLevel": 0.8201], []),
            (["externalPower": true, "batteryLevel": .null], ["external power, no battery"]),
            (["lowPowerMode": true], ["low power mode"]), (["thermalState": "serious"], ["thermal state serious"]),
            (["underVoltage": true], ["under-voltage: the supply or its cable is too weak"]),
            (["memoryPressure": "critical"], ["memory pressure critical"]),
            (["limit": "the board is idle"], ["no app can come to the front: the board is idle"]),
            (["profile": "qemu"], ["hardware profile qemu"]), (["inhibitDelayMax": .null], ["logind is gone"]),
            (
                ["hardwareWatchdog": "none: it is busy", "hardwareWatchdogProblem": "it is busy"],
                ["no hardware watchdog: it is busy"]
            ),
            // An older daemon.
            (["hardwareWatchdog": "none: it is busy"], ["hardware watchdog none: it is busy"]),
            (["polled": ["under-voltage"]], ["polled: under-voltage"]), ([:], []),
            (
                ["lowPowerMode": true, "batteryLevel": 0.2, "limit": "x"],
                ["battery 20 %", "low power mode", "no app can come to the front: x"]
            ),
        ] as [(JSONObject, [String])])
    func monitorSaysOnlyWhatChanged(_ changes: JSONObject, _ expected: [String]) {
        let before = device([:])
        #expect(device(changes).changes(since: before).map(\.text) == expected)
        // And back.
        #expect(before.changes(since: device(changes)).count == expected.count)
    }

    @Test func monitorBeginsWithWhatIsTheMatter() {
        #expect(device([:]).changes(since: nil).map(\.text) == ["awake, sleep 3 is over", "on battery, battery 82 %"])
        let ill = device(["lowPowerMode": true, "bootCause": "reset by the hardware watchdog"])
        #expect(
            ill.changes(since: nil).map(\.text).suffix(2) == [
                "low power mode", "how the last boot ended: reset by the hardware watchdog",
            ])
        var view = MonitorView()
        let change = MonitorChange(Sample.change("device", Sample.device))
        #expect(view.lines(for: change, plain).count == 2)
        #expect(view.lines(for: change, plain) == [])
    }

    // MARK: reports

    private static let reset: JSON = [
        "app": "(board)", "time": "2026-11-21T05:48:23.123Z", "namespace": "watchdog", "code": "0x0",
        "explanation": "reset by the hardware watchdog: it hung while it went down", "event": .null, "wallSeconds": 0.0,
        "report": "19", "scenePhase": "background", "uptime": 0.0,
    ]

    @Test func theEndOfABootIsToldAsSuch() throws {
        let daemon = try PlayedDaemon { _, _ in .reply(["terminations": [Sample.overrun, Self.reset]]) }
        let table = daemon.run("reports").output.split(separator: "\n")
        #expect(table[2].hasSuffix("(board)      -     -  reset by the hardware watchdog: it hung while it went down"))
        let account = daemon.run("report", "19").output
        #expect(account.hasPrefix("Report 19: the board did not go down in good order\n"))
        #expect(account.contains("reset by the hardware watchdog: it hung") && account.contains("Noticed"))
        #expect(account.contains("journalctl -b -1 -e") && account.contains("essential = true"))
        for word in ["scene", "Had run", "killed", "0x0", "apps/(board)"] {
            #expect(!account.contains(word), "\(word)")
        }
        var view = MonitorView()
        let lines = view.lines(for: MonitorChange(Sample.change("termination", Self.reset)), plain)
        #expect(
            lines.first?.hasSuffix(
                "device    how the last boot ended: reset by the hardware watchdog: it hung while it went down "
                    + "(report 19)"
            ) == true)
    }

    @Test(arguments: ["watchdog", "crash", "thermal", "lowBattery", "unknown"])
    func everyEndOfABootHasAdvice(_ namespace: String) {
        let record = TerminationRecord(Self.reset.with("namespace", .string(namespace)))
        #expect(!Advice(report: record, root: "").points.isEmpty && !record.isOrderly && !record.isKill)
    }

    @Test func noEndOfABootIsNoUnknownApp() throws {
        let daemon = try PlayedDaemon { method, _ in
            #expect(method == "ListTerminations")
            return .reply(["terminations": []])
        }
        let outcome = daemon.run("reports", "(board)")
        #expect(outcome.code == 0 && outcome.output == "No boot is known to have ended badly.\n")
    }

    @Test func aKillByTheKernelIsSaidOnce() {
        let record = TerminationRecord([
            "app": "camera", "namespace": "jetsam", "code": "0x9", "explanation": "killed by the kernel: used up",
        ])
        #expect(record.sentence == "killed by the kernel: used up (jetsam)")
    }

    // MARK: low-power

    @Test(
        arguments: [
            ("on", .bool(true), true, "low power mode is on, until you say otherwise"),
            ("off", .bool(false), false, "low power mode is off, until you say otherwise"),
            ("off", .bool(false), true, "low power mode will be off in a moment, until you say otherwise"),
            ("auto", .null, true, "low power mode is automatic, and on now\n"),
        ] as [(String, JSON, Bool, String)])
    func lowPowerSaysWhatItIsNow(_ setting: String, _ enabled: JSON, _ isOn: Bool, _ expected: String) throws {
        let daemon = try PlayedDaemon { method, parameters in
            if method == "DescribeDevice" { return .reply(["device": Sample.device.with("lowPowerMode", .bool(isOn))]) }
            #expect(method == "SetLowPowerMode" && parameters["enabled"] == enabled)
            return .reply([:])
        }
        let outcome = daemon.run("low-power", setting)
        #expect(outcome.code == 0 && outcome.output.hasPrefix(expected), "\(outcome.output)")
        let json = try JSON.parse(daemon.run("low-power", setting, "--json").output)
        #expect(json == ["setting": .string(setting), "lowPowerMode": .bool(isOn)])
    }

    @Test func lowPowerThatCannotBeKeptIs1AndWhy() throws {
        let daemon = try PlayedDaemon { _, _ in
            .error("io.curfew.Control.Denied", ["reason": "/var/lib/curfew/preferences.json: No space left on device"])
        }
        let outcome = daemon.run("low-power", "on")
        #expect(outcome.code == 1 && outcome.output == "")
        #expect(
            outcome.error == "curfew: the device was not set to low power mode 'on': "
                + "/var/lib/curfew/preferences.json: No space left on device\n")
    }

    @Test func reloadNamesWhatIsNoApp() throws {
        let daemon = try PlayedDaemon { _, _ in .reply(["changed": ["camera", "curfew.toml", "hardware profile"]]) }
        #expect(daemon.run("reload").output == "changed: camera, curfew.toml, hardware profile\n")
    }
}
