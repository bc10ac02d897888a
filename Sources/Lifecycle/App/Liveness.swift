// The longest time between two WATCHDOG=1. Silence beyond it ends the app (Time/Judging.swift).

/// The watch over one instance. Moments are readings of its clock.
struct Liveness: Equatable {
    /// nil: it is not watched.
    private(set) var due: Nanoseconds?

    mutating func arm(_ interval: Nanoseconds, at reading: Nanoseconds) { due = reading + interval }

    mutating func stop() { due = nil }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(&due, .zero) { $0.value(&$1) }
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
}
