internal import Lifecycle

/// Reads `curfew.toml`.
enum DeviceFile {
    /// Defaults, and errors, for a file with anything wrong in it. lists: with its keys.
    static func parse(_ bytes: [UInt8], file: String, lists: Bool = false) -> (
        device: DeviceConfiguration, errors: [ConfigurationError], keys: [ConfigurationKey]
    ) {
        let problems = Problems(file: file)
        let value = Document.read(bytes, problems)
        let keys = KeyWalk(
            value.map { TomlTable($0, name: "", problems: problems) } ?? TomlTable(name: "", problems), lists: lists)
        var declared = DeviceKeys(keys: keys)
        declared.walk()
        keys.refuseUnknown()
        relate(declared.device.policy, keys.table)
        return (problems.isEmpty ? declared.device : DeviceConfiguration(), problems.sorted, keys.keys)
    }

    /// What one key alone does not show.
    private static func relate(_ policy: DevicePolicy, _ root: TomlTable) {
        let table = root.inner("sleep")
        let limits: [(String, Nanoseconds)] = [
            ("allowance-max", policy.sleepAllowanceMax),
            ("allowance-without-logind", policy.sleepAllowanceWithoutLogind),
        ]
        for (key, limit) in limits where policy.sleepMargin >= limit {
            root.problems.add(
                table?.line(of: "margin") ?? table?.line(of: key),
                "'margin' in [sleep] (\(policy.sleepMargin.text)) must be less than '\(key)' (\(limit.text))")
        }
        if policy.taskGrace > policy.sleepAllowanceMax {
            root.problems.add(
                table?.line(of: "task-grace") ?? table?.line(of: "allowance-max"),
                "'task-grace' in [sleep] (\(policy.taskGrace.text)) is more than 'allowance-max' "
                    + "(\(policy.sleepAllowanceMax.text))")
        }
    }

    // MARK: values

    static let profileExpected = "\"auto\" or the name of a hardware profile (letters, digits, -, _ and .)"

    static func profile(_ table: TomlTable, _ entry: Entry) -> DeviceConfiguration.Profile? {
        guard let name = table.string(entry.key), name != "auto" else { return nil }
        if isProfileName(name) { return .named(name) }
        table.mismatch(entry, expected: profileExpected)
        return nil
    }

    /// The name becomes a file's name.
    @inline(never)
    static func isProfileName(_ name: String) -> Bool {
        guard (1...63).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    static let watchdogExpected = "\"auto\", \"none\" or a path below /dev"

    static func watchdog(_ table: TomlTable, _ entry: Entry) -> DeviceConfiguration.WatchdogDevice? {
        guard let text = table.string(entry.key), text != "auto" else { return nil }
        if text == "none" { return DeviceConfiguration.WatchdogDevice.none }
        if isDevicePath(text) { return .path(text) }
        table.mismatch(entry, expected: watchdogExpected)
        return nil
    }

    /// Below /dev, and without a way out of it.
    private static func isDevicePath(_ path: String) -> Bool {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].isEmpty, parts[1].elementsEqual("dev".utf8) else { return false }
        return parts.dropFirst(2).allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) }
    }
}

extension DeviceConfiguration.Profile {
    /// As a file has it.
    var word: String {
        switch self {
        case .automatic: "auto"
        case .named(let name): name
        }
    }
}

extension DeviceConfiguration.WatchdogDevice {
    /// As a file has it.
    var word: String {
        switch self {
        case .automatic: "auto"
        case .none: "none"
        case .path(let path): path
        }
    }
}
