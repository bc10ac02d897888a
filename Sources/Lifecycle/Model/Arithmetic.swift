extension FixedWidthInteger {
    /// What comes from outside may be any number.
    func saturatingSubtract(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Nanoseconds {
    /// At most so often, and not below `least`; less than that stays as it is.
    func halved(times: Int, downTo least: Nanoseconds) -> Nanoseconds {
        let half = self / Int64(1 << Swift.min(times, 16))
        return Swift.max(half, Swift.min(self, least))
    }
}
