internal import Lifecycle

/// What really happened on the board, whatever the core was told of it and made of it.
struct Truth {
    /// One time in which the kernel slept, or nothing ran.
    struct KernelSleep {
        let began: Instant
        /// BOOTTIME.
        let ended: Nanoseconds
        /// The alarm that was set was what woke the board.
        let isByAlarm: Bool
        /// MONOTONIC ran on: no clock tells of it.
        let isHidden: Bool

        var time: Nanoseconds { ended - began.boottime }
    }

    /// Since logind announced its present sleep, the board has slept.
    var hasSleptInHandshake = false
    private(set) var lastSleep: KernelSleep?
    /// What /sys/power/suspend_stats counts.
    private(set) var sleeps = 0
    var refusedSleeps = 0
    /// The same when the core announced its present sleep.
    private(set) var countsBefore = (sleeps: 0, refused: 0)
    /// MONOTONIC: the daemon was lost, and began anew.
    var rebirths: [Nanoseconds] = []
    /// What the daemon cannot read now, and since when.
    var supplyBlankSince: Nanoseconds?
    var zonesBlankSince: Nanoseconds?
    /// MONOTONIC that passed while nothing ran on the board.
    var stolen = Nanoseconds.zero
    /// Bytes that something beside the apps has.
    var hogged: Int64 = 0

    mutating func noteSleep(from now: Instant, for time: Nanoseconds, alarm: SetAlarm?, isHidden: Bool) {
        let end = now.boottime + time
        let isByAlarm = alarm.map { end >= $0.rings - .seconds(1) && end <= $0.rings + .seconds(1) } ?? false
        lastSleep = KernelSleep(began: now, ended: end, isByAlarm: isByAlarm, isHidden: isHidden)
        sleeps += 1
    }

    mutating func noteCounts() { countsBefore = (sleeps, refusedSleeps) }

    /// Since then; nil: the kernel was not asked to sleep.
    var hasSleptSince: Bool? {
        if sleeps > countsBefore.sleeps { return true }
        return refusedSleeps > countsBefore.refused ? false : nil
    }
}
