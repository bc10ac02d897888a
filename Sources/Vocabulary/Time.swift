/// A span of time, or a point in time as the span since its clock's zero, in nanoseconds.
public struct Nanoseconds: RawRepresentable, Comparable, Hashable, AdditiveArithmetic, Sendable {
    public var rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let zero = Nanoseconds(rawValue: 0)
    public static let max = Nanoseconds(rawValue: .max)

    public static func seconds(_ count: Int64) -> Nanoseconds { Nanoseconds(rawValue: count * 1_000_000_000) }
    public static func milliseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(rawValue: count * 1_000_000) }
    public static func microseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(rawValue: count * 1000) }

    public static func < (left: Nanoseconds, right: Nanoseconds) -> Bool { left.rawValue < right.rawValue }

    /// Saturates: a sum with `.max` stays "never".
    public static func + (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
        let (sum, overflow) = left.rawValue.addingReportingOverflow(right.rawValue)
        return Nanoseconds(rawValue: overflow ? (left.rawValue < 0 ? .min : .max) : sum)
    }
    public static func - (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
        let (difference, overflow) = left.rawValue.subtractingReportingOverflow(right.rawValue)
        return Nanoseconds(rawValue: overflow ? (left.rawValue < 0 ? .min : .max) : difference)
    }
    public static func * (left: Nanoseconds, right: Int64) -> Nanoseconds {
        let (product, overflow) = left.rawValue.multipliedReportingOverflow(by: right)
        return Nanoseconds(rawValue: overflow ? ((left.rawValue < 0) == (right < 0) ? .max : .min) : product)
    }
    public static func / (left: Nanoseconds, right: Int64) -> Nanoseconds {
        Nanoseconds(rawValue: left.rawValue / right)
    }

    /// Doubles, up to `limit`.
    public func doubled(upTo limit: Nanoseconds) -> Nanoseconds {
        let (twice, overflow) = rawValue.multipliedReportingOverflow(by: 2)
        return overflow ? limit : Swift.min(Nanoseconds(rawValue: twice), limit)
    }

    public var seconds: Double { Double(rawValue) / 1e9 }

    /// "4.5 s", "250 ms", "10 min", "24 h": for people.
    public var text: String {
        let milliseconds = (min(rawValue, .max - 500_000) + 500_000) / 1_000_000
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds >= 7_200_000, milliseconds % 3_600_000 == 0 { return "\(milliseconds / 3_600_000) h" }
        if milliseconds >= 120_000, milliseconds % 60_000 == 0 { return "\(milliseconds / 60_000) min" }
        let tenths = milliseconds % 1000 / 100
        let hundredths = milliseconds % 100 / 10
        if hundredths != 0 { return "\(milliseconds / 1000).\(tenths)\(hundredths) s" }
        return tenths == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds / 1000).\(tenths) s"
    }
}

/// Now, on both of the kernel's clocks. The core never reads a clock: every event brings its instant.
public struct Instant: Equatable, Sendable {
    /// CLOCK_MONOTONIC: what deadlines and budgets count in.
    public var monotonic: Nanoseconds
    /// CLOCK_BOOTTIME: only its lead over MONOTONIC matters; it grows while the board sleeps.
    public var boottime: Nanoseconds

    public init(monotonic: Nanoseconds, boottime: Nanoseconds) {
        self.monotonic = monotonic
        self.boottime = boottime
    }

    /// How long the board has slept since it was started, as far as the clocks tell.
    public var timeAsleep: Nanoseconds { boottime - monotonic }
}
