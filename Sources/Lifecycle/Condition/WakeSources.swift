// Persons and devices for which a sleeping board comes back.

extension DeviceLifecycle {
    /// A person or a device for which a board that sleeps logically, or in the dark, comes back. A person who comes
    /// while the board is on its way to sleep, or asleep, finds everything running at the next wake, whatever wakes
    /// it.
    mutating func sawWakeSource(_ source: WakeSource) {
        let isPerson = source == .key || source == .lid
        switch sleep.state {
        case .awake: break
        case .preparing: if isPerson { sleep.isAttended = true }
        case .darkWake: if isPerson { endDarkWake() }
        case .asleep:
            if isPerson { sleep.isAttended = true }
            guard sleep.isLogical, policy.wakeSources.contains(source) else { return }
            endSleep(cancelled: false, heardFromLogin: false)
        }
    }
}

/// What can bring a board back that sleeps only logically. (The real-time clock does it by the alarm.)
public enum WakeSource: UInt8, CaseIterable, Sendable {
    case key, clock, lid, externalPower, network

    public var key: String {
        switch self {
        case .key: "key"
        case .clock: "rtc"
        case .lid: "lid"
        case .externalPower: "external-power"
        case .network: "network"
        }
    }
}

/// Several of them.
public struct WakeSources: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public init(_ source: WakeSource) { rawValue = 1 << source.rawValue }

    public static let all = WakeSources(rawValue: 0b1_1111)

    public func contains(_ source: WakeSource) -> Bool { rawValue & (1 << source.rawValue) != 0 }
}
