import Configuration
import Foundation
import Lifecycle
import Testing

@Suite final class EffectiveConfigurationTests {
    private let root = NSTemporaryDirectory() + "curfew-\(UUID().uuidString.prefix(8))"

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func load() -> EffectiveConfiguration {
        EffectiveConfiguration.load(
            paths: ConfigurationPaths(root: root), board: BoardIdentity(architecture: "x86_64"), accounts: anyone)
    }

    private func setting(
        _ part: EffectiveConfiguration.Part, _ name: String, in section: String = ""
    ) throws -> EffectiveConfiguration.Setting {
        try #require(part.settings.first { $0.key.name == name && $0.key.section == section })
    }

    @Test func everythingIsTheDefault_whereThereIsNoFile() {
        let effective = load()
        #expect(effective.device.file == nil && effective.profile.file == nil && effective.apps.isEmpty)
        #expect(effective.device.settings.map(\.key) == ConfigurationKey.device)
        #expect(effective.profile.settings.map(\.key) == ConfigurationKey.profile)
        for setting in effective.device.settings + effective.profile.settings {
            #expect(setting.origin == .standard && setting.value == setting.key.standard)
        }
    }

    @Test func administratorsFileReplacesTheVendors() throws {
        try write("usr/lib/curfew/apps/camera.toml", "exec = [\"/v\"]\nnice = 1\n")
        try write("etc/curfew/apps/camera.toml", "exec = [\"/a\"]\n")
        let app = try #require(load().apps.first)
        #expect(app.file == root + "/etc/curfew/apps/camera.toml")
        #expect(try setting(app, "exec").value == .texts(["/a"]))
        #expect(try setting(app, "nice").value == .unset)
    }

    @Test func deviceThenProfileThenDefault() throws {
        try write("etc/curfew/curfew.toml", "profile = \"board\"\n[policy]\nlid-closed = \"sleep\"\n")
        let profile = "usr/share/curfew/hardware-profiles/board.toml"
        try write(
            profile,
            """
            description = "A board"
            match.arch = "armv7l"
            [watchdog]
            timeout = "8s"
            [policy]
            lid-closed = "inactive"
            idle = "background"
            """)
        let device = load().device
        let lid = try setting(device, "lid-closed", in: "policy")
        #expect(lid.value == .text("sleep") && lid.origin == .file(root + "/etc/curfew/curfew.toml", line: 3))
        let idle = try setting(device, "idle", in: "policy")
        #expect(idle.value == .text("background") && idle.origin == .profile("\(root)/\(profile)", line: 7))
        let timeout = try setting(device, "timeout", in: "watchdog")
        #expect(timeout.value == .text("8s") && timeout.origin == .profile("\(root)/\(profile)", line: 4))
        let onBattery = try setting(device, "on-battery", in: "policy")
        #expect(onBattery.value == .text("nothing") && onBattery.origin == .standard)
    }

    @Test func timeoutIsCutToWhatTheWatchdogTakes() throws {
        try write("etc/curfew/curfew.toml", "profile = \"board\"\nwatchdog.timeout = \"1min\"\n")
        try write(
            "usr/share/curfew/hardware-profiles/board.toml",
            "description = \"A board\"\nmatch.arch = \"armv7l\"\nwatchdog.max-timeout = \"16s\"\n")
        let timeout = try setting(load().device, "timeout", in: "watchdog")
        #expect(timeout.value == .text("16s") && timeout.key.line == 2 && timeout.ignored != nil)
        #expect(timeout.origin == .profile(root + "/usr/share/curfew/hardware-profiles/board.toml", line: 3))
    }

    /// curfewd takes the defaults for a file with an error.
    @Test func nothingOfADevicesFileCounts_whereAnythingIsWrong() throws {
        try write("etc/curfew/curfew.toml", "front = \"one\"\n[sleep]\nmargin = \"1h\"\n")
        let device = load().device
        let front = try setting(device, "front")
        #expect(front.value == .text("many") && front.origin == .standard && front.ignored != nil)
        let margin = try setting(device, "margin", in: "sleep")
        #expect(margin.error == device.errors[0] && margin.error?.line == 3 && margin.value == .text("500ms"))
        #expect(device.otherErrors.isEmpty)
    }

    @Test func whatIsWrongIsSaidOfItsValue_theRestOfTheFile() throws {
        try write(
            "etc/curfew/apps/camera.toml",
            "exec = [\"/x\"]\nrestrat = 1\nlimits = { processes = 0, memory-high = \"2M\", memory-max = \"1M\" }\n")
        let app = try #require(load().apps.first)
        #expect(app.errors.count == 3 && app.otherErrors.map(\.line) == [2])
        #expect(try setting(app, "processes", in: "limits").error?.message.hasPrefix("'processes'") == true)
        #expect(try setting(app, "processes", in: "limits").value == .unset)
        // Two keys that do not go together: said once.
        let said = app.settings.compactMap(\.error).filter { $0.message.hasPrefix("'memory-high'") }
        #expect(said.count == 1)
    }

    @Test func hooksOfAnotherDelegateAreNotUsed() throws {
        let text = "exec = [\"/x\"]\n[hooks]\nwill-terminate = [\"/y\"]\n"
        try write("etc/curfew/apps/camera.toml", text)
        try write("etc/curfew/apps/radio.toml", "delegate = \"hooks\"\n" + text)
        let apps = load().apps
        let unused = try setting(apps[0], "will-terminate", in: "hooks")
        #expect(unused.value == .unset && unused.ignored == "not used without delegate = \"hooks\"")
        let used = try setting(apps[1], "will-terminate", in: "hooks")
        #expect(used.value == .texts(["/y"]) && used.ignored == nil)
    }

    @Test func whatIsShownOfAValueIsAFileForIt_whateverItHolds() throws {
        let script = "echo 'a'\tb \"q\" \\n\r\n\u{7}\u{9b}\u{200b}\u{2028} é 🏕\n" + String(repeating: "x", count: 3000)
        let value = ConfigurationValue.texts(["/bin/sh", "-c", script])
        #expect(!value.toml.unicodeScalars.contains { $0.value < 32 || $0.value == 0x2028 })
        try write("etc/curfew/apps/camera.toml", "exec = \(value.toml)\n")
        let app = try #require(load().apps.first)
        #expect(app.errors.isEmpty)
        #expect(try setting(app, "exec").value == value)
    }

    @Test(arguments: ["exec = [", "\u{0}"]) func aFileThatIsNoTOMLSetsNothing(text: String) throws {
        try write("etc/curfew/apps/camera.toml", text)
        let app = try #require(load().apps.first)
        #expect(app.errors.count == 1 && app.otherErrors == app.errors)
        #expect(app.settings.allSatisfy { $0.origin == .standard })
    }
}
