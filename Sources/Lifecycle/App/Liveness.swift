// The longest time between two WATCHDOG=1. Silence beyond it ends the app (Time/Judging.swift).

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
