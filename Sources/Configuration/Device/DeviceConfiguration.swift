public import Lifecycle

/// The device, as `curfew.toml` describes it.
public struct DeviceConfiguration: Equatable, Sendable {
    /// Which hardware profile is used.
    public enum Profile: Equatable, Sendable {
        /// The one that fits the board.
        case automatic
        case named(String)
    }

    /// The board's watchdog.
    public enum WatchdogDevice: Equatable, Sendable {
        /// The profile's.
        case automatic
        case none
        /// Below /dev.
        case path(String)
    }

    /// What a condition of the board asks, in place of the profile's word.
    public struct ConditionPolicy: Equatable, Sendable {
        public let condition: Condition
        public let response: Response

        public init(condition: Condition, response: Response) {
            self.condition = condition
            self.response = response
        }
    }

    /// A condition of the board that the file can speak about.
    public enum Condition: UInt8, CaseIterable, Equatable, Sendable {
        case sessionLocked, lidClosed, idle, batteryLow, batteryCritical

        public var key: String {
            switch self {
            case .sessionLocked: "session-locked"
            case .lidClosed: "lid-closed"
            case .idle: "idle"
            case .batteryLow: "battery-low"
            case .batteryCritical: "battery-critical"
            }
        }

        /// What it may ask: a condition of the person's presence changes the phase, one of the battery saves power.
        public var responses: [Response] {
            switch self {
            case .sessionLocked, .lidClosed, .idle: [.nothing, .inactive, .background]
            case .batteryLow: [.nothing, .lowPower]
            case .batteryCritical: [.nothing, .lowPower, .powerOff]
            }
        }
    }

    /// What is asked under a condition.
    public enum Response: UInt8, CaseIterable, Equatable, Sendable {
        case nothing
        /// No app above inactive.
        case inactive
        /// No app above background.
        case background
        /// Low power mode.
        case lowPower
        /// All apps are terminated and the board is switched off.
        case powerOff

        public var key: String {
            switch self {
            case .nothing: "nothing"
            case .inactive: "inactive"
            case .background: "background"
            case .lowPower: "low-power"
            case .powerOff: "power-off"
            }
        }
    }

    /// What the lifecycle's core must know.
    public var policy = DevicePolicy()
    public var profile = Profile.automatic
    public var watchdogDevice = WatchdogDevice.automatic
    /// nil: from the profile.
    public var watchdogTimeout: Nanoseconds?
    /// Only what the file says, in the order of `Condition`; the rest is the profile's.
    public var conditions: [ConditionPolicy] = []

    public init() {}
}

extension DeviceConfiguration {
    /// The device from the bytes of its file: defaults, and errors, for a file with anything wrong in it.
    public static func parse(
        _ bytes: [UInt8], file: String
    ) -> (device: DeviceConfiguration, errors: [ConfigurationError]) {
        DeviceFile.parse(bytes, file: file)
    }
}
