import Foundation
import Testing
import Varlink

@testable import CurfewCommands

/// What a played daemon was asked, in order.
final class Heard: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [(method: String, parameters: JSONObject)] = []

    func add(_ method: String, _ parameters: JSONObject) {
        lock.lock()
        calls.append((method, parameters))
        lock.unlock()
    }

    var methods: [String] { lock.withLock { calls.map(\.method) } }
    func parameters(of method: String) -> JSONObject? {
        lock.withLock { calls.last { $0.method == method }?.parameters }
    }
}

@Suite struct RunTests {
    private static let begun: JSONObject = ["identifier": 7, "timeRemaining": .null]

    private func app(_ heard: Heard, _ answer: PlayedDaemon.Answer) throws -> PlayedDaemon {
        try PlayedDaemon { method, parameters in
            heard.add(method, parameters)
            return method == "BeginBackgroundTask" ? answer : .reply([:])
        }
    }

    private func device(_ heard: Heard, then changes: [JSONObject] = []) throws -> PlayedDaemon {
        try PlayedDaemon { method, parameters in
            heard.add(method, parameters)
            return method == "Monitor" ? .state(apps: [], then: changes) : .reply(["identifier": 7])
        }
    }

    // MARK: Inside an app

    @Test(arguments: [("exit 0", Int32(0)), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)])
    func theExitCodeIsTheCommands(_ script: String, _ code: Int32) throws {
        let heard = Heard()
        let daemon = try app(heard, .open(Self.begun))
        let outcome = daemon.runInside("run", "--", "sh", "-c", script)
        #expect(outcome.code == code && outcome.output == "" && outcome.error == "")
        #expect(heard.methods == ["BeginBackgroundTask", "EndBackgroundTask"])
        #expect(heard.parameters(of: "EndBackgroundTask") == ["identifier": 7])
    }

    @Test func theTaskIsAskedForAsTheOptionsSay() throws {
        let heard = Heard()
        let daemon = try app(heard, .open(Self.begun))
        #expect(daemon.runInside("run", "--", "/bin/true").code == 0)
        let pid = JSON.integer(Int64(getpid()))
        #expect(
            heard.parameters(of: "BeginBackgroundTask")
                == ["name": "true", "keepAwake": .null, "processIdentifier": pid, "timeAllowed": .null])
        #expect(
            daemon.runInside("run", "--name", "a b", "--keep-awake", "--budget", "1min 30s", "--", "true").code == 0)
        #expect(
            heard.parameters(of: "BeginBackgroundTask")
                == ["name": "a b", "keepAwake": true, "processIdentifier": pid, "timeAllowed": 90.0])
    }

    @Test func whenTheTimeRunsOutTheCommandIsAskedToEnd() throws {
        let heard = Heard()
        let daemon = try app(heard, .replies([Self.begun, ["identifier": 7, "timeRemaining": 600.0]]))
        let outcome = daemon.runInside("run", "--", "sleep", "600")
        #expect(outcome.code == 124 && outcome.error.hasPrefix("curfew: the background time of sleep ran out"))
        #expect(heard.methods.last == "EndBackgroundTask")
    }

    /// With no time left: the word is the one that says that the task has ended, but the task is still there.
    @Test func whenItsTimeRunsOutAtOnceTheCommandIsAskedToEnd() throws {
        let isHeld: JSONObject = ["tasks": [Sample.task("sleep")]]
        let others: JSONObject = ["tasks": [["identifier": 8]]]
        for (state, seconds, code) in [(isHeld, "5", Int32(124)), (["tasks": []], "0.3", 0), (others, "0.3", 0)] {
            let daemon = try PlayedDaemon { method, _ in
                switch method {
                case "BeginBackgroundTask": .replies([Self.begun, ["identifier": 7, "timeRemaining": 0.0]])
                case "GetState": .reply(state)
                default: .reply([:])
                }
            }
            let outcome = daemon.runInside("run", "--", "sleep", seconds)
            #expect(outcome.code == code)
            let text = code == 0 ? "its app has ended the background task" : "the background time of sleep ran out"
            #expect(outcome.error.hasPrefix("curfew: " + text), "\(outcome.error)")
        }
    }

    @Test func refusalsSayWhyAndRunNothing() throws {
        let mark = NSTemporaryDirectory() + "ran-\(UUID().uuidString)"
        let application = "io.curfew.Application."
        for (error, parameters, text) in [
            (
                "BackgroundTimeDenied", ["reason": "the budget is spent"] as JSONObject,
                "time for it: the budget is spent"
            ),
            ("TooManyBackgroundTasks", ["limit": 64], "holds 64 background tasks already"),
        ] {
            let daemon = try app(Heard(), .error(application + error, parameters))
            let outcome = daemon.runInside("run", "--", "touch", mark)
            #expect(outcome.code == 125 && outcome.error.contains("touch was not run: "))
            #expect(outcome.error.contains(text) && outcome.error.split(separator: "\n").count == 1)
        }
        let gone = PlayedDaemon.run(
            ["run", "--", "touch", mark], environment: ["CURFEW_APP": "camera", "CURFEW_SOCKET": "/nonexistent"])
        #expect(gone.code == 4 && gone.error.hasSuffix("; touch was not run\n"))
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test func aDaemonThatEndsMeanwhileDoesNotEndTheCommand() throws {
        let daemon = try app(Heard(), .error("io.curfew.Application.NoSuchBackgroundTask", [:]))
        #expect(daemon.runInside("run", "--", "true").code == 125)
        let broken = try app(Heard(), .replies([Self.begun]))
        let outcome = broken.runInside("run", "--", "sh", "-c", "sleep 0.3; exit 5")
        #expect(outcome.code == 5 && outcome.error.contains("sh goes on"))
    }

    // MARK: Outside

    @Test func outsideTheCommandIsHeldUntilItIsAdopted() throws {
        let mark = NSTemporaryDirectory() + "ran-\(UUID().uuidString)"
        let daemon = try PlayedDaemon { method, parameters in
            if method == "Monitor" { return .state(apps: []) }
            #expect(!FileManager.default.fileExists(atPath: mark), "it must not have run yet")
            #expect(parameters["name"] == "touch" && parameters["budget"] == .null && parameters["keepAwake"] == .null)
            #expect(kill(pid_t(parameters["processIdentifier"]?.intValue ?? 0), 0) == 0)
            return .reply(["identifier": 1])
        }
        defer { try? FileManager.default.removeItem(atPath: mark) }
        #expect(daemon.run("run", "--", "touch", mark).code == 0)
        #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test func outsideTheExitCodeIsTheCommandsToo() throws {
        let heard = Heard()
        let daemon = try device(heard)
        #expect(daemon.run("run", "--name", "nightly", "--budget", "90s", "--", "sh", "-c", "exit 9").code == 9)
        #expect(heard.methods == ["Monitor", "AdoptTask"])
        #expect(heard.parameters(of: "AdoptTask")?["name"] == "nightly")
        #expect(heard.parameters(of: "AdoptTask")?["budget"] == 90.0)
        #expect(daemon.run("run", "--", "sh", "-c", "kill -9 $$").code == 137)
    }

    @Test func aBudgetThatRanOutIs124() throws {
        let begun = Sample.change("task", Sample.task("sh", ["app": "task-sh"]))
        let end = Sample.change("termination", Sample.budget.with("app", "task-sh"))
        let outcome = try device(Heard(), then: [begun, end]).run("run", "--", "sh", "-c", "exit 0")
        #expect(outcome.code == 124 && outcome.error.hasPrefix("curfew: the budget of task-sh ran out"))
        #expect(outcome.error.contains("report 18"))
        let expired = Sample.change("task", Sample.task("sh", ["app": "task-sh", "ended": "expired"]))
        #expect(try device(Heard(), then: [expired]).run("run", "--", "sh", "-c", "exit 0").code == 124)
        #expect(try device(Heard(), then: [begun, begun]).run("run", "--", "sh", "-c", "exit 0").code == 124)
        let several = [7, 8].map { Sample.change("task", Sample.task("sh", ["app": "task-sh", "identifier": $0])) }
        #expect(try device(Heard(), then: several).run("run", "--", "sh", "-c", "exit 0").code == 0)
        let other = Sample.change("termination", Sample.budget.with("app", "task-other"))
        #expect(try device(Heard(), then: [begun, other]).run("run", "--", "sh", "-c", "exit 0").code == 0)
    }

    /// One of that name may still end while this one is on its way to the daemon.
    @Test func theEndOfAnOlderTaskOfThatNameIsNotItsOwn() throws {
        let older = Sample.change("task", Sample.task("sh", ["app": "task-sh", "identifier": 6, "ended": "died"]))
        let end = Sample.change("termination", Sample.budget.with("app", "task-sh"))
        let begun = Sample.change("task", Sample.task("sh", ["app": "task-sh"]))
        for changes in [[end], [older, end], [older, end, begun]] {
            #expect(try device(Heard(), then: changes).run("run", "--", "sh", "-c", "exit 5").code == 5)
        }
        let outcome = try device(Heard(), then: [older, end, begun, end]).run("run", "--", "sh", "-c", "exit 5")
        #expect(outcome.code == 124)
    }

    @Test func whoIsNotAdoptedIsNotRun() throws {
        let mark = NSTemporaryDirectory() + "ran-\(UUID().uuidString)"
        let daemon = try PlayedDaemon { method, _ in
            method == "Monitor"
                ? .state(apps: []) : .error("io.curfew.Control.Denied", ["reason": "task-touch is running already"])
        }
        let outcome = daemon.run("run", "--", "touch", mark)
        #expect(outcome.code == 125)
        #expect(outcome.error == "curfew: task-touch was not run: task-touch is running already\n")
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test func withoutADaemonNothingIsRun() {
        let mark = NSTemporaryDirectory() + "ran-\(UUID().uuidString)"
        let outcome = PlayedDaemon.run(["--root", "/nonexistent", "run", "--", "touch", mark])
        #expect(outcome.code == 4 && outcome.error.contains("; touch was not run"), "\(outcome.error)")
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test func whoIsInNoAppGoesOutside() throws {
        let heard = Heard()
        let daemon = try PlayedDaemon { method, parameters in
            heard.add(method, parameters)
            return .error("io.curfew.Application.NotAnApp", [:])
        }
        let outcome = daemon.runInside("run", "--name", "UPPER", "--", "true")
        #expect(heard.methods == ["BeginBackgroundTask"])
        #expect(outcome.code == 2 && outcome.error.contains("--name upper"))
    }

    // MARK: The command

    @Test func aCommandThatCannotRunIs126Or127() throws {
        let file = NSTemporaryDirectory() + "script-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        func run(_ text: String, mode: Int) throws -> PlayedDaemon.Outcome {
            // Written by another process: a child that another test forks meanwhile must not have it open for writing.
            let script = "printf %s \"$1\" >\"$2\"; chmod \(String(mode, radix: 8)) \"$2\""
            let writer = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", script, "sh", text, file])
            writer.waitUntilExit()
            return try app(Heard(), .open(Self.begun)).runInside("run", "--", file, "x")
        }
        #expect(try run("#!/bin/sh\nexit 7\n", mode: 0o755).code == 7)
        #expect(try run("test \"$1\" = x && exit 8\n", mode: 0o755).code == 8, "no #! line: the shell's")
        #expect(try run("#!/bin/sh\n", mode: 0o644).code == 126)
        #expect(try run("#!/nonexistent\n", mode: 0o755).code == 127)
        #expect(PlayedDaemon.run(["run", "--", "no-such-command-at-all"]).code == 127)
        #expect(PlayedDaemon.run(["run", "--", "/tmp"]).code == 126)
    }

    @Test(arguments: [
        ("rsync", "rsync"), ("My_Script.sh", "my-script-sh"), ("--x--", "x"), ("é", "command"), ("[", "command"),
        (String(repeating: "a", count: 80), String(repeating: "a", count: 58)),
    ])
    func namesOfTasksAreNamesOfApps(_ name: String, _ plain: String) {
        #expect(TaskCommand(arguments: ["/usr/bin/" + name], path: "").plainName == plain)
    }
}
