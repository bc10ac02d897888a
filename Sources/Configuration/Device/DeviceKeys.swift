internal import Lifecycle

/// The keys of `curfew.toml`, each declared once: what it takes, where its value belongs, what the manual says. The
/// defaults are those of `DeviceConfiguration`.
struct DeviceKeys {
    let keys: KeyWalk
    var device = DeviceConfiguration()

    init(keys: KeyWalk) { self.keys = keys }

    mutating func walk() {
        keys.group("front")
        keys.word(
            "front", [("many", .many), ("one", .one)], &device.policy.front,
            "How many apps are in front at the same time.")
        keys.group("board")
        keys.value(
            "profile", DeviceFile.profileExpected, &device.profile,
            .init("The hardware profile, by name.", example: #""raspberry-pi-4b""#),
            show: { .text($0.word) }, read: DeviceFile.profile)
        sleep()
        keys.section("watchdog") {
            keys.value(
                "device", DeviceFile.watchdogExpected, &device.watchdogDevice,
                .init("Which one.", example: #""/dev/watchdog1""#),
                show: { .text($0.word) }, read: DeviceFile.watchdog)
            // The driver has the last word; the range only keeps nonsense out.
            keys.duration(
                "timeout", .seconds(1)...Nanoseconds.seconds(86_400), &device.watchdogTimeout, word: "auto",
                "After how long without a word of `curfewd` it resets the board.")
        }
        keys.section("policy") {
            device.conditions = Self.conditions(keys)
            keys.group("debounce")
            keys.duration(
                "debounce", .milliseconds(100)...Nanoseconds.seconds(600), &device.policy.debounce,
                "What a condition has changed turns back only after so long.")
        }
        keys.section("memory") {
            keys.integer(
                "protected-band", 0...1001, &device.policy.protectedBand,
                """
                Apps with this `priority-band` or a higher one are ended for memory only when no other is left, and \
                for heat never.
                """)
        }
    }

    private mutating func sleep() {
        let allowance = Nanoseconds.milliseconds(200)...Nanoseconds.seconds(600)
        keys.section("sleep") {
            keys.duration(
                "margin", .milliseconds(100)...Nanoseconds.seconds(60), &device.policy.sleepMargin,
                "Kept back from logind's InhibitDelayMaxSec for killing and freezing.")
            keys.duration(
                "allowance-max", allowance, &device.policy.sleepAllowanceMax,
                """
                The longest that apps may hold a sleep up, the margin included, however long logind would wait. Where \
                less than 1s is left without the margin, no handler is called: all apps are frozen.
                """)
            keys.duration(
                "allowance-without-logind", allowance, &device.policy.sleepAllowanceWithoutLogind,
                "The same where there is no limit of logind's: for the sleep hook, and for `curfew sleep`.")
            keys.duration(
                "task-grace", .zero...Nanoseconds.seconds(600), &device.policy.taskGrace,
                "How long held background tasks may put the sleep off once all apps are ready.")
            keys.duration(
                "dark-wake", .seconds(60)...Nanoseconds.seconds(604_800), &device.policy.darkWakeInterval,
                word: "never", "How long the board sleeps before it is woken for background tasks that are held.")
            keys.duration(
                "dark-wake-allowance", .seconds(1)...Nanoseconds.seconds(600), &device.policy.darkWakeAllowance,
                .init(
                    "How long such a wake lasts at most. Where logind has not said that the last sleep is over, so "
                        + "that it would refuse the next, up to five minutes more."))
        }
    }

    /// `[policy]`: here, and in a hardware profile.
    static func conditions(_ keys: KeyWalk) -> [DeviceConfiguration.ConditionPolicy] {
        DeviceConfiguration.Condition.allCases.compactMap { condition in
            var response: DeviceConfiguration.Response?
            keys.word(
                condition.key, condition.responses.map { ($0.key, $0) }, &response,
                else: ConditionResponses()[condition], "")
            return response.map { DeviceConfiguration.ConditionPolicy(condition: condition, response: $0) }
        }
    }
}
