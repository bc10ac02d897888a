// The longest time between two WATCHDOG=1. Silence beyond it ends the app (Time/Judging.swift).

/// The watch over one instance. Moments are readings of its clock.
struct Liveness: Equatable {
    /// It may have said that it lives, and not been heard: for so long.
    private static let unheardIntervals: Int64 = 10

    /// nil: it is not watched.
    private(set) var due: Nanoseconds?
    /// The latest that strangers who crowd its words out may put that off to.
    private var limit = Nanoseconds.zero

    mutating func arm(_ interval: Nanoseconds, at reading: Nanoseconds) {
        due = reading + interval
        limit = reading + interval * Self.unheardIntervals
    }

    mutating func putOff(_ interval: Nanoseconds, at reading: Nanoseconds) {
        guard let due else { return }
        self.due = max(due, min(reading + interval, limit))
    }

    mutating func stop() { due = nil }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(&due, .zero) { $0.value(&$1) }
        archive.value(&limit)
    }
}

extension DeviceLifecycle {
    /// Counts the full interval from now. A frozen app's clock stands still, and is armed anew at thaw.
    mutating func armLiveness(_ index: Int) {
        let interval = apps[index].policy.liveness
        if apps[index].instance?.armLiveness(interval, at: now.monotonic) == true { touch(index) }
    }

    mutating func hearSignOfLife(_ id: InstanceID) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.stage == .running,
            !instance.clock.isStopped
        else { return }
        armLiveness(index)
    }

    /// Strangers crowd its words out: silence means nothing for a while, but what hangs is not to live by them.
    mutating func putOffLiveness(_ id: InstanceID) {
        guard let index = index(of: id), let interval = apps[index].policy.liveness else { return }
        apps[index].instance?.putOffLiveness(interval, at: now.monotonic)
        touch(index)
    }
}
