internal import Configuration

/// Keys that the tool names to people or sets by itself. Each is one that is declared: a test looks.
protocol KeyName: CaseIterable, RawRepresentable<String> {
    /// The keys of the file.
    static var declared: [ConfigurationKey] { get }
}

extension KeyName {
    /// Without its table.
    var name: String { rawValue.split(separator: ".").last.map { String($0) } ?? rawValue }
    /// Empty for a key before the first table.
    var table: String { rawValue.split(separator: ".").dropLast().joined(separator: ".") }

    /// "restart", "memory-high in [limits]".
    var text: String { table.isEmpty ? name : "\(name) in [\(table)]" }

    /// "liveness = "…"", "[background] task-budget = "20min"". value: as TOML.
    func set(_ value: String) -> String { (table.isEmpty ? "" : "[\(table)] ") + "\(name) = \(value)" }

    /// "battery-critical = "low-power" in [policy]".
    func setting(_ word: String) -> String { "\(name) = \"\(word)\"" + (table.isEmpty ? "" : " in [\(table)]") }

    /// How it is declared.
    var declaration: ConfigurationKey? { Self.declared.first { $0.table == table && $0.name == name } }
    /// Its default, as TOML.
    var standard: String { declaration?.standard.toml ?? "" }
}

/// Of an app's file.
enum AppKeyName: String, KeyName {
    case exec, user, group, sandbox, devices, capabilities, environment, launch, after, liveness, readiness, delegate,
        restart, essential
    case workingDirectory = "working-directory"
    case readWritePaths = "read-write-paths"
    case readOnlyPaths = "read-only-paths"
    case restartDelay = "restart-delay"
    case restartLimit = "restart-limit"
    case priorityBand = "priority-band"
    case taskBudget = "background.task-budget"
    case memoryHigh = "limits.memory-high"
    case memoryMax = "limits.memory-max"

    static let declared = ConfigurationKey.app
}

/// Of curfew.toml.
enum DeviceKeyName: String, KeyName {
    case protectedBand = "memory.protected-band"
    case thermalSerious = "policy.thermal-serious"
    case thermalCritical = "policy.thermal-critical"
    case batteryLow = "policy.battery-low"
    case batteryCritical = "policy.battery-critical"
    case onBattery = "policy.on-battery"
    case watchdogTimeout = "watchdog.timeout"

    static let declared = ConfigurationKey.device
}

/// Of a hardware profile.
enum ProfileKeyName: String, KeyName {
    case batteryLow = "power.battery-low"
    case batteryCritical = "power.battery-critical"

    static let declared = ConfigurationKey.profile
}

extension ConfigurationKey {
    /// Twice some seconds, or the most that the key takes; nil where it had that.
    func doubled(_ seconds: Double) -> Int? {
        guard case .duration(let range, _) = kind else { return nil }
        let most = Int(range.upperBound / 1_000_000_000)
        return seconds < Double(most) ? min(Int((seconds * 2).rounded(.up)), most) : nil
    }
}
