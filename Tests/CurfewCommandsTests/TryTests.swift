import Configuration
import Foundation
import Lifecycle
import Testing
import Varlink

@testable import CurfewCommands

@Suite struct TryScriptTests {
    private func steps(_ text: String) -> [TryScript.Step] { TryScript(text).lines.map(\.step) }

    @Test func everyStepIsRead() {
        let script = TryScript(
            """
            # how an upload ends
            front
              background   # and what follows is no step

            sleep
            wake\r
            memory-warning
            memory-warning critical
            skip 5 minutes
            skip 1h 30min
            skip 90
            expect suspended
            expect task upload of the day
            expect tasks
            expect no-tasks
            wait-for ended
            wait-for task upload within 500ms
            wait-for inactive within 2 s
            """)
        #expect(script.mistakes.isEmpty)
        #expect(
            script.lines.map(\.step) == [
                .act(.front), .act(.background), .act(.sleep), .act(.wake), .act(.memoryWarning("warning")),
                .act(.memoryWarning("critical")), .act(.skip(300)), .act(.skip(5400)), .act(.skip(90)),
                .expect(.suspended), .expect(.task("upload of the day")), .expect(.task(nil)), .expect(.noTasks),
                .waitFor(.ended, seconds: TryScript.patience), .waitFor(.task("upload"), seconds: 0.5),
                .waitFor(.inactive, seconds: 2),
            ])
        #expect(script.lines.map(\.number) == [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18])
        #expect(script.lines[1].text == "background")
        #expect(steps("") == [] && steps("\n# nothing\n") == [])
    }

    @Test func everyWordOfTheBoardIsRead() {
        func word(_ text: String, _ parameter: String, _ value: JSON) {
            guard case .act(.condition(let word))? = steps(text).first else {
                Issue.record("\(text) is no word of the board: \(TryScript(text).mistakes)")
                return
            }
            #expect(word.parameter == parameter && word.value == value && word.text == text)
        }
        word("lock", "locked", true)
        word("unlock", "locked", false)
        word("lid closed", "lidClosed", true)
        word("lid open", "lidClosed", false)
        word("charger off", "externalPower", false)
        word("battery 15", "batteryLevel", 0.15)
        word("battery 100%", "batteryLevel", 1.0)
        word("thermal critical", "thermalState", "critical")
        word("low-power on", "enabled", true)
        word("low-power auto", "enabled", .null)
    }

    @Test(arguments: [
        ("lock twice", "expected 'lock'"), ("charger", "expected 'charger on' or 'charger off'"),
        ("battery", "battery 15"), ("battery 101", "battery takes a percentage"), ("battery -1", "percentage"),
        ("battery low", "percentage"), ("thermal hot", "'thermal serious'"), ("chrger on", "did you mean 'charger'?"),
        ("frnt", "no step 'frnt'; did you mean 'front'?"), ("front now", "'now' is too much after 'front'"),
        ("skip", "expected a duration"), ("skip 5 parsecs", "expected a duration"), ("skip -1s", "not negative"),
        ("skip 0", "skip takes a time"), ("memory-warning loud", "memory-warning critical"),
        ("expect", "expected one of: active"), ("expect asleep", "'asleep'"), ("expect suspnded", "'suspended'"),
        ("expect task", "expected the task's name"), ("expect active within 5s", "'within' is too much"),
        ("wait-for ended 5s", "expected 'within' and a time"), ("wait-for ended within", "expected a duration"),
        ("expect no-tasks please", "'please' is too much after 'expect no-tasks'"),
    ])
    func aMistakeSaysWhatWasExpected(_ line: String, _ expected: String) {
        let script = TryScript("front\n\n\(line)\nbackground\n")
        #expect(script.mistakes.map(\.line) == [3])
        #expect(script.mistakes.first?.text.contains(expected) == true, "\(script.mistakes)")
        #expect(script.lines.count == 2, "the other lines are read all the same")
    }

    @Test func mistakesAre2WithFileAndLine() throws {
        let file = NSTemporaryDirectory() + "script-\(UUID().uuidString)"
        try "front\nbakground\nskip soon\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let outcome = PlayedDaemon.run(["try", "--script", file, "--", "true"])
        let lines = outcome.error.split(separator: "\n")
        #expect(outcome.code == 2 && outcome.output == "" && lines.count == 2)
        #expect(lines[0].hasPrefix("curfew: \(file):2: no step 'bakground'; did you mean 'background'?"))
        #expect(lines[1].hasPrefix("\(file):3: expected a duration"))
        let mark = file + ".mark"
        #expect(PlayedDaemon.run(["try", "--script", file, "--", "touch", mark]).code == 2)
        #expect(!FileManager.default.fileExists(atPath: mark), "nothing is run before the script is read")
        let missing = PlayedDaemon.run(["try", "--script", "/nonexistent", "--", "true"])
        #expect(missing.code == 2 && missing.error.contains("/nonexistent"))
    }

    @Test(arguments: [
        ["try", "--script", "x"], ["try", "--root", "/x", "--script", "x", "--", "true"],
        ["try", "--script", "x", "--delegate", "hooks", "--", "true"],
        ["try", "--script", "x", "--delegate", "carrier-pigeon", "--", "true"], ["try", "true"],
    ])
    func wrongUsageIs2(_ arguments: [String]) {
        #expect(PlayedDaemon.run(arguments).code == 2)
    }

    @Test func aCommandThatIsNotThereIs127() {
        let outcome = PlayedDaemon.run(["try", "--script", "/dev/null", "--", "no-such-command-at-all"])
        #expect(outcome.code == 127 && outcome.error.contains("no-such-command-at-all"), "\(outcome.error)")
    }
}

@Suite struct TryAppTests {
    private func parse(_ text: String, name: String = "camera") throws -> AppConfiguration {
        switch AppConfiguration.parse(Array(text.utf8), name: name, file: "f") {
        case .valid(let app): return app
        case .invalid(_, let errors): throw Unreadable(text: "\(errors)\n\(text)")
        }
    }

    private struct Unreadable: Error { let text: String }

    @Test func aCommandGetsWhatItWouldHaveInTheShell() throws {
        let app = TryApp(
            command: ["/bin/echo", "a \"b\"", "\\"], name: "echo", delegate: nil, directory: "/tmp/x y",
            environment: [
                "HOME=/home/me", "EMPTY=", "PS1=\\u\n$", "CURFEW_APP=other", "NOTIFY_SOCKET=/x", "BASH_FUNC%%=x",
            ])
        let read = try parse(app.text)
        #expect(read.exec == ["/bin/echo", "a \"b\"", "\\"])
        #expect(read.delegate == .varlink && read.policy.launch == .manual && read.workingDirectory == "/tmp/x y")
        #expect(read.environment.map(\.name) == ["HOME", "EMPTY", "PS1"])
        #expect(read.environment.map(\.value) == ["/home/me", "", "\\u\n$"])
        #expect(app.name == "echo")
        let reserved = TryApp(command: ["/x"], name: "task-x", delegate: "none", directory: "/", environment: [])
        #expect(reserved.name == "app")
        #expect(try parse(reserved.text).delegate == .none)
    }

    private static let file = """
        # The camera's file.
        description = \"\"\"exec = ["no"]
        [not a table]\"\"\"
        "exec" = [   # over
          "/usr/bin/camera", '--title=[a]',  # several ] lines
        ]
        after = ["storage"]
        environment.MODE = 'board'
        launch = "boot"
        start = "background"
        delegate = "hooks"

        [background]
        task-budget = "90s"

        [environment]
        TZ = "UTC"

        [hooks]
        did-enter-background = ["/bin/true"]
        """

    @Test func aFileKeepsAllButItsProgram() throws {
        let path = NSTemporaryDirectory() + "\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = Self.file.replacing("environment.MODE = 'board'\n", with: "").replacing(
            "\"]\n[not", with: "\"] [not"
        )
        .replacing("\"\"\"", with: "'")
        try file.write(toFile: path + "/camera.toml", atomically: true, encoding: .utf8)
        let own = try TryApp(
            file: path + "/camera.toml", command: nil, delegate: nil, directory: "/here", environment: ["TZ=x", "A=1"])
        #expect(own.name == "camera" && own.startsInBackground)
        let read = try parse(own.text)
        #expect(read.exec == ["/usr/bin/camera", "--title=[a]"])
        #expect(read.environment.map(\.name) == ["TZ"] && read.workingDirectory == nil)
        #expect(read.policy.after.isEmpty && read.policy.launch == .manual && read.policy.start == .background)
        #expect(read.policy.taskBudget == .seconds(90) && read.hooks.count == 1)
        #expect(read.description == "exec = [\"no\"] [not a table]")

        let replaced = try TryApp(
            file: path + "/camera.toml", command: ["/bin/other"], delegate: "none", directory: "/here",
            environment: ["TZ=x", "A=1"])
        let other = try parse(replaced.text)
        #expect(other.exec.last == "/bin/other" && other.workingDirectory == "/here" && other.delegate == .none)
        #expect(other.environment.map(\.name) == ["TZ", "A"] && other.environment.map(\.value) == ["UTC", "1"])
    }

    @Test func aBadFileIs2WithItsPlace() throws {
        let path = NSTemporaryDirectory() + "bad-\(UUID().uuidString.lowercased()).toml"
        try "exec = [\"/bin/true\"]\ncolour = 3\n".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = PlayedDaemon.run(["try", "--app", path, "--script", "/dev/null"])
        #expect(outcome.code == 2 && outcome.error.hasPrefix("curfew: \(path):2: "))
    }

    @Test func keysOfTheFileAreFoundAsTomlHasThem() {
        var text = AppFileText(Self.file)
        for key in ["exec", "after", "environment", "background"] {
            #expect(text.has(key))
            text.remove(key)
            #expect(!text.has(key))
        }
        #expect(
            text.text.replacing("\n\n\n\n", with: "\n\n") == """
                # The camera's file.
                description = \"\"\"exec = ["no"]
                [not a table]\"\"\"
                launch = "boot"
                start = "background"
                delegate = "hooks"

                [hooks]
                did-enter-background = ["/bin/true"]
                """)
        #expect(!text.has("not a table") && !text.has("did-enter-background"))
        var quotes = AppFileText("a = \"\"\"x\"\"\"\"\nexec = 'c:\\'\nb = \"\\\"]\"")
        quotes.set("exec", "[]")
        #expect(quotes.text == "exec = []\na = \"\"\"x\"\"\"\"\nb = \"\\\"]\"")
        var unfinished = AppFileText("exec = [")
        unfinished.remove("exec")
        #expect(unfinished.text == "")
    }

    @Test func aFileThatIsCutOffAnywhereIsNoTrouble() {
        for length in 0...Self.file.count {
            var text = AppFileText(String(Self.file.prefix(length)))
            text.set("exec", "[]")
            #expect(text.text.hasPrefix("exec = []\n") && text.text.utf8.count <= length + 10)
        }
    }
}

@Suite struct TryVerdictTests {
    private let plain = Style(isColoured: false)

    private func call(_ handler: String, _ seconds: Double, _ outcome: String = "returned", of: Double = 5)
        -> HandledRecord
    {
        HandledRecord([
            "app": "camera", "handler": .string(handler), "timeAllowance": .number(of), "seconds": .number(seconds),
            "outcome": .string(outcome),
        ])
    }

    @Test func callsAreTold() {
        #expect(call("DidEnterBackground", 0.012).sentence == "DidEnterBackground returned after 12 ms of 5 s")
        #expect(call("DidEnterBackground", 5, "overran").sentence == "DidEnterBackground did not return within 5 s")
        #expect(call("DidEnterBackground", 1, "ended").sentence == "ended in DidEnterBackground, after 1 s of 5 s")
    }

    @Test func allWellIsOK() {
        let verdict = TryVerdict(
            app: "camera",
            handled: [
                call("DidBecomeActive", 0.01, of: 10), call("DidEnterBackground", 0.2), call("DidBecomeActive", 0.3),
            ],
            tasks: [BackgroundTaskRecord(Sample.task("upload", ["ended": "ended"]))],
            terminations: [TerminationRecord(["app": "camera", "namespace": "user"])])
        #expect(verdict.isGood)
        #expect(
            verdict.lines(plain, width: nil) == [
                "HANDLER             CALLS  LONGEST  ALLOWED",
                "DidBecomeActive         2   300 ms      5 s",
                "DidEnterBackground      1   200 ms      5 s",
                "", "TASK    HELD FOR  END", "upload       3 s  ended", "", "OK",
            ])
        #expect(verdict.json["ok"] == true && verdict.json["handlers"]?.arrayValue?.count == 2)
    }

    @Test func aProgramThatCannotBeStartedIsAFailure() {
        let failed: JSON = ["app": "camera", "namespace": "launchFailure", "code": "0x2", "explanation": "exec /x"]
        let verdict = TryVerdict(app: "camera", handled: [], tasks: [], terminations: [TerminationRecord(failed)])
        #expect(!verdict.isGood && verdict.lines(plain, width: nil).last == "1 failed end")
    }

    @Test func killsComeWithAdvice() {
        let crash: JSON = ["app": "camera", "namespace": "crash", "code": "0xb", "explanation": "killed by signal 11"]
        var verdict = TryVerdict(
            app: "camera", handled: [call("DidEnterBackground", 5, "overran")],
            tasks: [BackgroundTaskRecord(Sample.task("upload"))],
            terminations: [Sample.overrun, crash, Sample.budget].map { TerminationRecord($0) })
        verdict.failedStep = "trial:4: expect active: not so"
        let lines = verdict.lines(plain, width: 100)
        #expect(lines.last == "2 kills, 1 failed end, 1 failed step" && !verdict.isGood)
        #expect(lines.contains { $0.contains("did-enter-background = \"10s\"") })
        #expect(lines.contains { $0.contains("camera crashed: SIGSEGV") })
        #expect(lines.contains { $0.hasSuffix("still held") } && lines.contains("trial:4: expect active: not so"))
        #expect(verdict.json["ok"] == false && verdict.json["kills"]?.arrayValue?.count == 2)
        #expect(verdict.json["failures"]?.arrayValue?.count == 1)
        #expect(verdict.json["failedStep"] == "trial:4: expect active: not so")
    }
}
