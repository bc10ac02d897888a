internal import Lifecycle

/// The keys of a hardware profile, each declared once: what it takes, where its value belongs, what the manual says.
/// The defaults are those of `HardwareProfile`.
struct ProfileKeys {
    static let refusals = [(section: "", key: "name", why: "is the file's own: NAME.toml")]

    let keys: KeyWalk
    var profile: HardwareProfile

    init(keys: KeyWalk, profile: HardwareProfile) {
        self.keys = keys
        self.profile = profile
    }

    mutating func walk() {
        keys.group("board")
        keys.table.require("description")
        text("description", &profile.description, "The board, for people. Required.")
        match()
        watchdog()
        sleep()
        power()
        thermal()
        memory()
        section("background") { keys in
            keys.duration(
                "fetch-interval-min", .seconds(60)...Nanoseconds.seconds(604_800), &profile.background.fetchIntervalMin,
                .withoutEffect("No app is updated more often."))
            keys.duration(
                "task-budget", .seconds(1)...Nanoseconds.seconds(86_400), &profile.background.taskBudget,
                .withoutEffect("For apps whose file does not say."))
        }
        section("policy") { profile.conditions = DeviceKeys.conditions($0) }
    }

    /// A table, and where its values are from.
    @discardableResult
    private func section(_ name: String, _ body: (KeyWalk) -> Void) -> Bool {
        keys.section(name) {
            body(keys)
            // Only `curfew profile check` asks for it.
            keys.know("source")
        }
    }

    /// A text that is not empty; `read` is of more than that.
    private func text(
        _ name: String, _ value: inout String, _ about: @autoclosure () -> ConfigurationKey.About,
        read: (TomlTable, Entry) -> String? = HardwareProfileFile.text
    ) {
        keys.value(
            name, HardwareProfileFile.textExpected, &value, about(), show: { $0.isEmpty ? .unset : .text($0) },
            read: read)
    }

    private func text(
        _ name: String, _ value: inout String?, _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        keys.value(
            name, HardwareProfileFile.textExpected, &value, about(), show: { .optional($0) },
            read: HardwareProfileFile.text)
    }

    private func texts(
        _ name: String, _ value: inout [String], _ about: @autoclosure () -> ConfigurationKey.About
    ) {
        keys.value(
            name, "an array of strings", &value, about(), show: { .list($0) }, read: HardwareProfileFile.texts)
    }

    // MARK: tables

    private mutating func match() {
        section("match") { keys in
            texts(
                "compatible", &profile.match.compatible,
                .init("Names in /sys/firmware/devicetree/base/compatible.", example: #"["vendor,board"]"#))
            text(
                "arch", &profile.match.architecture,
                .init("As uname -m has it: for the profile of boards that nothing else fits.", example: #""aarch64""#))
            let match = keys.table
            keys.sections("dmi") { isThere in
                var board: [String] = []
                for name in BoardIdentity.dmiKeys {
                    var value = ""
                    text(name, &value, "")
                    board.append(value)
                }
                if isThere { profile.match.dmi.append(board) }
                if isThere, keys.table.entries.isEmpty {
                    match.refuse("dmi", "holds an empty table, which fits any board")
                }
            }
        }
    }

    private mutating func watchdog() {
        let range = Nanoseconds.seconds(1)...Nanoseconds.seconds(604_800)
        section("watchdog") { keys in
            text(
                "driver", &profile.watchdog.driver,
                "As the link /sys/class/watchdog/watchdogN/device/driver names it.")
            text("identity", &profile.watchdog.identity, "As /sys/class/watchdog/watchdogN/identity has it.")
            keys.duration(
                "timeout", range, &profile.watchdog.timeout, "What is asked for. Default: what the driver has.")
            keys.duration("max-timeout", range, &profile.watchdog.maxTimeout, "What the driver takes at most.")
            keys.word(
                "in-sleep", [("unknown", .unknown), ("stops", .stops), ("counts", .counts)],
                &profile.watchdog.inSleep, "What becomes of its timer while the board sleeps.")
            keys.boolean("stoppable", &profile.watchdog.isStoppable, "Whether it can be switched off again.")
        }
    }

    private mutating func sleep() {
        section("sleep") { keys in
            keys.value(
                "states", HardwareProfileFile.statesExpected, &profile.sleep.states,
                .init(
                    "Words of /sys/power/state that work on this board.", example: #"["mem", "freeze", "standby"]"#),
                show: { .list(HardwareProfileFile.words($0?.rawValue ?? 0, HardwareProfile.SleepStates.words)) },
                read: HardwareProfileFile.states)
            keys.boolean(
                "logical", &profile.sleep.isLogical,
                "The board cannot sleep: apps go through the same transitions, and the kernel stays awake.")
            keys.value(
                "wake-sources", HardwareProfileFile.wakeSourcesExpected, &profile.sleep.wakeSources,
                .init(
                    "What ends a logical sleep, beside `curfew wake`. Default: key, rtc and lid.",
                    example: #"["key", "rtc", "lid", "external-power", "network"]"#),
                show: { .list(HardwareProfileFile.words($0.rawValue, WakeSource.allCases.map { $0.key })) },
                read: HardwareProfileFile.wakeSources)
        }
    }

    private mutating func power() {
        section("power") { keys in
            texts(
                "external", &profile.power.external,
                .init("Names below /sys/class/power_supply. Default: whatever is there.", example: #"["ac"]"#))
            texts(
                "battery", &profile.power.batteries,
                .init("Names of batteries there. Default: whatever is there.", example: #"["bat"]"#))
            keys.integer(
                "battery-low", 1...99, &profile.power.batteryLow, "In percent: with this and less the battery is low.")
            keys.integer("battery-critical", 1...99, &profile.power.batteryCritical, "The same, of critical.")
            var alarm = HardwareProfile.Alarm(chip: "", attribute: "")
            let isThere = keys.section("under-voltage") {
                for name in ["chip", "attribute"] { keys.table.require(name) }
                text("chip", &alarm.chip, "A hwmon device's name.", read: HardwareProfileFile.fileName)
                text("attribute", &alarm.attribute, "Its file that says 1.", read: HardwareProfileFile.fileName)
            }
            if isThere { profile.power.underVoltage = alarm }
        }
    }

    private mutating func thermal() {
        let degrees: ClosedRange<Int64> = -40...200
        keys.sections("thermal") { isThere in
            var zone = HardwareProfile.ThermalZone(type: "")
            keys.table.require("zone")
            text("zone", &zone.type, "Its /sys/class/thermal/thermal_zoneN/type. Required.")
            keys.integer(
                "fair", degrees, &zone.fair,
                "From how many degrees Celsius on it is fair; by default the zone's trip point.")
            keys.integer("serious", degrees, &zone.serious, "The same, of serious.")
            keys.integer("critical", degrees, &zone.critical, "The same, of critical.")
            keys.know("source")
            if isThere { HardwareProfileFile.add(zone, keys.table, &profile.thermal) }
        }
    }

    private mutating func memory() {
        section("memory") { keys in
            keys.integer(
                "pressure-warning", 1...100, &profile.memory.pressureWarning,
                "The percentage of a second in which some task waits for memory (/proc/pressure/memory).")
            keys.integer(
                "pressure-critical", 1...100, &profile.memory.pressureCritical,
                "The same, in which nothing gets done for it.")
            keys.size(
                "reserve", atLeast: 1 << 20, &profile.memory.reserve,
                "How much memory is to be available when apps have been ended for it. Default: an eighth of all.")
        }
    }
}
