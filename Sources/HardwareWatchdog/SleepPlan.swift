/// What becomes of the watchdog while the board sleeps, when it cannot be fed.
public struct SleepPlan: Equatable, Sendable {
    /// What a board's watchdog does in sleep, from its hardware profile.
    public enum InSleep: Equatable, Sendable { case stops, counts, unknown }
    /// What is done once all apps are ready for sleep, right before the lock is released. Afterwards `rearm` is due in
    /// any case.
    public enum Before: Equatable, Sendable {
        /// Fed once more.
        case feed
        /// Stopped by the magic close.
        case stop
        /// Set to the longest timeout it takes, and fed.
        case stretch
    }
    public let inSleep: InSleep
    /// Whether it can be stopped at will.
    public let stoppable: Bool
    /// What to do.
    public let before: Before
    /// Seconds after which a longer sleep may end in a reset; nil: none of that.
    public let longestSleep: Int?
    /// Whether the explanation is one to warn of.
    public var isWarning: Bool { longestSleep != nil }

    /// inSleep: the profile's word. stoppable: both the profile's and `WatchdogDevice.isStoppable`; not known counts as
    /// no. limits: the driver's, narrowed by the profile's. timeout: in force, in seconds.
    public init(inSleep: InSleep, stoppable: Bool, limits: WatchdogLimits, timeout: Int) {
        self.inSleep = inSleep
        self.stoppable = stoppable
        let reached = max(limits.maximum ?? timeout, timeout)
        if inSleep == .stops {
            before = .feed
        } else if stoppable {
            before = .stop
        } else {
            before = reached > timeout ? .stretch : .feed
        }
        longestSleep = inSleep == .stops || stoppable ? nil : reached
    }

    /// Why, for `curfew status` and the journal.
    public var explanation: String {
        if inSleep == .stops {
            let then = stoppable ? "is armed anew after it" : "cannot be armed anew after it, only set and fed"
            return joined(["the watchdog stops by itself in sleep; it ", then])
        }
        let counts = inSleep == .counts
        guard let longestSleep else {
            let rest = " on in sleep: it is stopped before and armed anew after it"
            return joined(["the watchdog ", counts ? "counts" : "may count", rest])
        }
        return joined([
            "the watchdog ", counts ? "counts" : "may count", " on in sleep and cannot be stopped: its timeout is ",
            before == .stretch ? "stretched to" : "at", " the maximum, and a sleep longer than ",
            longestSleep.description,
            counts ? " s ends in a reset" : " s may end in a reset",
        ])
    }
}
