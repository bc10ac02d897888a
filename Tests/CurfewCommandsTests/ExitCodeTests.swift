import Synchronization
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

    @Test func aDaemonThatAnswersNoClient_isGivenUp() throws {
        let daemon = try PlayedDaemon { _, _ in .silence }
        let connection = try DaemonConnection.connect(
            root: daemon.root, loop: DescriptorLoop(), patience: 50_000_000)
        #expect(throws: VarlinkError.timedOut) { try connection.call("Launch", ["app": "camera"], timeout: nil) }
    }

    @Test func aDaemonThatAnswersOthers_isWaitedFor() throws {
        let asked = Mutex(0)
        let daemon = try PlayedDaemon { method, _ in
            if method == "DescribeDevice" { asked.withLock { $0 += 1 } }
            return method == "Launch" ? .silence : asked.withLock { $0 } < 3 ? .reply([:]) : .silence
        }
        let connection = try DaemonConnection.connect(
            root: daemon.root, loop: DescriptorLoop(), patience: 50_000_000)
        #expect(throws: VarlinkError.timedOut) { try connection.call("Launch", ["app": "camera"], timeout: nil) }
        // Twice it answered, and was waited for; then it did not.
        #expect(asked.withLock { $0 } == 3)
    }

    @Test func whatADaemonSays_doesNothingToATerminal() throws {
        let text: JSON = "\u{1B}[31mEVIL\u{1B}]0;t\u{7}\n\u{9B}31m\u{202E}"
        let app = Sample.app("x").with("name", text).with("statusText", text).with("invalid", text)
        let end = Sample.overrun.with("report", text).with("explanation", text).with("app", text).with("event", text)
        let task = Sample.task("x", ["name": text, "app": text])
        let daemon = try PlayedDaemon { method, _ in
            switch method {
            case "Monitor":
                .state(apps: [app], tasks: [task], then: [Sample.change("termination", end)])
            case "Describe": .reply(["app": app.with("lastTermination", end), "tasks": [task]])
            case "ListTerminations": .reply(["terminations": [end]])
            case "Launch": .error("io.curfew.Control.AppEnded", ["termination": end])
            case "Terminate": .error("io.curfew.Control.NotRunning", ["app": text])
            case "Background": .error("org.varlink.service.InvalidParameter", ["parameter": text])
            case "Reload": .error("io.curfew.Control.InvalidConfiguration", ["file": text, "message": text])
            case "PrepareForSleep": .reply(["sleepId": 1, "killed": [text]])
            default: .error("io.curfew.\u{1B}[31m", ["reason": text])
            }
        }
        for command in [
            ["status"], ["status", "x"], ["tasks"], ["monitor"], ["reports"], ["report", "--last"], ["report", "1"],
            ["launch", "x"], ["terminate", "x"], ["background", "x"], ["activate", "x"], ["reload"], ["sleep"],
            ["wake"], ["low-power", "on"],
        ] {
            let outcome = PlayedDaemon.run(["--root", daemon.root] + command)
            let scalars = (outcome.output + outcome.error).unicodeScalars
            let bad = scalars.filter { $0 != "\n" && ($0.properties.generalCategory == .control || $0 == "\u{202E}") }
            #expect(bad.isEmpty, "\(command)")
            #expect(!outcome.output.contains("EVIL\n") && !outcome.error.contains("EVIL\n"), "\(command)")
        }
        // A program gets what was said.
        #expect(daemon.run("report", "--last", "--json").output.contains("\\u001b[31mEVIL"))
    }

    @Test func aDaemonThatGoesAwayIs4() throws {
        let daemon = try PlayedDaemon { _, _ in .hangUp }
        #expect(daemon.run("launch", "camera").code == 4)
        #expect(daemon.run("monitor").code == 4)
        #expect(daemon.run("status").code == 4)
    }

    /// The loop that was asked dies, and the next one is asked: what is so by then was done.
    @Test func whatIsAskedTwiceIsDone_whereItIsSo() throws {
        let asked = Mutex(0)
        let daemon = try PlayedDaemon { method, _ in
            guard ["Terminate", "Background"].contains(method) else { return .reply([:]) }
            let isFirst = asked.withLock { count in
                count += 1
                return count % 2 == 1
            }
            return isFirst ? .hangUp : .error("io.curfew.Control.NotRunning", ["app": "camera"])
        }
        let ended = daemon.run("terminate", "camera")
        #expect(ended.code == 0 && ended.output == "camera has ended\n")
        #expect(daemon.run("background", "camera").code == 1)
        // At once, it is no answer to one who asks for the first time.
        asked.withLock { $0 = 1 }
        #expect(daemon.run("terminate", "camera").code == 1)
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
