/// The sleeps (`Sleep.age`) at which freezing an app took too long, or letting go of its own lock. Each leaves the next
/// ones half of its time, and an app that is good at one sleep is not forgiven: two that take turns would hold up every
/// one.
struct OverdueSleeps: Equatable {
    /// More in the time that they are remembered are as bad as two in a row.
    static let tolerated = 2
    /// The last such sleep.
    private(set) var last: Int?
    private(set) var times = 0

    private func isRemembered(in sleep: Int) -> Bool { last.map { $0 >= sleep - Sleep.lateOnesRemembered } ?? false }

    /// How long it may take.
    func bound(inSleep sleep: Int) -> Nanoseconds {
        guard isRemembered(in: sleep) else { return Instance.freezeBound }
        let earlier = last == sleep ? times - 1 : times
        return Instance.freezeBound.halved(times: earlier, downTo: Instance.leastFreezeBound)
    }

    /// It has taken too long at this sleep. Returns whether the app is to be ended for it; counts once.
    mutating func count(_ sleep: Int) -> Bool {
        guard last != sleep else { return false }
        let isInARow = last == sleep - 1
        times = isRemembered(in: sleep) ? times.saturatingAdd(1) : 1
        last = sleep
        return isInARow || times > Self.tolerated
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &last, 0) { $0.value(1, &$1) }
        archive.value(2, &times)
    }
}
