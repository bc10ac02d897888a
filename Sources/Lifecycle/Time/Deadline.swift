/// When the core must be woken, and why.
public struct Deadline: Equatable, Sendable {
    /// MONOTONIC. In the past: at once.
    public var at: Nanoseconds
    public var reason: Reason

    /// What is due then.
    public enum Reason: Equatable, Sendable {
        case spawn(AppID)
        case handler(AppID, Handler)
        case taskExpiration(AppID)
        case taskBudget(AppID)
        case keepAwakeBudget(AppID)
        case exit(AppID)
        case liveness(AppID)
        case memoryLimit(AppID)
        case restart(AppID)
        case freeze(AppID)
        case sleepLock(AppID)
        case death(AppID)
        case clearing(AppID)
        /// A handler runs: a look at the clock, so that a stalled board is noticed before apps are judged.
        case stallCheck
        case sleepAllowance
        /// Held background tasks have put the release off for long enough.
        case taskGrace
        case sleepRelease
        case sleepCancellation
        /// A question to logind has waited for long enough, or is asked again.
        case login
        case darkWake
        case shutdown
        case condition
        case criticalBattery
        case thermalRelief
        case poll
        case memory
        case hardwareWatchdog
    }

    /// Never: nothing is due.
    static let never = Deadline(at: .max, reason: .stallCheck)

    /// Takes another one over where it is earlier: of two that are due at the same moment the first to be said stays.
    mutating func consider(_ at: Nanoseconds?, _ reason: Reason) {
        if let at, at < self.at { self = Deadline(at: at, reason: reason) }
    }

    mutating func consider(_ other: Deadline?) {
        if let other, other.at < at { self = other }
    }
}
