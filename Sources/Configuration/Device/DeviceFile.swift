internal import Lifecycle

extension Schema {
    static let device = Schema(sections: [
        Section(name: "", keys: ["profile", "front", "sleep", "watchdog", "policy", "memory"]),
        Section(
            name: "sleep",
            keys: [
                "margin", "allowance-max", "task-grace", "allowance-without-logind", "dark-wake", "dark-wake-allowance",
            ]),
        Section(name: "watchdog", keys: ["device", "timeout"]),
        Section(name: "policy", keys: DeviceConfiguration.Condition.allCases.map { $0.key } + ["debounce"]),
        Section(name: "memory", keys: ["protected-band"]),
    ])
}

/// Reads `curfew.toml`.
struct DeviceFile {
    private let root: Table
    private var device = DeviceConfiguration()

    /// Defaults, and errors, for a file with anything wrong in it.
    static func parse(_ bytes: [UInt8], file: String) -> (device: DeviceConfiguration, errors: [ConfigurationError]) {
        let problems = Problems(file: file)
        guard let value = Document.read(bytes, problems) else { return (DeviceConfiguration(), problems.sorted) }
        var file = DeviceFile(root: Table(value, name: "", schema: .device, problems: problems))
        file.read()
        return (problems.isEmpty ? file.device : DeviceConfiguration(), problems.sorted)
    }

    private init(root: Table) { self.root = root }

    private mutating func read() {
        readProfile()
        if let front = root.choice("front", [("many", FrontPolicy.many), ("one", .one)]) {
            device.policy.front = front
        }
        readSleep()
        readWatchdog()
        if let table = root.table("policy", .device) {
            device.conditions = Self.conditions(table)
            if let time = table.duration("debounce", .milliseconds(100)...Nanoseconds.seconds(600)) {
                device.policy.debounce = time
            }
        }
        if let table = root.table("memory", .device), let band = table.integer("protected-band", 0...1001) {
            device.policy.protectedBand = band
        }
    }

    /// `[policy]`: here, and in a hardware profile.
    static func conditions(_ table: Table) -> [DeviceConfiguration.ConditionPolicy] {
        DeviceConfiguration.Condition.allCases.compactMap { condition in
            table.choice(condition.key, condition.responses.map { ($0.key, $0) }).map {
                DeviceConfiguration.ConditionPolicy(condition: condition, response: $0)
            }
        }
    }

    private mutating func readProfile() {
        guard let name = root.string("profile"), let entry = root.entry("profile") else { return }
        if name == "auto" { return }
        if Self.isProfileName(name) {
            device.profile = .named(name)
        } else {
            root.mismatch(entry, expected: "\"auto\" or the name of a hardware profile (letters, digits, -, _ and .)")
        }
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

    /// Below /dev, and without a way out of it.
    private static func isDevicePath(_ path: String) -> Bool {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].isEmpty, parts[1].elementsEqual("dev".utf8) else { return false }
        return parts.dropFirst(2).allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) }
    }

    private mutating func readSleep() {
        guard let table = root.table("sleep", .device) else { return }
        let allowance = Nanoseconds.milliseconds(200)...Nanoseconds.seconds(600)
        if let time = table.duration("margin", .milliseconds(100)...Nanoseconds.seconds(60)) {
            device.policy.sleepMargin = time
        }
        if let time = table.duration("allowance-max", allowance) { device.policy.sleepAllowanceMax = time }
        if let time = table.duration("allowance-without-logind", allowance) {
            device.policy.sleepAllowanceWithoutLogind = time
        }
        if let time = table.duration("task-grace", .zero...Nanoseconds.seconds(600)) { device.policy.taskGrace = time }
        readDarkWake(table)
        let limits: [(String, Nanoseconds)] = [
            ("allowance-max", device.policy.sleepAllowanceMax),
            ("allowance-without-logind", device.policy.sleepAllowanceWithoutLogind),
        ]
        for (key, limit) in limits where device.policy.sleepMargin >= limit {
            table.problems.add(
                table.line(of: "margin") ?? table.line(of: key),
                "'margin' in [sleep] (\(device.policy.sleepMargin.text)) must be less than '\(key)' (\(limit.text))")
        }
        if device.policy.taskGrace > device.policy.sleepAllowanceMax {
            table.problems.add(
                table.line(of: "task-grace") ?? table.line(of: "allowance-max"),
                "'task-grace' in [sleep] (\(device.policy.taskGrace.text)) is more than 'allowance-max' "
                    + "(\(device.policy.sleepAllowanceMax.text))")
        }
    }

    private mutating func readDarkWake(_ table: Table) {
        if let time = table.duration("dark-wake-allowance", .seconds(1)...Nanoseconds.seconds(600)) {
            device.policy.darkWakeAllowance = time
        }
        if let entry = table.entry("dark-wake"), case .string("never") = entry.value.kind { return }
        device.policy.darkWakeInterval = table.duration("dark-wake", .seconds(60)...Nanoseconds.seconds(604_800))
    }

    private mutating func readWatchdog() {
        guard let table = root.table("watchdog", .device) else { return }
        if let text = table.string("device"), let entry = table.entry("device") {
            if text == "none" {
                device.watchdogDevice = .none
            } else if Self.isDevicePath(text) {
                device.watchdogDevice = .path(text)
            } else if text != "auto" {
                table.mismatch(entry, expected: "\"auto\", \"none\" or a path below /dev")
            }
        }
        if let entry = table.entry("timeout"), case .string("auto") = entry.value.kind { return }
        // The driver has the last word; this only keeps nonsense out.
        device.watchdogTimeout = table.duration("timeout", .seconds(1)...Nanoseconds.seconds(86_400))
    }
}
