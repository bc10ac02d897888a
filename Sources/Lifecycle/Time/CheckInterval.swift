extension App {
    /// How soon the clocks are to be looked at for its longer times, though nothing may be due.
    func checkInterval(isLowPower: Bool) -> Nanoseconds {
        guard let instance, !instance.clock.isStopped else { return .max }
        if instance.stage == .spawning { return DeviceLifecycle.stallCheckInterval }
        guard instance.isAlive else { return .max }
        var span = instance.tasks.shortestLimit
        if instance.livenessDue != nil, let interval = policy.liveness { span = min(span, interval) }
        if instance.tasks.poolEnd != nil, let pool { span = min(span, pool.size) }
        if instance.tasks.keepAwakeEnd != nil { span = min(span, taskBudget(isLowPower: isLowPower)) }
        if span == .max { return .max }
        return min(max(span / 10, DeviceLifecycle.stallCheckInterval), DeviceLifecycle.longestCheckInterval)
    }
}
