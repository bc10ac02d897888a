import Configuration
import Lifecycle
import Testing
import Varlink

@testable import CurfewCommands

@Suite struct RenderingTests {
    private let plain = Style(isColoured: false)

    @Test func durationsAreForPeople() {
        let texts = [0, 0.0004, 0.12, 0.9999, 2.01, 5, 59.99, 185, 3600, 7500, 90000].map { Amounts.duration($0) }
        #expect(
            texts == [
                "0 ms", "0.4 ms", "120 ms", "1 s", "2.01 s", "5 s", "60 s", "3 min 5 s", "1 h", "2 h 5 min", "1 d 1 h",
            ])
        #expect(Amounts.bytes(12_900_000) == "12.3 MiB" && Amounts.bytes(600 << 10) == "600 KiB")
        #expect(Amounts.fixed(-0.25, 1) == "-0.3" && Amounts.fixed(1.995, 2) == "2.00" && Amounts.fixed(.nan, 1) == "?")
        #expect(Amounts.duration(.infinity) == "?" && Amounts.age(7200) == "2 h ago")
    }

    @Test func aTableGivesWayToANarrowTerminal() {
        var table = Table([
            Table.Column(title: "APP"), Table.Column(title: "PID", isNumber: true, dispensability: 1),
            Table.Column(title: "WHY"),
        ])
        table.add([Table.Cell("camera"), Table.Cell("7"), Table.Cell("a long explanation of what happened")])
        #expect(table.lines(plain, width: nil)[1] == "camera    7  a long explanation of what happened")
        #expect(table.lines(plain, width: 40)[1] == "camera    7  a long explanation of what…")
        #expect(table.lines(plain, width: 30) == ["APP     WHY", "camera  a long explanation of…"])
        for width in 1...60 {
            #expect(table.lines(plain, width: width).dropFirst().allSatisfy { $0.count <= max(width, 9) })
        }
    }

    @Test func colourLeavesTheTextAndItsWidthAlone() {
        var table = Table([Table.Column(title: "A"), Table.Column(title: "B")])
        table.add([Table.Cell("x", .good), Table.Cell("y", .bad)])
        let coloured = table.lines(Style(isColoured: true), width: 20).joined()
        let stripped = coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        #expect(coloured != stripped && stripped == table.lines(plain, width: 20).joined())
    }

    @Test func controlCharactersAreShown() {
        #expect("a\u{1B}[2Jb\nc\td\u{202E}".printable == "a\u{FFFD}[2Jb\u{FFFD}c    d\u{FFFD}")
        let blanks = ["\u{AD}", "\u{61C}", "\u{115F}", "\u{180E}", "\u{3164}", "\u{FFA0}", "\u{FFF9}"]
        for unseen in blanks + ["\u{200B}", "\u{2028}", "\u{2066}", "\u{FEFF}", "\u{E0041}"] {
            #expect("a\(unseen)b".printable == "a\u{FFFD}b")
        }
        // Joins of letters and of pictures are seen.
        #expect("é ü 日本 \u{1F469}\u{200D}\u{1F52C}".printable == "é ü 日本 \u{1F469}\u{200D}\u{1F52C}")
    }

    @Test func timesAreReadAsTheInterfaceWritesThem() throws {
        let time = try #require(LocalTime("2026-11-21T05:48:23.123Z"))
        #expect(time.milliseconds == 1_795_240_103_123)
        #expect(time.clock.hasSuffix(":48:23.123") || time.clock.hasSuffix(":18:23.123"))
        #expect(LocalTime("2026-11-21T05:48:23Z")?.milliseconds == 1_795_240_103_000)
        // A recording that was made up may have any time.
        #expect(LocalTime(milliseconds: -123).clock.hasSuffix(":59.877"))
        #expect(LocalTime(milliseconds: -1000).clock.hasSuffix(":59.000"))
        #expect(LocalTime(milliseconds: .min).clock.utf8.count > 0)
        #expect(LocalTime("yesterday") == nil && LocalTime("") == nil)
    }

    @Test(arguments: [
        ("camra", "camera"), ("cmaera", "camera"), ("cam", "camera"), ("x", nil), ("modme", "modem"), ("storag", nil),
    ])
    func suggestionsAreClose(_ typed: String, _ meant: String?) {
        #expect(Suggestion.closest(to: typed, among: ["camera", "modem"]) == meant)
    }

    @Test func monitorTellsWhatChanged() {
        func app(_ changes: JSONObject) -> AppRecord { AppRecord(Sample.app("camera", changes)) }
        let active = app([:])
        let background = app(["scenePhase": "background"])
        let suspended = app(["scenePhase": "background", "taskState": "suspended"])
        let ended = app(["scenePhase": .null, "taskState": "notRunning", "mainPID": .null])
        #expect(MonitorView.changes(from: nil, to: active) == "active, pid 1234")
        #expect(MonitorView.changes(from: active, to: active) == nil)
        #expect(MonitorView.changes(from: active, to: app(["scenePhase": "inactive"])) == "active -> inactive")
        #expect(MonitorView.changes(from: background, to: suspended) == "suspended")
        #expect(MonitorView.changes(from: suspended, to: background) == "thawed")
        #expect(MonitorView.changes(from: active, to: ended) == "not running")
        #expect(MonitorView.changes(from: ended, to: active) == "launched, pid 1234; active")
        #expect(MonitorView.changes(from: active, to: app(["statusText": "42 frames"])) == "says: 42 frames")
        let down = app([
            "scenePhase": .null, "taskState": "notRunning", "mainPID": .null, "leftDown": true, "statusText": "any",
        ])
        #expect(MonitorView.changes(from: ended, to: down) == "left down after repeated ends")
        #expect(MonitorView.changes(from: down, to: active) == "launched, pid 1234; active")
        // An older daemon has words for it alone.
        let told = app([
            "scenePhase": .null, "taskState": "notRunning", "mainPID": .null, "statusText": "left down, it says",
        ])
        #expect(MonitorView.changes(from: ended, to: told) == "says: left down, it says")
    }

    @Test func monitorAlignsAndNamesTheReport() throws {
        var view = MonitorView()
        let lines = view.lines(
            for: MonitorChange([
                "time": "2026-11-21T05:48:23.123Z", "kind": "termination", "app": "camera", "detail": Sample.overrun,
            ]), plain)
        #expect(lines.count == 1)
        let text = try #require(lines.first).dropFirst(14)
        #expect(
            text == "camera    killed: scene-update: DidEnterBackground did not return within 5 s "
                + "(watchdog 0x8badf00d) (report 17)")
    }

    @Test func aReportTellsHungFromBusy() {
        func load(_ cpu: JSON, _ uptime: JSON) -> ReportAccount.Load {
            let record = TerminationRecord(Sample.overrun.with("cpuSeconds", cpu).with("uptime", uptime))
            return ReportAccount(report: record, root: "", now: LocalTime(milliseconds: 0)).load
        }
        #expect(load(0.02, .null) == .waiting)
        #expect(load(4.9, 5.2) == .computing)
        #expect(load(4.9, 3600) == .unclear)
        #expect(load(4.9, .null) == .unclear)
        #expect(load(.null, 10) == .unclear)
    }

    @Test(arguments: [
        (TerminationReason.livenessMissed(interval: .seconds(2)), "gave no sign of life", "WATCHDOG=1"),
        (.unfreezable, "could not be frozen", "suspend = false"),
        (.lockTableFilled, "left curfewd no lock", "Inhibit"),
        (.sleepLockHeld, "held up sleep after sleep", "PrepareForSleep"),
        (.exitOverrun(allowance: .seconds(5)), "took too long to end", "SIGTERM"),
        (.handlerOverrun(.didFinishLaunching, allowance: .seconds(20)), "took too long to launch", "--delegate none"),
        (.readinessMissed(allowance: .seconds(20)), "took too long to launch", "READY=1"),
        (.signalled(11), "crashed", "coredumpctl"),
        (.launchFailed(errno: 2, "exec /x: No such file"), "could not be started", "/etc/curfew/apps/camera.toml"),
        (.exited(status: 3), "exited with status 3", "restart-limit"),
        (.memoryCritical(available: 12 << 20, bytes: 340 << 20, isProtected: false), "give its mem", "priority-band"),
        (.killedForMemory(by: .kernel), "by others than Curfew", "memory-max"),
        (.overheated, "too hot", "thermal-critical"),
        (.lowBattery(level: 4), "the battery was critical", "battery-critical"),
    ])
    func everyFailureHasAdvice(_ reason: TerminationReason, _ headline: String, _ expected: String) {
        let report: JSON = [
            "app": "camera", "namespace": .string(reason.namespace.name), "reason": .string(reason.name),
            "code": .string("0x" + String(reason.code, radix: 16)), "explanation": .string(reason.explanation),
            "event": reason.namespace == .watchdog && reason.name == "handlerOverrun" ? "DidFinishLaunching" : .null,
            "report": "1",
        ]
        let record = TerminationRecord(report)
        #expect(Advice(report: record, root: "").points.contains { $0.contains(expected) })
        let account = ReportAccount(report: record, root: "", now: LocalTime(milliseconds: 0))
        #expect(account.headline.hasPrefix("camera ") && account.headline.contains(headline))
    }

    @Test func aProgramThatEndedAtOnceMayHaveGoneToTheBackground() {
        func points(_ uptime: Double) -> [String] {
            let report: JSON = [
                "app": "nginx", "namespace": "exit", "reason": "exited", "code": "0x0", "uptime": .number(uptime),
                "report": "1",
            ]
            return Advice(report: TerminationRecord(report), root: "").points
        }
        #expect(points(0.2).count == 1 && points(0.2)[0].contains("daemon off"))
        #expect(points(60).isEmpty)
    }

    /// SIGUSR1 of curfewd's own, to a program that does not catch it.
    @Test(arguments: [(10, "DidEnterBackground", true), (11, "DidEnterBackground", false), (10, nil, false)])
    func aSignalOfCurfewdsOwnIsNoRiddle(_ number: Int32, _ event: String?, _ isTold: Bool) {
        let reason = TerminationReason.signalled(number)
        let report: JSON = [
            "app": "camera", "namespace": .string(reason.namespace.name), "reason": .string(reason.name),
            "code": .string("0x" + String(reason.code, radix: 16)), "event": JSON(event), "report": "1",
        ]
        let points = Advice(report: TerminationRecord(report), root: "").points
        let told = "if [signals] in /etc/curfew/apps/camera.toml names SIGUSR1 for that, the signal was curfewd's"
        #expect(points.contains { $0.contains(told) } == isTold)
        #expect(points.contains { $0.contains("coredumpctl") } == (number == 11))
    }

    /// Whether the handler or the exit takes too long: the advice is the same.
    @Test func anAppThatDelaysItsEndIsToldToExitSoon() {
        func points(_ reason: String, _ event: JSON) -> [String] {
            let report: JSON = ["app": "camera", "namespace": "watchdog", "reason": .string(reason), "event": event]
            return Advice(report: TerminationRecord(report), root: "").points
        }
        let expected = points("exitOverrun", .null)
        #expect(expected.first?.hasPrefix("Have it exit soon") == true)
        #expect(points("handlerOverrun", "WillTerminate") == expected)
        #expect(points("handlerOverrun", "DidEnterBackground") != expected)
    }

    @Test func anOrderlyEndAsksForNothing() {
        for namespace in ["user", "shutdown"] {
            let record = TerminationRecord(["app": "camera", "namespace": .string(namespace)])
            #expect(record.isOrderly && Advice(report: record, root: "").points.isEmpty)
        }
    }

    @Test func configurationSurvivesOddPaths() {
        #expect(TomlText.string("a\"b\\c\n\u{7F}é") == "\"a\\\"b\\\\c\\u000a\\u007fé\"")
        #expect(TomlText.array(["a", "b"]) == "[\"a\", \"b\"]")
    }
}
