/// Something about the board that policy can answer with a demand on its apps. The raw value is its place in the table.
public enum Condition: UInt8, CaseIterable, Hashable, Sendable {
    /// The screen is locked: no app is in front of a person.
    case sessionLocked
    case lidClosed
    /// logind's IdleHint, while a user is logged in.
    case idle
    /// The power key is pressed: a moment, not a state.
    case powerKey
    /// No external power.
    case onBattery
    case batteryLow
    case batteryCritical
    case underVoltage
    case thermalSerious
    case thermalCritical

    /// The key in `[policy]`.
    public var key: String {
        switch self {
        case .sessionLocked: "session-locked"
        case .lidClosed: "lid-closed"
        case .idle: "idle"
        case .powerKey: "power-key"
        case .onBattery: "on-battery"
        case .batteryLow: "battery-low"
        case .batteryCritical: "battery-critical"
        case .underVoltage: "under-voltage"
        case .thermalSerious: "thermal-serious"
        case .thermalCritical: "thermal-critical"
        }
    }

    /// What it may ask: the presence of people changes the phase or sends the board to sleep; power and heat save
    /// energy.
    public var responses: [ConditionResponse] {
        switch self {
        case .sessionLocked: [.nothing, .inactive, .background]
        case .lidClosed, .idle: [.nothing, .inactive, .background, .sleep]
        case .powerKey: [.nothing, .sleep]
        case .onBattery, .batteryLow, .underVoltage, .thermalSerious: [.nothing, .pause, .lowPower]
        case .batteryCritical: [.nothing, .lowPower, .powerOff]
        case .thermalCritical: [.nothing, .pause, .lowPower, .kill]
        }
    }
}

/// What is asked of the apps under a condition.
public enum ConditionResponse: UInt8, CaseIterable, Hashable, Sendable {
    case nothing
    /// No app above inactive.
    case inactive
    /// No app above background.
    case background
    /// The board is sent to sleep.
    case sleep
    /// A sleeping board is not woken for background tasks.
    case pause
    /// Low power mode: the same, background tasks have 30 s, and apps that ask hear that background refresh is
    /// restricted.
    case lowPower
    /// Running apps are ended, lowest priority band first, until it is over.
    case kill
    /// All apps are terminated and the board is switched off.
    case powerOff

    public var key: String {
        switch self {
        case .nothing: "nothing"
        case .inactive: "inactive"
        case .background: "background"
        case .sleep: "sleep"
        case .pause: "pause"
        case .lowPower: "low-power"
        case .kill: "kill"
        case .powerOff: "power-off"
        }
    }
}

/// What each condition asks: one response a condition.
public struct ConditionResponses: Hashable, Sendable {
    var values: [ConditionResponse]

    /// The defaults.
    public init() {
        values = Condition.allCases.map { condition in
            switch condition {
            case .sessionLocked: .inactive
            case .lidClosed: .background
            case .batteryLow: .lowPower
            case .batteryCritical: .powerOff
            case .thermalSerious: .pause
            case .thermalCritical: .kill
            case .idle, .powerKey, .onBattery, .underVoltage: .nothing
            }
        }
    }

    /// What one condition asks.
    public subscript(condition: Condition) -> ConditionResponse {
        get { values[Int(condition.rawValue)] }
        set { values[Int(condition.rawValue)] = newValue }
    }
}

/// Conditions that hold at the same time.
struct ConditionSet: OptionSet, Equatable {
    var rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }
    init(_ condition: Condition) { rawValue = 1 << UInt16(condition.rawValue) }

    func contains(_ condition: Condition) -> Bool { rawValue & (1 << UInt16(condition.rawValue)) != 0 }
    mutating func set(_ condition: Condition, _ holds: Bool) {
        if holds { insert(ConditionSet(condition)) } else { remove(ConditionSet(condition)) }
    }
}

/// How hot the board is.
public enum ThermalState: UInt8, Comparable, CaseIterable, Sendable {
    case nominal, fair, serious, critical

    public static func < (left: ThermalState, right: ThermalState) -> Bool { left.rawValue < right.rawValue }

    public var name: String {
        switch self {
        case .nominal: "nominal"
        case .fair: "fair"
        case .serious: "serious"
        case .critical: "critical"
        }
    }
}
