import Configuration
import Lifecycle
import Testing

@Suite struct DeviceFileTests {
    private func parse(_ toml: String) -> (device: DeviceConfiguration, errors: [ConfigurationError]) {
        DeviceConfiguration.parse(Array(toml.utf8), file: "curfew.toml")
    }

    @Test func contractsExample() {
        let (device, errors) = parse(
            """
            profile = "auto"                 # or a profile's name
            front = "many"                   # many: all apps that start active are in front together

            [sleep]
            margin = "500ms"                 # kept back from logind's InhibitDelayMaxUSec
            allowance-max = "30s"            # however long logind would wait
            task-grace = "2s"                # how long held background tasks may delay a sleep
            allowance-without-logind = "5s"  # for the hook and for logical sleep

            [watchdog]                       # the board's
            device = "auto"                  # auto | none | /dev/watchdog1
            timeout = "auto"                 # from the profile, clamped to what the driver takes

            [policy]                         # board condition -> what is asked; overrides the profile's
            session-locked = "inactive"
            lid-closed = "background"
            idle = "nothing"
            battery-low = "low-power"
            battery-critical = "power-off"
            """)
        var expected = DeviceConfiguration()
        expected.conditions = [
            .init(condition: .sessionLocked, response: .inactive),
            .init(condition: .lidClosed, response: .background),
            .init(condition: .idle, response: .nothing),
            .init(condition: .batteryLow, response: .lowPower),
            .init(condition: .batteryCritical, response: .powerOff),
        ]
        #expect(errors.isEmpty)
        #expect(device == expected)
        #expect(device.policy == DevicePolicy())
    }

    @Test func emptyFileMeansDefaults() {
        #expect(parse("").device == DeviceConfiguration())
        #expect(parse("").errors.isEmpty)
    }

    @Test(
        arguments: [
            ("profile = \"raspberry-pi_4.B\"", { @Sendable in $0.profile = .named("raspberry-pi_4.B") }),
            ("front = \"one\"", { $0.policy.front = .one }),
            ("sleep.margin = \"100ms\"", { $0.policy.sleepMargin = .milliseconds(100) }),
            ("sleep.allowance-max = \"10s\"", { $0.policy.sleepAllowanceMax = .seconds(10) }),
            ("sleep.allowance-without-logind = \"1s\"", { $0.policy.sleepAllowanceWithoutLogind = .seconds(1) }),
            ("sleep.task-grace = \"0\"", { $0.policy.taskGrace = .zero }),
            ("sleep.dark-wake = \"never\"", { _ in }),
            ("sleep.dark-wake = \"15min\"", { $0.policy.darkWakeInterval = .seconds(900) }),
            ("sleep.dark-wake-allowance = \"1min\"", { $0.policy.darkWakeAllowance = .seconds(60) }),
            ("watchdog.device = \"none\"", { $0.watchdogDevice = .none }),
            ("watchdog.device = \"/dev/watchdog1\"", { $0.watchdogDevice = .path("/dev/watchdog1") }),
            ("watchdog.timeout = \"15s\"", { $0.watchdogTimeout = .seconds(15) }),
            ("policy.debounce = \"500ms\"", { $0.policy.debounce = .milliseconds(500) }),
            ("memory.protected-band = 700", { $0.policy.protectedBand = 700 }),
            ("policy.power-key = \"sleep\"", { $0.conditions = [.init(condition: .powerKey, response: .sleep)] }),
            ("policy.idle = \"background\"", { $0.conditions = [.init(condition: .idle, response: .background)] }),
            (
                "policy.battery-critical = \"low-power\"",
                { $0.conditions = [.init(condition: .batteryCritical, response: .lowPower)] }
            ),
        ] as [(String, @Sendable (inout DeviceConfiguration) -> Void)])
    func goodValue(line: String, change: @Sendable (inout DeviceConfiguration) -> Void) {
        var expected = DeviceConfiguration()
        change(&expected)
        #expect(parse(line).errors == [])
        #expect(parse(line).device == expected)
    }

    @Test(arguments: [
        BadFile("front = \"two\"", 1, "'front' is \"two\"; expected \"many\" or \"one\""),
        BadFile("profil = \"x\"", 1, "unknown key 'profil'; did you mean 'profile'?"),
        BadFile(
            "profile = \"../x\"", 1,
            "'profile' is \"../x\"; expected \"auto\" or the name of a hardware profile (letters, digits, -, _ and .)"),
        BadFile(
            "[sleep]\nmargin = \"50ms\"", 2,
            "'margin' in [sleep] is \"50ms\"; expected a duration from 100 ms to 60 s"),
        BadFile(
            "[sleep]\nmargin = \"10s\"", 2,
            "'margin' in [sleep] (10 s) must be less than 'allowance-without-logind' (5 s)"),
        BadFile(
            "[sleep]\nallowance-max = \"500ms\"\ntask-grace = \"0\"", 2,
            "'margin' in [sleep] (500 ms) must be less than 'allowance-max' (500 ms)"),
        BadFile(
            "[sleep]\ntask-grace = \"31s\"", 2, "'task-grace' in [sleep] (31 s) is more than 'allowance-max' (30 s)"),
        BadFile(
            "watchdog.device = \"/etc/passwd\"", 1,
            "'device' in [watchdog] is \"/etc/passwd\"; expected \"auto\", \"none\" or a path below /dev"),
        BadFile(
            "watchdog.device = \"/dev/../etc/x\"", 1,
            "'device' in [watchdog] is \"/dev/../etc/x\"; expected \"auto\", \"none\" or a path below /dev"),
        BadFile(
            "watchdog.timeout = 15", 1,
            "'timeout' in [watchdog] is the integer 15; expected a string: write \"15s\""),
        BadFile(
            "policy.battery-low = \"power-off\"", 1,
            "'battery-low' in [policy] is \"power-off\"; expected \"nothing\", \"pause\" or \"low-power\""),
        BadFile("policy.lid-open = \"nothing\"", 1, "unknown key 'lid-open' in [policy]"),
        BadFile("lid-closed = \"nothing\"", 1, "unknown key 'lid-closed'; it belongs in [policy]"),
    ])
    func saysWhatIsWrongAndFallsBackToDefaults(file: BadFile) {
        let (device, errors) = parse(file.toml)
        #expect(errors == [.init(file: "curfew.toml", line: file.line, message: file.message)])
        #expect(device == DeviceConfiguration())
    }
}
