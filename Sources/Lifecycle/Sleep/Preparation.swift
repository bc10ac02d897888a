/// The way to sleep: what the apps are given, and what of it is over. All moments are MONOTONIC.
struct Preparation: Equatable {
    /// What is left of the margin when apps are frozen in any order, a half, and when the lock is given back, a fifth.
    private static let marginOfDisorder: Int64 = 2
    private static let marginOfRelease: Int64 = 5

    /// When it was heard of: logind may have said it long before.
    var begun = Nanoseconds.zero
    /// Of all handlers together.
    var allowance = Nanoseconds.zero
    /// An app that is still in a handler of this sleep then is killed, what else still runs is frozen.
    var allowanceEnd = Nanoseconds.max
    /// From then on apps are frozen in any order: clients need not come before servers.
    var orderEndsAt = Nanoseconds.max
    /// The lock is released, whatever still runs.
    var release = Nanoseconds.max
    /// Held background tasks run until then; nil as long as any app is not ready for another reason.
    var graceEnd: Nanoseconds?
    var overtime = Overtime()
    var isOrderOver = false
    /// Requests that are answered when all apps are ready.
    var waiting: [WaitingClient] = []

    /// The time that is over on the way to sleep, and stays so in it.
    struct Overtime: Equatable {
        var isAllowanceOver = false
        var isGraceOver = false
    }

    /// Sets the moments, or brings them forward. delay: from `since` to the moment at which logind waits no longer.
    /// margin: what is kept back of it, in tenths:
    ///
    ///     since ... handlers ... allowanceEnd |5, freezing in order| orderEndsAt |3| release |2| logind's limit
    ///
    /// Returns whether the allowance ends earlier than it did.
    mutating func bound(since: Nanoseconds, delay: Nanoseconds, margin: Nanoseconds) -> Bool {
        let isNearer = since + delay - margin < allowanceEnd
        if isNearer {
            allowance = delay - margin
            allowanceEnd = since + allowance
        }
        // Each on its own: the later end of two allowances may have the smaller margin.
        orderEndsAt = min(orderEndsAt, since + delay - margin / Self.marginOfDisorder)
        release = min(release, since + delay - margin / Self.marginOfRelease)
        return isNearer
    }

    /// A hanging app costs a sleep its time, and the next ones less and less of theirs.
    static let mostHalvings = 4
    private static let leastHalf = Nanoseconds.milliseconds(500)

    /// For how long apps have had time in it by now: not beyond their allowance, which a stall of the board may
    /// outlast.
    func waited(at now: Nanoseconds) -> Nanoseconds { min(allowanceEnd, now) - begun }

    /// The time a handler gets; nil: none, it is not called. overruns: sleeps, for each of which it is halved once.
    func allowance(for handler: Handler, own: Nanoseconds, overruns: Int = 0, at now: Nanoseconds) -> Nanoseconds? {
        let left = allowanceEnd - now
        if overtime.isAllowanceOver || left < Allowances.least { return nil }
        let time = min(own, handler == .willResignActive ? min(left, allowance / 2) : left)
        return time.halved(times: overruns, downTo: Self.leastHalf)
    }

    /// Notes what is over by now. Returns whether anything has newly ended.
    mutating func judge(at now: Nanoseconds) -> Bool {
        let before = self
        if allowanceEnd <= now { overtime.isAllowanceOver = true }
        if let graceEnd, graceEnd <= now { overtime.isGraceOver = true }
        if orderEndsAt <= now { isOrderOver = true }
        return overtime != before.overtime || isOrderOver != before.isOrderOver
    }

    var deadline: Deadline {
        if overtime.isAllowanceOver {
            return isOrderOver
                ? Deadline(at: release, reason: .sleepRelease) : Deadline(at: orderEndsAt, reason: .sleepAllowance)
        }
        if !overtime.isGraceOver, let graceEnd, graceEnd < allowanceEnd {
            return Deadline(at: graceEnd, reason: .taskGrace)
        }
        return Deadline(at: allowanceEnd, reason: .sleepAllowance)
    }
}
