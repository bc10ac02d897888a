public import Lifecycle

/// How a board is treated: the defaults, then its profile's word, then `curfew.toml`'s.
public struct BoardSettings: Equatable, Sendable {
    /// The profile, or what is taken for a board of which nothing is known (its name is empty then).
    public var board: HardwareProfile
    public var watchdogDevice: DeviceConfiguration.WatchdogDevice
    /// Not more than the profile knows the driver to take, which has the last word.
    public var watchdogTimeout: Nanoseconds
    /// What each condition asks on this board.
    public var responses = ConditionResponses()

    /// Without a word on it: long enough for a busy board, short enough for a board that is far away.
    private static let usualWatchdogTimeout = Nanoseconds.seconds(30)

    public init(_ device: DeviceConfiguration, _ profile: HardwareProfile?) {
        let board = profile ?? HardwareProfile()
        self.board = board
        watchdogDevice = device.watchdogDevice
        watchdogTimeout = device.watchdogTimeout ?? board.watchdog.timeout ?? Self.usualWatchdogTimeout
        if let limit = board.watchdog.maxTimeout, watchdogTimeout > limit {
            watchdogTimeout = limit
        }
        for policies in [board.conditions, device.conditions] {
            for policy in policies { responses[policy.condition] = policy.response }
        }
    }

    /// What the lifecycle's core must know of the board: `device`, with the profile's word in it.
    public func policy(_ device: DevicePolicy) -> DevicePolicy {
        var policy = device
        policy.responses = responses
        policy.batteryLow = board.power.batteryLow
        policy.batteryCritical = board.power.batteryCritical
        policy.memoryReserve = board.memory.reserve
        policy.sleepsLogically = board.sleep.isLogical
        // A profile that does not say keeps the usual ones: a board that sleeps must be woken from outside.
        if board.sleep.isLogical, !board.sleep.wakeSources.isEmpty { policy.wakeSources = board.sleep.wakeSources }
        return policy
    }
}
