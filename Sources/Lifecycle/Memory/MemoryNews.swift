// Who is told that memory is short: all apps, by the level of pressure, or one, by its own limit.

extension DeviceLifecycle {
    /// One app has reached its own limit (memory.high).
    mutating func reachedMemoryLimit(_ id: InstanceID) {
        let end = now.monotonic + Memory.quiet
        guard let index = index(of: id), apps[index].instance?.news.reachedLimit(quietUntil: end) == true else {
            return
        }
        touch(index)
    }

    mutating func settleMemory() {
        guard let change = memory.settle(at: now.monotonic) else { return }
        if change.before == .critical {
            for index in apps.indices where apps[index].launch.queued != nil { touch(index) }
        }
        emit(.note(.board(.memoryPressure(change.after))))
        guard change.isWorse else { return }
        for index in apps.indices where apps[index].instance?.isAlive == true {
            apps[index].instance?.news.warn(change.after == .critical ? .critical : .warning)
            touch(index)
        }
    }
}
