/// What the board's power supplies say together.
public struct PowerReading: Equatable, Sendable {
    /// nil: nothing says so.
    public var isExternal: Bool?
    /// Percent, 0 to 100; nil without a battery, or while it says nothing of use.
    public var level: Int?

    public init(isExternal: Bool?, level: Int?) {
        self.isExternal = isExternal
        self.level = level
    }
}

/// The temperature of one place on the board and its limits, in thousandths of a degree Celsius; nil: no such limit.
public struct ThermalReading: Equatable, Sendable {
    /// Which place: the same number for as long as it is there.
    public var zone: Int
    /// nil: the place is there, and cannot be read now; or, without any limit, it is not watched any more.
    public var temperature: Int?
    public var fair: Int?
    public var serious: Int?
    public var critical: Int?

    /// Neither a temperature nor a limit.
    public var isUnwatched: Bool { temperature == nil && fair == nil && serious == nil && critical == nil }

    public init(zone: Int = 0, temperature: Int?, fair: Int?, serious: Int?, critical: Int?) {
        self.zone = zone
        self.temperature = temperature
        self.fair = fair
        self.serious = serious
        self.critical = critical
    }
}

/// Who is logged in.
public struct SessionReading: Equatable, Sendable {
    /// Sessions of people (class user and its kin), on a seat or remote, which have not ended. Not more than 64 are
    /// counted.
    public var users: Int
    /// There are sessions of people on a seat, and all of them are locked: by LockedHint, or, as not every screen has a
    /// locker that sets it, by a Lock signal without an Unlock after it.
    public var isLocked: Bool
    /// The manager's IdleHint: all sessions are idle.
    public var isIdle: Bool

    public init(users: Int, isLocked: Bool, isIdle: Bool) {
        self.users = users
        self.isLocked = isLocked
        self.isIdle = isIdle
    }
}
