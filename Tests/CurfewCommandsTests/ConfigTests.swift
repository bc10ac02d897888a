import Configuration
import Foundation
import Testing
import Varlink

@testable import CurfewCommands

@Suite final class ConfigTests {
    private let root = NSTemporaryDirectory() + "curfew-\(UUID().uuidString.prefix(8))"

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func show(_ arguments: String...) -> PlayedDaemon.Outcome {
        PlayedDaemon.run(["--root", root, "config", "show"] + arguments)
    }

    private static let camera = """
        exec = ["/usr/bin/camera", "--name", "a \\"b\\" \\\\ c"]
        environment = { A = "1" }
        umask = "0007"
        nice = -5
        liveness = "1h 30min"
        after = ["storage"]
        delegate = "signals"
        [allowances]
        will-terminate = "1500ms"
        [limits]
        memory-max = "1536K"
        [signals]
        acknowledge = false
        did-enter-background = "SIGRTMIN+3"
        will-terminate = "TERM"
        """

    /// What is shown of an app is a file that means the same.
    @Test func whatIsShownIsAFile() throws {
        try write("etc/curfew/apps/camera.toml", Self.camera)
        try write("etc/curfew/apps/storage.toml", "exec = [\"/x\"]\n")
        let shown = show("camera")
        #expect(shown.code == 0 && shown.error.isEmpty)
        let read = { (text: String) in
            AppConfiguration.parse(Array(text.utf8), name: "camera", file: "f", sandbox: .off)
        }
        #expect(read(shown.output) == read(Self.camera))
        #expect(read(show("camera", "--no-defaults").output) == read(Self.camera))
        #expect(read(Self.camera).errors == [])
    }

    @Test func everyKeyIsShown() throws {
        try write("etc/curfew/apps/camera.toml", Self.camera)
        let json = try JSON.parse(show("--json").output)
        func names(_ part: JSON?) -> [String] {
            (part?["values"]?.arrayValue ?? []).map {
                ($0["section"]?.stringValue ?? "") + " " + ($0["key"]?.stringValue ?? "")
            }
        }
        #expect(names(json["device"]) == ConfigurationKey.device.map { $0.section + " " + $0.name })
        #expect(names(json["apps"]?.arrayValue?.first) == ConfigurationKey.app.map { $0.section + " " + $0.name })
        let words = Set(show().output.split { !$0.isLetter && $0 != "-" && !$0.isNumber }.map(String.init))
        for key in ConfigurationKey.device + ConfigurationKey.app { #expect(words.contains(key.name), "\(key.name)") }
    }

    @Test func aValueHasItsPlace() throws {
        try write("etc/curfew/apps/camera.toml", Self.camera)
        let file = "\(root)/etc/curfew/apps/camera.toml"
        let lines = show("camera").output.split(separator: "\n").map(String.init)
        func line(_ start: String) throws -> String {
            try #require(lines.first { $0.drop { $0 == " " }.hasPrefix(start) }, "\(start)")
        }
        #expect(lines[0] == "# camera  \(file)")
        #expect(try line("liveness = \"1h 30min\"").hasSuffix("  # \(file):5"))
        #expect(try line("restart-delay = \"100ms\"").hasSuffix("  # default"))
        #expect(try line("memory-max = \"1536K\"").hasSuffix("  # \(file):11"))
        #expect(try line("perform-fetch").hasSuffix("  # default, without effect in this version"))
        #expect(
            try line("# not set: ")
                == "# not set: description, working-directory, user, group, capabilities, read-write-paths,")
        #expect(!show("camera", "--no-defaults").output.contains("default"))
    }

    @Test func aWrongValueIsShownAsCheckSaysIt() throws {
        try write("etc/curfew/apps/camera.toml", "exec = [\"/bin/true\"]\nrestart = \"sometimes\"\nrestrat = 1\n")
        let said = PlayedDaemon.run(["--root", root, "check"]).output.split(separator: "\n").filter {
            $0.contains(".toml:")
        }
        #expect(said.count == 2)
        let lines = show("camera").output.split(separator: "\n")
        #expect(lines[1] == "# invalid: not launched until it is mended")
        #expect(lines[2] == "# " + said[1])
        #expect(lines.contains { $0.hasPrefix("# restart = \"sometimes\" ") && $0.hasSuffix("  # " + said[0]) })
        #expect(!lines.contains { $0.hasPrefix("restart = ") })
    }

    @Test func aWrongValueIsNullInJSON_besideWhatIsWritten() throws {
        try write("etc/curfew/apps/camera.toml", "exec = [\"/bin/true\"]\nrestart = \"sometimes\"\n")
        let file = "\(root)/etc/curfew/apps/camera.toml"
        let said = PlayedDaemon.run(["--root", root, "check"]).output
        let app = try #require(try JSON.parse(show("camera", "--json").output)["apps"]?.arrayValue?.first)
        #expect(app["isValid"] == false)
        let restart = try #require(app["values"]?.arrayValue?.first { $0["key"] == "restart" })
        #expect(restart["value"] == .null && restart["written"] == "\"sometimes\"")
        let error = try #require(restart["error"])
        #expect(error["file"]?.stringValue == file && error["line"] == 2)
        #expect(said.contains("\(file):2: " + (error["message"]?.stringValue ?? "?")))
    }

    @Test func anAppThatIsNotThere() throws {
        try write("etc/curfew/apps/camera.toml", Self.camera)
        let shown = show("camra")
        #expect(shown.code == 3 && shown.output.isEmpty)
        #expect(
            shown.error
                == "curfew: no app 'camra'; did you mean 'camera'? (curfew --root \(root) config show lists them)\n")
    }

    @Test func aBoardWithoutAnyFile() {
        let shown = show()
        #expect(shown.code == 0 && shown.error.isEmpty)
        let lines = shown.output.split(separator: "\n")
        #expect(lines[0] == "# the device  no curfew.toml")
        #expect(lines.contains { $0.hasPrefix("# no hardware profile  none fits this board") })
        #expect(!shown.output.contains(root + "/etc"))
    }

    /// deploy/docs makes the pages; this is what a key that was only declared would miss.
    @Test(arguments: ["curfew-app.5", "curfew.toml.5", "curfew-profile.5"])
    func everyKeyIsInTheManual(page: String) throws {
        let keys =
            switch page {
            case "curfew-app.5": ConfigurationKey.app
            case "curfew.toml.5": ConfigurationKey.device
            default: ConfigurationKey.profile.filter { $0.section != "policy" }
            }
        let text = try String(contentsOfFile: "\(Boards.root)/deploy/man/\(page)", encoding: .utf8)
        let words = Set(text.split { !$0.isLetter && $0 != "-" && $0 != "_" && !$0.isNumber }.map(String.init))
        for key in keys {
            #expect(words.contains(key.name), "\(key.name): deploy/docs writes the page anew")
            if case .word(let choices) = key.kind { #expect(choices.allSatisfy { words.contains($0) }, "\(key.name)") }
            let about = key.about.text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            #expect(about.allSatisfy { word in text.contains(word) }, "\(key.name): deploy/docs writes the page anew")
        }
    }

    /// The file that is installed names every key with its default.
    @Test func installedFileNamesEveryKey() throws {
        let text = try String(contentsOfFile: Boards.root + "/deploy/etc/curfew.toml", encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for key in ConfigurationKey.device {
            let line = "# \(key.name) = \(key.standard.toml)"
            #expect(lines.contains { $0 == line || $0.hasPrefix(line + " #") }, "\(line)")
        }
    }

    /// A key that is renamed or goes is missed by what the tool says of it.
    @Test func everyKeyThatTheToolNamesIsDeclared() {
        for key in AppKeyName.allCases { #expect(key.declaration != nil, "\(key.text)") }
        for key in DeviceKeyName.allCases { #expect(key.declaration != nil, "\(key.text)") }
        for key in ProfileKeyName.allCases { #expect(key.declaration != nil, "\(key.text)") }
        #expect(DeviceKeyName.protectedBand.standard == "900" && ProfileKeyName.batteryLow.standard == "20")
        #expect(AppKeyName.taskBudget.set("\"20min\"") == "[background] task-budget = \"20min\"")
        #expect(DeviceKeyName.onBattery.setting("pause") == "on-battery = \"pause\" in [policy]")
        #expect(AppKeyName.exec.text == "exec" && AppKeyName.memoryMax.text == "memory-max in [limits]")
    }

    /// A file with a longer allowance than there can be would be refused.
    @Test(arguments: [(5.0, "10s"), (200.0, "400s"), (400.0, "600s"), (600.0, nil)] as [(Double, String?)])
    func adviceStaysInTheKeysRange(had: Double, more: String?) {
        let report = TerminationRecord(Sample.overrun.with("timeAllowance", .number(had)))
        let points = Advice(report: report, root: "").points.filter { $0.contains("[allowances]") }
        let end = more.map { "[allowances] did-enter-background = \"\($0)\"" }
        #expect(points.count == (more == nil ? 0 : 1) && points.allSatisfy { $0.hasSuffix(end ?? "") }, "\(points)")
    }
}
