// The longest time between two WATCHDOG=1. Silence beyond it ends the app (Time/Judging.swift).

/// The watch over one instance. Moments are readings of its clock.
struct Liveness: Equatable {
    /// What it was told with its launch, whatever a reload says of the next one; nil: it is never watched.
    private(set) var interval: Nanoseconds?
    /// nil: it is not watched at present.
    private(set) var due: Nanoseconds?

    init(_ interval: Nanoseconds? = nil) { self.interval = interval }

    mutating func stop() { due = nil }

    /// Counts the full interval from now; may not: none is counted.
    mutating func arm(_ may: Bool, at reading: Nanoseconds) { due = may ? interval.map { reading + $0 } : nil }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &interval, .zero) { $0.value(1, &$1) }
        archive.optional(2, &due, .zero) { $0.value(1, &$1) }
    }
}

extension DeviceLifecycle {
    /// Counts the full interval from now. A frozen app's clock stands still, and is armed anew at thaw.
    mutating func armLiveness(_ index: Int) {
        if apps[index].instance?.armLiveness(at: now.monotonic) == true { touch(index) }
    }

    mutating func hearSignOfLife(_ id: InstanceID) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.stage == .running,
            !instance.clock.isStopped
        else { return }
        armLiveness(index)
    }
}
