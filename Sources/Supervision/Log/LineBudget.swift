/// The lines that an app or operator can make the daemon write by what it says and does: so many in a minute, then a
/// count of those that were left out.
struct LineBudget {
    static let lines = 60
    static let interval: Int64 = 60_000_000_000

    enum Verdict: Equatable {
        case say
        /// As those that follow are left out for now.
        case sayAsTheLast
        case leaveOut
        /// Before it, so many were left out.
        case sayAfter(leftOut: Int)
    }

    /// MONOTONIC.
    private var began: Int64
    private var count = 0

    init(at now: Int64) { began = now }

    private func isOver(at now: Int64) -> Bool { now - began >= Self.interval }

    /// Over, and no count is still to be said.
    func isDone(at now: Int64) -> Bool { isOver(at: now) && count <= Self.lines }

    mutating func take(at now: Int64) -> Verdict {
        if isOver(at: now) {
            let leftOut = count - Self.lines
            began = now
            count = 1
            return leftOut > 0 ? .sayAfter(leftOut: leftOut) : .say
        }
        count += 1
        return count < Self.lines ? .say : count == Self.lines ? .sayAsTheLast : .leaveOut
    }
}
