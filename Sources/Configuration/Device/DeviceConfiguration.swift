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
    public typealias Condition = Lifecycle.Condition
    /// What is asked under it.
    public typealias Response = ConditionResponse

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
        let (device, errors, _) = DeviceFile.parse(bytes, file: file)
        return (device, errors)
    }
}
