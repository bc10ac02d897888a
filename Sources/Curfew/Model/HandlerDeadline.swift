/// When a handler must have returned.
///
/// The device counts deadlines in CLOCK_MONOTONIC, which stands still while the board sleeps. On Linux that is
/// `SuspendingClock`; `ContinuousClock` (CLOCK_BOOTTIME) would run on during a sleep and call a deadline over that is
/// not. Time in which the app itself is suspended does not count for the device either, so that after such a pause
/// there is more time than is said here, never less.
public struct Deadline: Sendable, Hashable {
    /// The time the device gave the call, from its beginning.
    public let timeAllowance: Duration
    /// The moment at which it is over.
    public let instant: SuspendingClock.Instant

    /// What is left; zero when it is over.
    public var timeRemaining: Duration { max(.zero, SuspendingClock.now.duration(to: instant)) }

    init(after timeAllowance: Duration, from now: SuspendingClock.Instant = .now) {
        self.timeAllowance = timeAllowance
        instant = now.advanced(by: timeAllowance)
    }
}

extension Duration {
    /// More than any time that is meant, and less than what overflows.
    private static let longest = 1e9

    /// Seconds as they come over the wire.
    init(wire seconds: Double) {
        self = .seconds(max(0, min(seconds, Self.longest)))
    }

    /// Seconds as they go over the wire.
    var wireSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return whole.overflow ? .max : whole.partialValue + attoseconds / 1_000_000_000
    }
}
