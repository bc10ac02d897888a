import Configuration
import Lifecycle
import Testing

@Suite struct HardwareProfileTests {
    private func parse(_ toml: String) -> (profile: HardwareProfile?, errors: [ConfigurationError]) {
        HardwareProfile.parse(Array(toml.utf8), name: "board", file: "board.toml")
    }

    @Test func everyValueIsRead() throws {
        let (found, errors) = parse(ProfileSample.full)
        #expect(errors == [])
        let profile = try #require(found)
        #expect(profile.name == "board" && profile.description == "A board")
        #expect(profile.match.compatible == ["vendor,board", "vendor,chip"])
        #expect(profile.match.dmi == [["Vendor", "Board*", "", "", "", "", "B1"], ["Other", "", "", "", "", "", ""]])
        #expect(profile.match.architecture == "aarch64")
        var watchdog = HardwareProfile.Watchdog()
        watchdog.driver = "x-wdt"
        watchdog.identity = "X Watchdog"
        watchdog.timeout = .seconds(15)
        watchdog.maxTimeout = .seconds(16)
        watchdog.inSleep = .stops
        watchdog.isStoppable = true
        #expect(profile.watchdog == watchdog)
        #expect(profile.sleep.states == [.mem, .standby] && !profile.sleep.isLogical)
        #expect(profile.sleep.wakeSources == .all)
        #expect(profile.power.external == ["ac", "usb"] && profile.power.batteries == ["bat"])
        #expect(profile.power.batteryLow == 25 && profile.power.batteryCritical == 7)
        #expect(profile.power.underVoltage?.chip == "volt" && profile.power.underVoltage?.attribute == "in0_alarm")
        #expect(profile.thermal.map(\.type) == ["cpu", "gpu"])
        #expect(profile.thermal[0].fair == 60 && profile.thermal[0].serious == 70 && profile.thermal[0].critical == 80)
        #expect(profile.thermal[1].fair == nil && profile.thermal[1].critical == 90)
        #expect(profile.memory.pressureWarning == 10 && profile.memory.pressureCritical == 30)
        #expect(profile.memory.reserve == 32 << 20)
        #expect(profile.background.fetchIntervalMin == .seconds(1800))
        #expect(profile.background.taskBudget == .seconds(300))
        #expect(
            profile.conditions == [
                .init(condition: .lidClosed, response: .inactive), .init(condition: .batteryLow, response: .nothing),
            ])
    }

    @Test func whatIsLeftOutHasDefaults() throws {
        let profile = try #require(parse("description = \"B\"\nmatch.arch = \"x86_64\"").profile)
        var expected = HardwareProfile(name: "board")
        expected.description = "B"
        expected.match.architecture = "x86_64"
        #expect(profile == expected)
        #expect(profile.power.batteryLow == 20 && profile.power.batteryCritical == 5)
        #expect(profile.background.fetchIntervalMin == .seconds(900))
    }

    @Test func aBoardThatCannotSleep() throws {
        let profile = try #require(parse(ProfileSample.with("sleep = { logical = true, states = [] }")).profile)
        #expect(profile.sleep.isLogical && profile.sleep.states == [])
    }

    /// Line 3 follows a description and a match.
    @Test(arguments: [
        BadFile("watchdgo = {}", 3, "unknown key 'watchdgo'; did you mean 'watchdog'?"),
        BadFile("name = \"x\"", 3, "'name' is the file's own: NAME.toml"),
        BadFile("[watchdog]\ntimeot = \"5s\"", 4, "unknown key 'timeot' in [watchdog]; did you mean 'timeout'?"),
        BadFile(
            "watchdog.timeout = 15", 3, "'timeout' in [watchdog] is the integer 15; expected a string: write \"15s\""),
        BadFile(
            "[watchdog]\nmax-timeout = \"15s\"\ntimeout = \"16s\"", 5,
            "'timeout' in [watchdog] is more than the driver takes: 'max-timeout' is 15 s"),
        BadFile("watchdog.in-sleep = \"runs\"", 3, "expected \"unknown\", \"stops\" or \"counts\""),
        BadFile("watchdog.driver = \"\"", 3, "'driver' in [watchdog] is \"\"; expected a string that is not empty"),
        BadFile("watchdog.stoppable = \"no\"", 3, "expected true or false"),
        BadFile("sleep.states = [\"disk\"]", 3, "'states' in [sleep] holds 'disk'; expected mem, freeze or standby"),
        BadFile("sleep.wake-sources = [\"lit\"]", 3, "expected key, rtc, lid, external-power or network"),
        BadFile("sleep = { logical = true, states = [\"mem\"] }", 3, "'logical' in [sleep] is for boards that cannot"),
        BadFile("power.battery = \"bat\"", 3, "'battery' in [power] is \"bat\"; expected an array of strings"),
        BadFile("power.external = [\"\"]", 3, "'external' in [power] holds an empty string"),
        BadFile("power.battery-low = 100", 3, "expected an integer from 1 to 99"),
        BadFile("power.battery-low = 5", 3, "'battery-critical' in [power] must be less than 'battery-low'"),
        BadFile("power.under-voltage = { chip = \"x\" }", 3, "'attribute' in [under-voltage] is missing"),
        BadFile("power.under-voltage = { chip = \"../x\", attribute = \"a\" }", 3, "is a path; expected a name"),
        BadFile("thermal = { zone = \"cpu\" }", 3, "'thermal' is a table; expected an array of tables"),
        BadFile("thermal = []", 3, "'thermal' is an array; expected an array of tables"),
        BadFile("[[thermal]]\nfair = 70", 4, "'zone' in [thermal] is missing"),
        BadFile("[[thermal]]\nzone = \"cpu\"\nfair = 70\nserious = 70", 5, "'fair' in [thermal] must be less than"),
        BadFile("[[thermal]]\nzone = \"cpu\"\ncritical = 70\nfair = 71", 6, "'fair' in [thermal] must be less than"),
        BadFile("[[thermal]]\nzone = \"c\"\n[[thermal]]\nzone = \"c\"", 6, "'zone' in [thermal] is there twice"),
        BadFile("[[thermal]]\nzone = \"c\"\nfair = 300", 5, "expected an integer from -40 to 200"),
        BadFile("memory.pressure-warning = 0", 3, "expected an integer from 1 to 100"),
        BadFile("memory.pressure-critical = 10", 3, "'pressure-warning' in [memory] must be less than"),
        BadFile("memory.reserve = \"1K\"", 3, "expected a size of at least 1M"),
        BadFile("background.fetch-interval-min = \"1s\"", 3, "expected a duration from 60 s to"),
        BadFile("policy.idle = \"power-off\"", 3, "expected \"nothing\", \"inactive\", \"background\" or \"sleep\""),
        BadFile("policy.lid = \"nothing\"", 3, "unknown key 'lid' in [policy]"),
    ])
    func badValue(bad: BadFile) {
        let (profile, errors) = parse(ProfileSample.with(bad.toml))
        #expect(profile == nil)
        #expect(errors.contains { $0.line == bad.line && $0.message.contains(bad.message) }, "\(errors.map(\.text))")
    }

    @Test(arguments: [
        ("match.arch = \"x\"", "'description' is missing"),
        ("description = \"x\"", "'match' is for no board"),
        ("description = \"x\"\n[match]\ncompatible = []", "'match' is for no board"),
        ("description = \"x\"\n[match]\ndmi = [{}]", "'dmi' in [match] holds an empty table"),
        ("description = \"x\"\n[match]\ndmi = { sys_vendor = \"V\" }", "expected an array of tables"),
        ("description = \"x\"\n[match]\ndmi = [{ vendor = \"V\" }]", "unknown key 'vendor' in [dmi]"),
        ("description = 1\nmatch.arch = \"x\"", "'description' is the integer 1"),
        ("= 1", "not TOML"), ("\u{0}", "NUL byte"),
    ])
    func unusableFile(toml: String, message: String) {
        let (profile, errors) = parse(toml)
        #expect(profile == nil)
        #expect(errors.contains { $0.message.contains(message) }, "\(errors.map(\.text))")
    }

    // MARK: what holds on a board

    @Test func settingsOfAnUnknownBoard() {
        let settings = BoardSettings(DeviceConfiguration(), nil)
        #expect(settings.board == HardwareProfile() && settings.watchdogTimeout == .seconds(30))
        #expect(settings.responses[.sessionLocked] == .inactive && settings.responses[.lidClosed] == .background)
        #expect(settings.responses[.idle] == .nothing && settings.responses[.batteryLow] == .lowPower)
        #expect(settings.responses[.batteryCritical] == .powerOff)
    }

    @Test func curfewTomlOverridesTheProfile() throws {
        let profile = try #require(parse(ProfileSample.full).profile)
        var device = DeviceConfiguration()
        #expect(BoardSettings(device, profile).watchdogTimeout == .seconds(15))
        #expect(BoardSettings(device, profile).responses[.lidClosed] == .inactive)
        device.conditions = [.init(condition: .lidClosed, response: .nothing)]
        device.watchdogTimeout = .seconds(10)
        device.watchdogDevice = .path("/dev/watchdog1")
        let settings = BoardSettings(device, profile)
        #expect(settings.watchdogTimeout == .seconds(10) && settings.watchdogDevice == .path("/dev/watchdog1"))
        #expect(settings.responses[.lidClosed] == .nothing, "curfew.toml's")
        #expect(settings.responses[.batteryLow] == .nothing, "the profile's")
        #expect(settings.responses[.idle] == .nothing, "the default")
        #expect(settings.board == profile)
    }

    @Test func logicalSleepWithoutAWordOnWakeSourcesKeepsTheUsualOnes() {
        var profile = HardwareProfile(name: "x")
        profile.sleep.isLogical = true
        let policy = BoardSettings(DeviceConfiguration(), profile).policy(DevicePolicy())
        #expect(policy.sleepsLogically)
        #expect(policy.wakeSources.contains(WakeSource.key) && policy.wakeSources.contains(WakeSource.lid))
        profile.sleep.wakeSources = WakeSources(.network)
        let other = BoardSettings(DeviceConfiguration(), profile).policy(DevicePolicy())
        #expect(other.wakeSources == WakeSources(.network))
    }

    @Test func timeoutIsClampedToTheDriversLimit() throws {
        let profile = try #require(parse(ProfileSample.full).profile)
        var device = DeviceConfiguration()
        device.watchdogTimeout = .seconds(60)
        #expect(BoardSettings(device, profile).watchdogTimeout == .seconds(16))
        #expect(BoardSettings(device, nil).watchdogTimeout == .seconds(60))
    }
}

enum ProfileSample {
    /// A valid file that goes on with other lines.
    static func with(_ lines: String) -> String { "description = \"B\"\nmatch.compatible = [\"v,b\"]\n" + lines }

    static let full = """
        description = "A board"

        [match]
        compatible = ["vendor,board", "vendor,chip"]
        dmi = [{ sys_vendor = "Vendor", product_name = "Board*", board_name = "B1" }, { sys_vendor = "Other" }]
        arch = "aarch64"
        source = "its device tree"

        [watchdog]
        driver = "x-wdt"
        identity = "X Watchdog"
        timeout = "15s"
        max-timeout = "16s"
        in-sleep = "stops"
        stoppable = true
        source = "its driver"

        [sleep]
        states = ["mem", "standby"]
        logical = false
        wake-sources = ["key", "rtc", "lid", "external-power", "network"]
        source = "its manual"

        [power]
        external = ["ac", "usb"]
        battery = ["bat"]
        battery-low = 25
        battery-critical = 7
        under-voltage = { chip = "volt", attribute = "in0_alarm" }
        source = "its drivers"

        [[thermal]]
        zone = "cpu"
        fair = 60
        serious = 70
        critical = 80
        source = { zone = "its device tree", fair = "measured", serious = "measured", critical = "its device tree" }

        [[thermal]]
        zone = "gpu"
        critical = 90
        source = "its device tree"

        [memory]
        pressure-warning = 10
        pressure-critical = 30
        reserve = "32M"
        source = "measured"

        [background]
        fetch-interval-min = "30min"
        task-budget = "5min"
        source = "Curfew"

        [policy]
        battery-low = "nothing"
        lid-closed = "inactive"
        source = "Curfew"
        """
}
