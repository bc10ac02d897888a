import Testing
import Varlink

@testable import CurfewCommands

@Suite struct ExitCodeTests {
    @Test func aTransitionThatIsDoneIs0AndOneLine() throws {
        let daemon = try PlayedDaemon { method, parameters in
            #expect(method == "Activate" && parameters["app"] == "camera")
            return .reply([:])
        }
        let outcome = daemon.run("activate", "camera")
        #expect(outcome.code == 0 && outcome.output == "camera is active\n" && outcome.error == "")
        #expect(daemon.run("activate", "camera", "--json").output == "{\"app\":\"camera\",\"done\":true}\n")
    }

    @Test func anUnknownAppIs3AndTheClosestName() throws {
        let daemon = try PlayedDaemon { method, parameters in
            if method == "Monitor" { return .state(apps: [Sample.app("camera"), Sample.app("modem")]) }
            return .error("io.curfew.Control.NoSuchApp", ["app": parameters["app"] ?? ""])
        }
        let outcome = daemon.run("launch", "camra")
        #expect(outcome.code == 3 && outcome.output == "")
        #expect(outcome.error.hasPrefix("curfew: no app 'camra'; did you mean 'camera'? (curfew --root "))
        #expect(daemon.run("status", "zzz").error.hasPrefix("curfew: no app 'zzz' ("))
    }

    @Test(arguments: [
        ["status"], ["tasks"], ["launch", "x"], ["monitor"], ["sleep"], ["wake"], ["reports"], ["reload"],
        ["low-power", "on"],
    ])
    func noDaemonIs4AndHowToStartIt(_ arguments: [String]) {
        let outcome = PlayedDaemon.run(["--root", "/nonexistent"] + arguments)
        #expect(outcome.code == 4 && outcome.output == "")
        #expect(
            outcome.error == "curfew: curfewd is not running (nothing answers at "
                + "/nonexistent/run/curfew/io.curfew.Control); start it with: curfewd --root /nonexistent\n")
    }

    @Test func aDaemonThatGoesAwayIs4() throws {
        let daemon = try PlayedDaemon { _, _ in .hangUp }
        #expect(daemon.run("launch", "camera").code == 4)
        #expect(daemon.run("monitor").code == 4)
        #expect(daemon.run("status").code == 4)
    }

    @Test func anAppThatEndsMeanwhileIs1AndWhy() throws {
        let daemon = try PlayedDaemon { _, _ in
            .error("io.curfew.Control.AppEnded", ["termination": Sample.overrun])
        }
        let outcome = daemon.run("background", "camera")
        #expect(outcome.code == 1)
        #expect(
            outcome.error == "curfew: camera ended while it was being sent to background: scene-update: "
                + "DidEnterBackground did not return within 5 s (watchdog 0x8badf00d); see: "
                + "curfew --root \(daemon.root) report 17\n")
    }

    @Test func asleepIs1AndSaysWake() throws {
        let daemon = try PlayedDaemon { _, _ in
            .error("io.curfew.Control.Denied", ["reason": "any words", "kind": "sleeping"])
        }
        let outcome = daemon.run("launch", "camera")
        #expect(outcome.code == 1 && outcome.error.contains("camera was not launched: the device is asleep"))
        #expect(outcome.error.hasSuffix(" wake\n"))
    }

    @Test func aFileThatCannotBeUsedIs1AndWhy() throws {
        let daemon = try PlayedDaemon { method, _ in
            method == "Describe"
                ? .reply(["app": Sample.app("camera", ["invalid": "camera.toml:1: no"]), "tasks": []])
                : .error("io.curfew.Control.Denied", ["reason": "any words", "kind": "invalidConfiguration"])
        }
        let outcome = daemon.run("launch", "camera")
        #expect(outcome.code == 1 && outcome.error.contains("was not launched: camera.toml:1: no; mend it, then: "))
    }

    /// An older daemon names no kind, a newer one may name others.
    @Test(arguments: [JSON.null, "notYetInvented", .integer(3)])
    func aDenialOfAnUnknownKindIs1AndItsWords(_ kind: JSON) throws {
        let daemon = try PlayedDaemon { _, _ in
            .error("io.curfew.Control.Denied", ["reason": "sleeping", "kind": kind])
        }
        let outcome = daemon.run("launch", "camera")
        #expect(outcome.code == 1 && outcome.error == "curfew: camera was not launched: sleeping\n")
    }

    @Test func aSleepThatIsCalledOffIs1AndWasNone() throws {
        let daemon = try PlayedDaemon { _, _ in
            .error(
                "io.curfew.Control.Denied",
                ["reason": "the sleep was called off", "kind": "sleepCalledOff"])
        }
        let outcome = daemon.run("sleep")
        #expect(outcome.code == 1 && outcome.output == "")
        #expect(outcome.error == "curfew: the device was not put to sleep: the sleep was called off\n")
    }

    @Test func notRunningIs1AndSaysLaunch() throws {
        let daemon = try PlayedDaemon { _, _ in .error("io.curfew.Control.NotRunning", ["app": "camera"]) }
        let outcome = daemon.run("terminate", "camera")
        #expect(outcome.code == 1 && outcome.error.contains("camera is not running; start it with: curfew"))
    }

    @Test func aBadFileAtReloadIs1AndItsPlace() throws {
        let daemon = try PlayedDaemon { _, _ in
            .error(
                "io.curfew.Control.InvalidConfiguration",
                ["file": "/etc/curfew/apps/a.toml", "line": 3, "message": "unknown key 'x'"])
        }
        let outcome = daemon.run("reload")
        #expect(outcome.code == 1)
        #expect(outcome.error.hasPrefix("curfew: /etc/curfew/apps/a.toml:3: unknown key 'x'; the running "))
    }

    @Test(arguments: [
        ["launch"], ["launch", "a", "b"], ["report"], ["report", "x"], ["report", "--last", "3"], ["--bogus"],
        ["status", "--bogus"], ["demo", "--root", "/x"], ["run"], ["run", "true"], ["run", "--"],
        ["run", "--budget", "soon", "--", "true"], ["run", "--budget", "0", "--", "true"],
        ["run", "--bogus", "--", "true"], ["low-power"], ["low-power", "maybe"], ["low-power", "on", "off"],
    ])
    func wrongUsageIs2(_ arguments: [String]) {
        let outcome = PlayedDaemon.run(arguments)
        #expect(outcome.code == 2 && outcome.output == "" && outcome.error.contains("--help"))
    }

    @Test func anUnknownCommandIs2AndTheClosestOne() {
        let outcome = PlayedDaemon.run(["--root", "/x", "staus"])
        #expect(outcome.code == 2)
        #expect(outcome.error == "curfew: no command 'staus'; did you mean 'status'? (curfew --help lists them)\n")
    }

    @Test func helpAndVersionAre0() {
        #expect(PlayedDaemon.run(["--version"]).output == "curfew \(CurfewTool.version)\n")
        let help = PlayedDaemon.run(["--help"])
        #expect(help.code == 0 && help.error == "" && help.output.contains("monitor"))
        #expect(!help.output.contains("demo-app"))
        #expect(PlayedDaemon.run([]).code == 0)
    }
}
