internal import Lifecycle

/// Reads a hardware profile.
enum HardwareProfileFile {
    /// The profile of a document; nil, and problems noted, for one with anything wrong in it. value: nil for
    /// an empty one; lists: with its keys.
    static func read(
        _ value: Value?, name: String, problems: Problems, lists: Bool = false
    ) -> (profile: HardwareProfile?, keys: [ConfigurationKey]) {
        let root = value.map { TomlTable($0, name: "", problems: problems) } ?? TomlTable(name: "", problems)
        let keys = KeyWalk(root, lists: lists)
        var file = ProfileKeys(keys: keys, profile: HardwareProfile(name: name))
        file.walk()
        keys.refuseUnknown(ProfileKeys.refusals)
        if root.isThere { relate(file.profile, root) }
        return (problems.isEmpty ? file.profile : nil, keys.keys)
    }

    /// What one key alone does not show.
    private static func relate(_ profile: HardwareProfile, _ root: TomlTable) {
        let isForNone = profile.match.compatible.isEmpty && profile.match.dmi.isEmpty
        if isForNone, profile.match.architecture.isEmpty, root.entry("match") == nil || root.problems.isEmpty {
            root.refuse("match", "is for no board; expected a table with 'compatible', 'dmi' or 'arch'")
        }
        if let limit = profile.watchdog.maxTimeout, let timeout = profile.watchdog.timeout, timeout > limit,
            let table = root.inner("watchdog")
        {
            table.refuse("timeout", "is more than the driver takes: 'max-timeout' is " + limit.text)
        }
        if profile.sleep.isLogical, let states = profile.sleep.states, !states.isEmpty {
            root.inner("sleep")?.refuse("logical", "is for boards that cannot sleep, but 'states' is not empty")
        }
        if let table = root.inner("power") {
            let power = profile.power
            ascend(table, "battery-critical", power.batteryCritical, "battery-low", power.batteryLow)
        }
        if let table = root.inner("memory") {
            let memory = profile.memory
            ascend(table, "pressure-warning", memory.pressureWarning, "pressure-critical", memory.pressureCritical)
        }
    }

    /// Two numbers that must rise.
    private static func ascend(_ table: TomlTable, _ first: String, _ low: Int?, _ second: String, _ high: Int?) {
        if let low, let high, low >= high { table.refuse(first, "must be less than '" + second + "'") }
    }

    /// One thermal zone more.
    static func add(
        _ zone: HardwareProfile.ThermalZone, _ table: TomlTable, _ zones: inout [HardwareProfile.ThermalZone]
    ) {
        ascend(table, "fair", zone.fair, "serious", zone.serious)
        ascend(table, "serious", zone.serious, "critical", zone.critical)
        ascend(table, "fair", zone.fair, "critical", zone.critical)
        for other in zones where other.type == zone.type { table.refuse("zone", "is there twice") }
        zones.append(zone)
    }

    // MARK: values

    static let textExpected = "a string that is not empty"

    static func text(_ table: TomlTable, _ entry: Entry) -> String? {
        guard let text = table.string(entry.key, expected: textExpected) else { return nil }
        if text.isEmpty { table.mismatch(entry, expected: textExpected) }
        return text
    }

    /// It becomes a part of a path.
    static func fileName(_ table: TomlTable, _ entry: Entry) -> String? {
        guard let name = text(table, entry) else { return nil }
        if name.utf8.contains(UInt8(ascii: "/")) || name == ".." {
            table.refuse(entry.key, "is a path; expected a name")
        }
        return name
    }

    static func texts(_ table: TomlTable, _ entry: Entry) -> [String]? {
        let texts = table.strings(entry.key, expected: "an array of strings") ?? []
        if texts.contains("") { table.refuse(entry.key, "holds an empty string") }
        return texts
    }

    static var statesExpected: String { "an array of " + alternatives(HardwareProfile.SleepStates.words) }

    static func states(_ table: TomlTable, _ entry: Entry) -> HardwareProfile.SleepStates? {
        bits(table, entry, HardwareProfile.SleepStates.words).map { HardwareProfile.SleepStates(rawValue: $0) }
    }

    static var wakeSourcesExpected: String { "an array of " + alternatives(WakeSource.allCases.map { $0.key }) }

    static func wakeSources(_ table: TomlTable, _ entry: Entry) -> WakeSources? {
        bits(table, entry, WakeSource.allCases.map { $0.key }).map { WakeSources(rawValue: $0) }
    }

    /// One bit for each of some words.
    private static func bits(_ table: TomlTable, _ entry: Entry, _ known: [String]) -> UInt8? {
        guard let found = table.strings(entry.key, expected: "an array of " + alternatives(known)) else { return nil }
        var bits: UInt8 = 0
        for word in found {
            if let place = known.firstIndex(of: word) {
                bits |= 1 << UInt8(place)
            } else {
                table.refuse(entry.key, "holds '" + readable(word) + "'; expected " + alternatives(known))
            }
        }
        return bits
    }

    /// The words of some bits.
    static func words(_ bits: UInt8, _ known: [String]) -> [String] {
        known.indices.filter { bits >> UInt8($0) & 1 == 1 }.map { known[$0] }
    }
}
