internal import Lifecycle

extension Schema {
    /// Each table has a `source` for what is in it; `profile check` asks for it.
    static let profile = Schema(
        sections: [
            Section(
                name: "",
                keys: [
                    "description", "match", "watchdog", "sleep", "power", "thermal", "memory", "background", "policy",
                ]),
            Section(name: "match", keys: ["compatible", "dmi", "arch", "source"]),
            Section(name: "dmi", keys: BoardIdentity.dmiKeys),
            Section(
                name: "watchdog",
                keys: ["driver", "identity", "timeout", "max-timeout", "in-sleep", "stoppable", "source"]),
            Section(name: "sleep", keys: ["states", "logical", "wake-sources", "source"]),
            Section(
                name: "power",
                keys: ["external", "battery", "battery-low", "battery-critical", "under-voltage", "source"]),
            Section(name: "under-voltage", keys: ["chip", "attribute"]),
            Section(name: "thermal", keys: ["zone", "fair", "serious", "critical", "source"]),
            Section(name: "memory", keys: ["pressure-warning", "pressure-critical", "reserve", "source"]),
            Section(name: "background", keys: ["fetch-interval-min", "task-budget", "source"]),
            Section(name: "policy", keys: DeviceConfiguration.Condition.allCases.map { $0.key } + ["source"]),
        ],
        refusals: [("", "name", "is the file's own: NAME.toml")])
}

/// Reads a hardware profile.
struct HardwareProfileFile {
    private let root: Table
    private var profile: HardwareProfile

    /// The profile of a document; nil, and problems noted, for one with anything wrong in it.
    static func read(_ value: Value, name: String, problems: Problems) -> HardwareProfile? {
        var file = HardwareProfileFile(
            root: Table(value, name: "", schema: .profile, problems: problems), profile: HardwareProfile(name: name))
        file.read()
        return problems.isEmpty ? file.profile : nil
    }

    private static let wanted = "is for no board; expected a table with 'compatible', 'dmi' or 'arch'"

    private init(root: Table, profile: HardwareProfile) {
        self.root = root
        self.profile = profile
    }

    private mutating func read() {
        profile.description = required(root, "description") ?? ""
        if let table = root.table("match", .profile) {
            readMatch(table)
        } else if root.entry("match") == nil {
            refuse(root, "match", Self.wanted)
        }
        if let table = root.table("watchdog", .profile) { readWatchdog(table) }
        if let table = root.table("sleep", .profile) { readSleep(table) }
        if let table = root.table("power", .profile) { readPower(table) }
        for table in root.tables("thermal", .profile) { readThermal(table) }
        if let table = root.table("memory", .profile) { readMemory(table) }
        if let table = root.table("background", .profile) {
            let week = Nanoseconds.seconds(604_800)
            if let time = table.duration("fetch-interval-min", .seconds(60)...week) {
                profile.background.fetchIntervalMin = time
            }
            profile.background.taskBudget = table.duration("task-budget", .seconds(1)...Nanoseconds.seconds(86_400))
        }
        if let table = root.table("policy", .profile) { profile.conditions = DeviceFile.conditions(table) }
    }

    /// A text that is not empty.
    private func text(_ table: Table, _ key: String) -> String? {
        let expected = "a string that is not empty"
        guard let text = table.string(key, expected: expected) else { return nil }
        if text.isEmpty, let entry = table.entry(key) { table.mismatch(entry, expected: expected) }
        return text
    }

    private func required(_ table: Table, _ key: String) -> String? {
        if table.entry(key) == nil { refuse(table, key, "is missing") }
        return text(table, key)
    }

    private func texts(_ table: Table, _ key: String) -> [String] {
        let texts = table.strings(key, expected: "an array of strings") ?? []
        if texts.contains("") { refuse(table, key, "holds an empty string") }
        return texts
    }

    private func refuse(_ table: Table, _ key: String, _ why: String) {
        table.problems.add(table.line(of: key) ?? table.entries.first?.line, "'\(key)'\(table.place) " + why)
    }

    /// One bit for each of some words.
    private func words(_ table: Table, _ key: String, _ known: [String]) -> UInt8? {
        guard let found = table.strings(key, expected: "an array of " + alternatives(known)) else { return nil }
        var bits: UInt8 = 0
        for word in found {
            if let place = known.firstIndex(of: word) {
                bits |= 1 << UInt8(place)
            } else {
                refuse(table, key, "holds '" + readable(word) + "'; expected " + alternatives(known))
            }
        }
        return bits
    }

    /// Two numbers that must rise.
    private func ascend(_ table: Table, _ first: String, _ low: Int?, _ second: String, _ high: Int?) {
        if let low, let high, low >= high { refuse(table, first, "must be less than '" + second + "'") }
    }

    // MARK: tables

    private mutating func readMatch(_ table: Table) {
        profile.match.compatible = texts(table, "compatible")
        for board in table.tables("dmi", .profile) {
            profile.match.dmi.append(BoardIdentity.dmiKeys.map { text(board, $0) ?? "" })
            if board.entries.isEmpty {
                refuse(table, "dmi", "holds an empty table, which fits any board")
            }
        }
        profile.match.architecture = text(table, "arch") ?? ""
        let isEmpty =
            profile.match.compatible.isEmpty && profile.match.dmi.isEmpty && profile.match.architecture.isEmpty
        if isEmpty, table.problems.isEmpty {
            refuse(root, "match", Self.wanted)
        }
    }

    private mutating func readWatchdog(_ table: Table) {
        let range = Nanoseconds.seconds(1)...Nanoseconds.seconds(604_800)
        profile.watchdog.driver = text(table, "driver")
        profile.watchdog.identity = text(table, "identity")
        profile.watchdog.timeout = table.duration("timeout", range)
        profile.watchdog.maxTimeout = table.duration("max-timeout", range)
        profile.watchdog.isStoppable = table.boolean("stoppable")
        if let inSleep: HardwareProfile.Watchdog.InSleep = table.choice(
            "in-sleep", [("unknown", .unknown), ("stops", .stops), ("counts", .counts)])
        {
            profile.watchdog.inSleep = inSleep
        }
        if let limit = profile.watchdog.maxTimeout, let timeout = profile.watchdog.timeout, timeout > limit {
            refuse(table, "timeout", "is more than the driver takes: 'max-timeout' is " + limit.text)
        }
    }

    private mutating func readSleep(_ table: Table) {
        profile.sleep.states = words(table, "states", HardwareProfile.SleepStates.words).map {
            HardwareProfile.SleepStates(rawValue: $0)
        }
        profile.sleep.isLogical = table.boolean("logical") ?? false
        profile.sleep.wakeSources = WakeSources(
            rawValue: words(table, "wake-sources", WakeSource.allCases.map { $0.key }) ?? 0)
        if profile.sleep.isLogical, let states = profile.sleep.states, !states.isEmpty {
            refuse(table, "logical", "is for boards that cannot sleep, but 'states' is not empty")
        }
    }

    private mutating func readPower(_ table: Table) {
        profile.power.external = texts(table, "external")
        profile.power.batteries = texts(table, "battery")
        if let percent = table.integer("battery-low", 1...99) { profile.power.batteryLow = percent }
        if let percent = table.integer("battery-critical", 1...99) { profile.power.batteryCritical = percent }
        ascend(table, "battery-critical", profile.power.batteryCritical, "battery-low", profile.power.batteryLow)
        guard let alarm = table.table("under-voltage", .profile) else { return }
        profile.power.underVoltage = HardwareProfile.Alarm(
            chip: fileName(alarm, "chip"), attribute: fileName(alarm, "attribute"))
    }

    /// It becomes a part of a path.
    private func fileName(_ table: Table, _ key: String) -> String {
        let name = required(table, key) ?? ""
        if name.utf8.contains(UInt8(ascii: "/")) || name == ".." { refuse(table, key, "is a path; expected a name") }
        return name
    }

    private mutating func readThermal(_ table: Table) {
        let degrees: ClosedRange<Int64> = -40...200
        let zone = HardwareProfile.ThermalZone(
            type: required(table, "zone") ?? "", fair: table.integer("fair", degrees),
            serious: table.integer("serious", degrees), critical: table.integer("critical", degrees))
        ascend(table, "fair", zone.fair, "serious", zone.serious)
        ascend(table, "serious", zone.serious, "critical", zone.critical)
        ascend(table, "fair", zone.fair, "critical", zone.critical)
        for other in profile.thermal where other.type == zone.type { refuse(table, "zone", "is there twice") }
        profile.thermal.append(zone)
    }

    private mutating func readMemory(_ table: Table) {
        if let percent = table.integer("pressure-warning", 1...100) { profile.memory.pressureWarning = percent }
        if let percent = table.integer("pressure-critical", 1...100) { profile.memory.pressureCritical = percent }
        profile.memory.reserve = table.size("reserve", atLeast: 1 << 20)
        ascend(
            table, "pressure-warning", profile.memory.pressureWarning, "pressure-critical",
            profile.memory.pressureCritical)
    }
}
