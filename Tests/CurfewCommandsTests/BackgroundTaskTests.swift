import Testing
import Varlink

@testable import CurfewCommands

@Suite struct BackgroundTaskTests {
    private let plain = Style(isColoured: false)

    @Test func tasksIsATable() throws {
        let tasks = [
            Sample.task("upload", ["timeRemaining": 590.0, "keepAwake": true]),
            Sample.task("index\u{1B}[2J", ["app": "mail", "identifier": 12]),
        ]
        let daemon = try PlayedDaemon { _, _ in .state(apps: [Sample.app("camera"), Sample.app("mail")], tasks: tasks) }
        let outcome = daemon.run("tasks")
        #expect(outcome.code == 0 && outcome.error == "")
        #expect(
            outcome.output == """
                APP     ID  POLICY         HELD FOR   TIME LEFT  NAME
                camera   7  keep-awake          3 s  9 min 50 s  upload
                mail    12  opportunistic       3 s    no limit  index\u{FFFD}[2J

                """)
        #expect(try JSON.parse(daemon.run("tasks", "--json").output)["tasks"] == .array(tasks))
    }

    @Test func noTasksIsALine() throws {
        let daemon = try PlayedDaemon { _, _ in .state(apps: [Sample.app("camera")]) }
        #expect(daemon.run("tasks").output == "No app holds a background task.\n")
        #expect(try JSON.parse(daemon.run("tasks", "--json").output) == ["tasks": []])
    }

    @Test func aDaemonThatEndsInTheMiddleOfItsStateIs4() throws {
        let daemon = try PlayedDaemon { _, _ in .hangUp }
        #expect(daemon.run("tasks").code == 4)
        let rude = try PlayedDaemon { _, _ in .replies([Sample.change("device", Sample.device)]) }
        #expect(rude.run("tasks").code == 1, "an error in place of the rest of the state")
    }

    @Test func statusHasAColumnForThemOnlyWhereItMatters() throws {
        let background = Sample.app("camera", ["scenePhase": "background", "backgroundTimeRemaining": 590.0])
        let daemon = try PlayedDaemon { _, _ in
            .state(apps: [background, Sample.app("mail")], tasks: [Sample.task("a"), Sample.task("b")])
        }
        let lines = daemon.run("status").output.split(separator: "\n").map(String.init)
        #expect(lines[4] == "APP     STATE        PID    MEMORY  LAUNCHES  BACKGROUND                LAST END")
        #expect(lines[5] == "camera  background  1234  12.3 MiB         1  2 tasks, 9 min 50 s left  -")
        #expect(lines[6] == "mail    active      1234  12.3 MiB         1  -                         -")
        let json = try JSON.parse(daemon.run("status", "--json").output)
        #expect(json["tasks"]?.arrayValue?.count == 2)
        let idle = try PlayedDaemon { _, _ in .state(apps: [Sample.app("mail")]) }
        #expect(!idle.run("status").output.contains("BACKGROUND"))
    }

    @Test func statusOfAnAppListsItsTasks() throws {
        let daemon = try PlayedDaemon { _, _ in
            .reply([
                "app": Sample.app("camera", ["backgroundTimeRemaining": 4.5]),
                "tasks": [Sample.task("upload", ["timeRemaining": 4.5])],
            ])
        }
        let output = daemon.run("status", "camera").output
        #expect(output.contains("  Background time  4.5 s left\n"))
        #expect(
            output.contains(
                """

                Background tasks:
                  ID  POLICY         HELD FOR  TIME LEFT  NAME
                   7  opportunistic       3 s      4.5 s  upload

                """))
    }

    @Test func monitorTellsBeginWarningAndEnd() {
        var view = MonitorView()
        func line(_ kind: String, _ detail: JSON) -> String? {
            view.lines(for: MonitorChange(Sample.change(kind, detail)), plain).first.map { String($0.dropFirst(24)) }
        }
        #expect(line("task", Sample.task("upload")) == "holds task “upload” (7) for 3 s")
        #expect(line("synchronized", [:]) == nil)
        #expect(
            line("task", Sample.task("index", ["identifier": 8, "keepAwake": true, "timeRemaining": 30.0]))
                == "begins task “index” (8), keep-awake, 30 s left")
        #expect(line("task", Sample.task("upload", ["secondsHeld": 4.0])) == nil)
        #expect(line("task", Sample.task("upload", ["timeRemaining": 5.0])) == "task “upload” (7): 5 s left")
        #expect(line("task", Sample.task("upload")) == "task “upload” (7): no limit any more")
        for (ended, text) in [("ended", "ended"), ("expired", "expired"), ("died", "ended with its process")] {
            #expect(
                line("task", Sample.task("upload", ["ended": .string(ended)])) == "task “upload” (7) \(text) after 3 s")
        }
        #expect(line("task", Sample.task("upload")) == "begins task “upload” (7)", "forgotten once it has ended")
    }

    @Test func aReportSaysHowLongItHadAndHowToAskForMore() {
        let record = TerminationRecord(Sample.budget)
        #expect(record.isKill && !record.isOrderly)
        #expect(record.sentence.hasPrefix("killed: ") && record.sentence.hasSuffix("(backgroundTask 0x2182bad2)"))
        let account = ReportAccount(report: record, root: "/r", now: LocalTime(milliseconds: 0))
        let text = account.lines(plain, width: nil).joined(separator: "\n")
        #expect(text.contains("its background time ran out while it still held a task (0x2182bad2)"))
        #expect(text.contains("10 min of background time, for all its tasks together"))
        #expect(text.contains("1.5 s in its whole run: in its background time it was waiting for something"))
        let advice = Advice(report: record, root: "/r").points
        #expect(advice.contains { $0.contains("BackgroundTaskWillExpire") })
        #expect(advice.contains { $0.contains("in chunks") })
        #expect(
            advice.last == "If it needs longer by design, raise its budget in /r/etc/curfew/apps/camera.toml: "
                + "[background] task-budget = \"1200s\"")
        #expect(!advice.contains { $0.contains("what is left of 30 s") })
        let short = TerminationRecord(Sample.budget.with("timeAllowance", 30.0))
        #expect(Advice(report: short, root: "").points.contains { $0.contains("what is left of 30 s") })
    }

    @Test func aReportOnATaskOfItsOwnNamesTheOption() {
        let record = TerminationRecord(Sample.budget.with("app", "task-backup").with("timeAllowance", 90.0))
        let advice = Advice(report: record, root: "").points
        #expect(advice.contains("If it needs longer by design: curfew run --name backup --budget 180s -- …"))
        #expect(!advice.contains { $0.contains("apps/task-backup.toml") })
    }
}
