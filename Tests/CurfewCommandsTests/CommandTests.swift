import Foundation
import Testing
import Varlink

@testable import CurfewCommands

@Suite struct CommandTests {
    @Test func statusShowsDeviceAndApps() throws {
        let daemon = try PlayedDaemon { method, _ in
            #expect(method == "Monitor")
            return .state(apps: [Sample.app("camera"), Sample.app("bad", ["invalid": "bad.toml:1: no"])])
        }
        let lines = daemon.run("status").output.split(separator: "\n").map(String.init)
        #expect(lines[0] == "  Device  awake, after sleep 3")
        #expect(lines[1] == "  Power   on battery, battery 82 %")
        #expect(lines[2] == "  Board   hardware profile auto; no hardware watchdog")
        #expect(lines[3] == "  Limits  logind waits 5 s before a sleep")
        #expect(lines[4] == "APP     STATE     PID    MEMORY  LAUNCHES  LAST END")
        #expect(lines[5] == "camera  active   1234  12.3 MiB         1  -")
        #expect(lines[6].hasPrefix("bad     invalid") && lines[6].hasSuffix("bad.toml:1: no"))
        let json = try JSON.parse(daemon.run("status", "--json").output)
        #expect(json["device"]?["sleepId"] == 3 && json["apps"]?.arrayValue?.count == 2)
    }

    @Test func statusListsWhatIsWrongWithAFile() throws {
        func lines(_ changes: JSONObject) throws -> [String] {
            let daemon = try PlayedDaemon { _, _ in .reply(["app": Sample.app("bad", changes), "tasks": []]) }
            return daemon.run("status", "bad").output.split(separator: "\n").map(String.init)
        }
        let two = try lines(["invalid": "any words", "problems": ["bad.toml:1: no; never", "bad.toml:2: nor that"]])
        #expect(two[0] == "bad  invalid" && two[1...2] == ["  bad.toml:1: no; never", "  bad.toml:2: nor that"])
        #expect(two.last?.hasPrefix("Mend it in ") == true)
        let older = try lines(["invalid": "bad.toml:1: no; bad.toml:2: nor that"])
        #expect(older[1] == "  bad.toml:1: no; bad.toml:2: nor that")
    }

    @Test func statusOfNothingSaysHowToBegin() throws {
        let daemon = try PlayedDaemon { _, _ in .state(apps: []) }
        #expect(daemon.run("status").output.contains("To add the first one:\n  echo 'exec = "))
    }

    @Test func statusOfAnAppQuotesItsLastReport() throws {
        let daemon = try PlayedDaemon { _, _ in
            .reply(["app": Sample.app("camera", ["lastTermination": Sample.overrun]), "tasks": []])
        }
        try daemon.store([Sample.overrun.with("output", ["one\u{1B}[31m", "two"])])
        let output = daemon.run("status", "camera").output
        #expect(output.hasPrefix("camera  active\n"))
        #expect(output.contains("did not return within 5 s (watchdog 0x8badf00d)"))
        #expect(output.contains("had 5 s, took 5 s"))
        #expect(output.hasSuffix("  one\u{FFFD}[31m\n  two\n"), "what an app says is shown, not obeyed")
    }

    @Test func sleepSaysHowLongAndWhoWasKilled() throws {
        let daemon = try PlayedDaemon { method, parameters in
            if method == "DescribeDevice" { return .reply(["device": Sample.device]) }
            #expect(parameters["kind"] == "logical")
            return .reply(["sleepId": 3, "killed": parameters["start"] == true ? ["hang"] : []])
        }
        let output = daemon.run("sleep").output
        #expect(output.hasPrefix("asleep (sleep 3) after ") && output.contains("; killed: hang"))
        #expect(try JSON.parse(daemon.run("sleep", "--json").output)["killed"] == ["hang"])
        #expect(daemon.run("wake").output == "was awake already\n")
    }

    @Test func reportsOutliveTheDaemon() throws {
        let daemon = try PlayedDaemon { _, _ in .reply(["terminations": []]) }
        let other = daemon.root + "-dead"
        defer { try? FileManager.default.removeItem(atPath: other) }
        try PlayedDaemon.store([Sample.overrun.with("sleepId", 4)], root: other)
        let table = PlayedDaemon.run(["--root", other, "reports"])
        #expect(table.code == 0 && table.output.contains("17  ") && table.output.contains("camera      4   5 s  scene"))
        let report = PlayedDaemon.run(["--root", other, "report", "17"])
        #expect(report.code == 0 && report.output.hasPrefix("Report 17: camera was killed: its handler"))
        let missing = PlayedDaemon.run(["--root", other, "report", "18"])
        #expect(missing.code == 1 && missing.error.contains("no report 18; the only one is 17"))
    }

    @Test func reportOfATimeThatASleepHasCut_advisesNoLongerOne() throws {
        let short = Sample.overrun.with("sleepId", 4).with("timeAllowance", 0.563)
        let daemon = try PlayedDaemon { _, _ in .reply(["terminations": [short]]) }
        let output = daemon.run("report", "--last").output
        #expect(!output.contains("raise its allowance") && output.contains("has half the"))
    }

    @Test func reportWorksOverTheSocketAlone() throws {
        let daemon = try PlayedDaemon { _, _ in .reply(["terminations": [Sample.overrun]]) }
        let outcome = daemon.run("report", "--last")
        #expect(outcome.code == 0 && outcome.output.contains("  5.000 s, then all its processes were killed"))
        #expect(outcome.output.contains("it was waiting for something, not computing"))
        #expect(outcome.output.contains("did-enter-background = \"10s\""))
        #expect(try JSON.parse(daemon.run("report", "17", "--json").output) == Sample.overrun)
    }

    @Test func reportsOfAnUnknownAppIs3() throws {
        let daemon = try PlayedDaemon { method, parameters in
            switch method {
            case "ListTerminations": .reply(["terminations": []])
            case "Monitor": .state(apps: [Sample.app("camera")])
            default: .error("io.curfew.Control.NoSuchApp", ["app": parameters["app"] ?? ""])
            }
        }
        #expect(daemon.run("reports", "kamera").code == 3)
    }

    @Test func whatChangesWhileTheStateIsSaid_isShownOnce_asItIsThen() throws {
        let daemon = try PlayedDaemon { _, _ in
            let state = [
                ("device", Sample.device), ("app", Sample.app("camera")), ("app", Sample.app("modem")),
                ("app", Sample.app("camera", ["scenePhase": "background"])), ("task", Sample.task("upload")),
                ("task", Sample.task("upload", ["timeRemaining": 5.0])),
                ("task", Sample.task("scan", ["identifier": 8])),
                ("task", Sample.task("scan", ["identifier": 8, "ended": "ended"])), ("synchronized", [:]),
            ]
            return .replies(state.map { Sample.change($0.0, $0.1) })
        }
        let status = try JSON.parse(daemon.run("status", "--json").output)
        #expect(status["apps"]?.arrayValue?.map { $0["name"]?.stringValue } == ["camera", "modem"])
        #expect(status["apps"]?.arrayValue?.first?["scenePhase"]?.stringValue == "background")
        #expect(status["tasks"]?.arrayValue?.map { $0["timeRemaining"]?.doubleValue } == [5])
    }

    @Test func monitorPrintsJsonAsReceived() throws {
        let change: JSONObject = [
            "time": "2026-11-21T05:48:23.123Z", "kind": "device", "app": .null, "detail": Sample.device,
        ]
        let daemon = try PlayedDaemon { _, _ in .replies([change, change]) }
        let lines = daemon.run("monitor", "--json").output.split(separator: "\n").map(String.init)
        #expect(try lines.map { try JSON.parse($0) } == [.object(change), .object(change)])
    }

    @Test func checkNamesThePlace() throws {
        let file = NSTemporaryDirectory() + "check-\(UUID().uuidString)/apps"
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: String(file.dropLast(5))) }
        let path = file + "/one.toml"
        try "exec = [\"/bin/true\"]\nuser = \"nobody\"\n".write(toFile: path, atomically: true, encoding: .utf8)
        let good = PlayedDaemon.run(["check", path])
        #expect(good.code == 0 && good.output == "1 file: nothing wrong\n")
        // A root that is mistyped.
        let nowhere = PlayedDaemon.run(["check", "--root", "/no-such-root"])
        #expect(
            nowhere.code == 0
                && nowhere.output.contains("/no-such-root/etc/curfew: warning: is not there: no app is configured"))
        try "exec = [\"/bin/true\"]\ncolour = 3\n".write(toFile: path, atomically: true, encoding: .utf8)
        let bad = PlayedDaemon.run(["check", path])
        #expect(bad.code == 1 && bad.error == "")
        #expect(bad.output.hasPrefix("\(path):2: ") && bad.output.contains("1 file: 1 error"))
        let json = try JSON.parse(PlayedDaemon.run(["check", "--json", path]).output)
        #expect(json["errors"]?.arrayValue?.first?["line"] == 2)
    }
}

extension JSON {
    func with(_ member: String, _ value: JSON) -> JSON {
        guard case .object(var object) = self else { return self }
        object[member] = value
        return .object(object)
    }
}

extension PlayedDaemon {
    func store(_ reports: [JSON]) throws { try Self.store(reports, root: root) }

    /// Writes reports as the daemon keeps them.
    static func store(_ reports: [JSON], root: String) throws {
        let directory = root + "/var/lib/curfew"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let text = reports.map { String(decoding: $0.bytes(), as: UTF8.self) + "\n" }.joined() + "{\"report\":\"9"
        try text.write(toFile: directory + "/reports.jsonl", atomically: true, encoding: .utf8)
    }
}
