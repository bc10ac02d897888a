import Foundation
import Testing
import Varlink

@testable import CurfewCommands

@Suite struct ProfileTests {
    private func run(_ arguments: String..., system: String? = nil) -> PlayedDaemon.Outcome {
        let options = ["--directory", Boards.directory] + (system.map { ["--system", $0] } ?? [])
        return PlayedDaemon.run(["profile"] + arguments + options)
    }

    @Test func theProjectsProfilesAreSound() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Boards.directory)
        let files = names.filter { $0 != "README.md" }.sorted()
        #expect(files.count >= 19)
        let outcome = PlayedDaemon.run(["profile", "check"] + files.map { "\(Boards.directory)/\($0)" })
        #expect(outcome.code == 0, "\(outcome.output)")
        #expect(outcome.output == "\(files.count) profiles: nothing wrong\n")
    }

    @Test func readmesTableIsTheCommands() throws {
        let readme = try String(contentsOfFile: Boards.root + "/README.md", encoding: .utf8)
        let parts = readme.components(separatedBy: "<!-- boards -->\n")
        try #require(parts.count == 3, "README.md has the table between two lines <!-- boards -->")
        #expect(parts[1] == run("list", "--markdown").output, "deploy/boards writes it anew")
    }

    @Test(arguments: Boards.all)
    func boardIsDetected(board: FixtureBoard) throws {
        let tree = try board.tree()
        let outcome = run("detect", "--json", system: tree.path)
        let json = try JSON.parse(outcome.output)
        #expect(outcome.code == 0 && json["profile"] == .string(board.profile))
        #expect(json["alike"] == [] && json["errors"] == [])
        #expect(json["board"]?["compatible"]?.arrayValue?.count == board.compatible.count)
        let isGeneric = board.profile.hasPrefix("generic")
        #expect(json["skeleton"]?.isNull == !isGeneric, "only an unknown board needs a skeleton")
    }

    @Test(arguments: Boards.all)
    func skeletonPassesCheckAndFits(board: FixtureBoard) throws {
        let tree = try board.tree()
        try tree.write("sys/class/watchdog/watchdog0/identity", "Some \"Watchdog\"\n")
        try tree.write("sys/class/watchdog/watchdog0/max_timeout", "16\n")
        try tree.write("sys/class/power_supply/BAT0/type", "Battery\n")
        try tree.write("sys/class/power_supply/AC/type", "Mains\n")
        try tree.write("sys/class/power_supply/hidpp_battery_0/type", "Battery\n")
        try tree.write("sys/class/power_supply/hidpp_battery_0/scope", "Device\n")
        try tree.write("sys/class/hwmon/hwmon0/name", "rpi_volt\n")
        try tree.write("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "0\n")
        for zone in 0..<2 { try tree.write("sys/class/thermal/thermal_zone\(zone)/type", "cpu-thermal\n") }
        try tree.write("sys/power/state", "freeze mem disk\n")
        let skeleton = run("detect", "--skeleton", system: tree.path).output
        for line in [
            "identity = \"Some \\\"Watchdog\\\"\"", "max-timeout = \"16s\"", "states = [\"freeze\", \"mem\"]",
            "external = [\"AC\"]", "battery = [\"BAT0\"]",
            "under-voltage = { chip = \"rpi_volt\", attribute = \"in0_lcrit_alarm\" }", "zone = \"cpu-thermal\"",
        ] {
            #expect(skeleton.contains(line + "\n"), "\(line)")
        }
        try tree.write("profiles/mine.toml", skeleton)
        let check = PlayedDaemon.run(["profile", "check", tree.path + "/profiles/mine.toml"])
        #expect(check.code == 0, "\(check.output)")
        let detect = PlayedDaemon.run(
            ["profile", "detect", "--json", "--directory", tree.path + "/profiles", "--system", tree.path])
        #expect(try JSON.parse(detect.output)["profile"] == "mine")
    }

    @Test func detectSaysWhatItReadAndWhy() throws {
        let tree = try #require(Boards.all.first { $0.profile == "raspberry-pi-4b" }).tree()
        try tree.write("sys/firmware/devicetree/base/model", "Raspberry Pi 4 Model B Rev 1.4\0")
        try tree.write("sys/class/watchdog/watchdog0/identity", "Broadcom BCM2835 Watchdog timer\n")
        try tree.write("sys/class/watchdog/watchdog0/timeout", "60\n")
        try tree.write("sys/class/watchdog/watchdog0/max_timeout", "15\n")
        try tree.link("sys/class/watchdog/watchdog0/device/driver", "../../bus/platform/drivers/bcm2835-wdt")
        try tree.write("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
        try tree.write("sys/class/thermal/thermal_zone0/trip_point_0_temp", "90000\n")
        try tree.write("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n")
        try tree.write("sys/class/rtc/rtc0/name", "rtc-pcf85063 1-0051\n")
        try tree.write("sys/class/rtc/rtc0/wakealarm", "")
        let output = run("detect", system: tree.path).output
        for text in [
            "Raspberry Pi 4 Model B Rev 1.4", "raspberrypi,4-model-b, brcm,bcm2711",
            "watchdog0: Broadcom BCM2835 Watchdog timer (bcm2835-wdt), 60 s of at most 15 s",
            "cpu-thermal (critical 90 °C)", "rtc0 (rtc-pcf85063 1-0051, with an alarm)",
            "Profile: raspberry-pi-4b, Raspberry Pi 4 Model B; the device tree says raspberrypi,4-model-b",
            "fits too: generic-arm64",
        ] {
            #expect(output.contains(text), "\(text)\n\(output)")
        }
        #expect(!output.contains("The beginning of a profile"))
    }

    @Test func detectNamesWhatTheBoardDoesOtherwise() throws {
        let tree = try #require(Boards.all.first { $0.profile == "pinephone" }).tree()
        #expect(run("detect", system: tree.path).output.contains("no watchdog is called “sunxi-wdt”"))
        #expect(run("detect", system: tree.path).output.contains("there is no battery axp20x-battery"))
        try tree.write("sys/class/watchdog/watchdog0/identity", "sunxi-wdt\n")
        try tree.write("sys/class/watchdog/watchdog0/max_timeout", "32\n")
        #expect(run("detect", system: tree.path).output.contains("takes at most 32 s; the profile says 16 s"))
    }

    @Test func thisMachineIsDetected() throws {
        let json = try JSON.parse(run("detect", "--json").output)
        var name = utsname()
        uname(&name)
        let machine = withUnsafePointer(to: &name.machine.0) { String(cString: $0) }
        #expect(json["board"]?["architecture"] == .string(machine))
    }

    // MARK: list and show

    @Test func listMarksTheOneInUse() throws {
        let tree = try #require(Boards.all.first { $0.profile == "rock-5b" }).tree()
        let lines = run("list", system: tree.path).output.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("*") }.count == 1)
        #expect(lines.contains { $0.hasPrefix("*  rock-5b  ") })
        let json = try JSON.parse(run("list", "--json", system: tree.path).output)
        let used = json["profiles"]?.arrayValue?.filter { $0["inUse"] == true }.map { $0["name"] }
        #expect(used == ["rock-5b"])
        #expect(PlayedDaemon.run(["profile", "--directory", "/none"]).output == "No profiles in /none.\n")
    }

    @Test func showHasEveryValueWithItsSource() throws {
        let tree = try #require(Boards.all.first { $0.profile == "qemu" }).tree()
        let output = run("show", system: tree.path).output
        #expect(output.hasPrefix("qemu  QEMU test board\n"))
        #expect(output.contains("[watchdog]\n"))
        #expect(
            output.contains("max-timeout = \"2046s\"") && output.contains("# Linux drivers/watchdog/i6300esb.c: 2 *"))
        let values = try JSON.parse(run("show", "raspberry-pi-5b", "--json").output)["values"]?.arrayValue ?? []
        #expect(values.count > 8)
        #expect(values.allSatisfy { $0["source"]?.stringValue?.isEmpty == false })
        let unknown = run("show", "raspbery-pi-5b")
        #expect(unknown.code == 1 && unknown.error.contains("did you mean 'raspberry-pi-5b'?"))
    }

    @Test func curfewTomlNamesTheOneInUse() throws {
        let tree = try FixtureTree()
        let directory = "usr/share/curfew/hardware-profiles/"
        for name in ["a", "b"] {
            try tree.write(
                directory + "\(name).toml", "description = \"\(name)\"\n[match]\narch = \"\(name)\"\nsource = \"x\"")
        }
        try tree.write("etc/curfew/curfew.toml", "profile = \"b\"")
        #expect(PlayedDaemon.run(["--root", tree.path, "profile", "show"]).output.hasPrefix("b  b\n"))
        let detect = PlayedDaemon.run(["--root", tree.path, "profile", "detect"]).output
        #expect(detect.contains("Profile: b, b; curfew.toml names it"))
        try tree.write("etc/curfew/curfew.toml", "profile = \"c\"")
        let missing = PlayedDaemon.run(["--root", tree.path, "profile", "detect"]).output
        #expect(missing.contains("curfew.toml names the profile c, which there is not"))
    }

    @Test func checkWarnsOfAProfileThatIsNotThere() throws {
        let tree = try FixtureTree()
        try tree.write("etc/curfew/curfew.toml", "profile = \"c\"")
        let outcome = PlayedDaemon.run(["--root", tree.path, "check"])
        #expect(outcome.code == 0 && outcome.output.contains("warning: there is no hardware profile 'c'"))
    }

    // MARK: check

    @Test(arguments: [
        ("[watchdog]\ndriver = \"x\"", "[watchdog] has no 'source'"),
        ("[watchdog]\ndriver = \"x\"\nsource = \"\"", "does not say where 'driver' is from"),
        ("[watchdog]\ndriver = \"x\"\nsource = 1", "does not say where 'driver' is from"),
        ("[watchdog]\ndriver = \"x\"\nidentity = \"x\"\nsource = { driver = \"x\" }", "where 'identity' is from"),
        (
            "[watchdog]\ndriver = \"x\"\nsource = { driver = \"x\", drive = \"x\" }",
            "names 'drive', which is not there; did you mean 'driver'?"
        ),
        ("[[thermal]]\nzone = \"x\"", "[thermal[1]] has no 'source'"),
        ("[watchdog]\ndrivr = \"x\"\nsource = \"x\"", "unknown key 'drivr' in [watchdog]; did you mean 'driver'?"),
        ("[watchdog]\ntimeout = \"2h\"\nmax-timeout = \"1h\"\nsource = \"x\"", "is more than the driver takes"),
    ])
    func badProfile(lines: String, message: String) throws {
        let tree = try FixtureTree()
        try tree.write("bad.toml", "description = \"x\"\n[match]\narch = \"x\"\nsource = \"x\"\n" + lines)
        let outcome = PlayedDaemon.run(["profile", "check", tree.path + "/bad.toml"])
        #expect(outcome.code == 1 && outcome.output.contains(message), "\(outcome.output)")
        #expect(outcome.output.hasPrefix(tree.path + "/bad.toml:"), "it names the file")
        let json = try JSON.parse(PlayedDaemon.run(["profile", "check", "--json", tree.path + "/bad.toml"]).output)
        #expect(json["errors"]?.arrayValue?.isEmpty == false)
    }

    @Test func everyMistakeOfAProfileIsNamedWithItsLine() throws {
        let tree = try FixtureTree()
        try tree.write(
            "bad.toml", "description = \"x\"\n[match]\narchitecture = \"x\"\nsource = \"x\"\n[wakealarm]\n")
        let outcome = PlayedDaemon.run(["profile", "check", tree.path + "/bad.toml"])
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let file = tree.path + "/bad.toml"
        #expect(outcome.code == 1)
        for line in [3, 5] { #expect(lines.contains { $0.hasPrefix("\(file):\(line): ") }, "\(lines)") }
        #expect(lines.last == "1 profile: \(lines.count - 1) errors", "\(lines)")
    }

    @Test func checkOfNothingAndOfTwoAlike() throws {
        let tree = try FixtureTree()
        #expect(PlayedDaemon.run(["profile", "check", tree.path + "/x.toml"]).output.contains("is not there"))
        #expect(PlayedDaemon.run(["profile", "check", tree.path + "/x.text"]).output.contains("expected NAME.toml"))
        for name in ["a", "b"] {
            try tree.write("\(name).toml", "description = \"x\"\n[match]\ncompatible = [\"v,b\"]\nsource = \"x\"")
        }
        let both = PlayedDaemon.run(["profile", "check", tree.path + "/a.toml", tree.path + "/b.toml"])
        #expect(both.code == 1 && both.output.contains("b.toml: is for v,b, and so is \(tree.path)/a.toml"))
        let board = try FixtureTree()
        try board.write("sys/firmware/devicetree/base/compatible", "v,b\0")
        let detect = PlayedDaemon.run(
            ["profile", "detect", "--directory", tree.path, "--system", board.path])
        #expect(detect.output.contains("Several profiles fit alike: a, b; set 'profile' in curfew.toml"))
        #expect(detect.output.contains("Profile: none fits; the defaults are taken"))
    }

    @Test func whatABoardSaysIsShownNotObeyed() throws {
        let tree = try FixtureTree()
        try tree.write("sys/class/dmi/id/sys_vendor", "Evil\u{1B}[31m \"Corp\"\n")
        try tree.write("sys/class/power_supply/x\u{1B}/type", "\u{1B}]0;\u{7}\n")
        let outcome = run("detect", system: tree.path)
        #expect(outcome.code == 0 && !outcome.output.contains("\u{1B}"))
        try tree.write("evil.toml", run("detect", "--skeleton", system: tree.path).output)
        #expect(PlayedDaemon.run(["profile", "check", tree.path + "/evil.toml"]).code == 0)
    }
}
