// How often the clocks are looked at.

extension DeviceLifecycle {
    /// While a handler's time runs, and while the kernel is about to sleep, the core looks at the clock this often,
    /// so that a stall in the middle of a long allowance is noticed too.
    static let stallCheckInterval = Nanoseconds.seconds(1)
    /// What runs for longer (liveness, budgets) is looked at less often, for the battery's sake: a stall that falls
    /// between two looks, and only such a one, is not noticed.
    static let longestCheckInterval = Nanoseconds.seconds(30)

    /// How soon the core looks at the clock though nothing may be due; `.max`: it need not.
    var checkInterval: Nanoseconds {
        if runningCalls > 0 || sleep.state == .asleep && !sleep.isLogical { return Self.stallCheckInterval }
        var interval = Nanoseconds.max
        for each in checkOfApp where each < interval { interval = each }
        return interval
    }
}

extension App {
    /// How soon the clocks are to be looked at for its longer times, though nothing may be due.
    func checkInterval(isLowPower: Bool) -> Nanoseconds {
        guard let instance, !instance.clock.isStopped else { return .max }
        if instance.stage == .spawning { return DeviceLifecycle.stallCheckInterval }
        guard instance.isAlive else { return .max }
        var span = instance.tasks.shortestLimit
        if instance.liveness.due != nil, let interval = instance.liveness.interval { span = min(span, interval) }
        if instance.tasks.poolEnd != nil, let pool { span = min(span, pool.size) }
        if instance.tasks.keepAwakeEnd != nil { span = min(span, taskBudget(isLowPower: isLowPower)) }
        if span == .max { return .max }
        return min(max(span / 10, DeviceLifecycle.stallCheckInterval), DeviceLifecycle.longestCheckInterval)
    }
}
