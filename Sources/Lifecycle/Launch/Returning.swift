// Apps that the board has ended, for memory or heat, come back when it is well again.

extension DeviceLifecycle {
    /// An app that was in front when the board ran out of memory or too hot comes back when it is well again. That a
    /// hot place cannot be read any more does not make it well for one that heat has ended; that it was cool for a
    /// moment does not either.
    mutating func settleReturns() {
        guard memory.pressure == .normal, conditions.isSurelyCool, canLaunch else { return }
        // Until nothing is left of it.
        for index in apps.indices where apps[index].returnsWhenWell && !apps[index].hasInstance {
            if apps[index].lastTermination?.reason.namespace == .thermal, conditions.zones.isLostWhileCritical {
                continue
            }
            apps[index].changeLaunch { $0.returnNow() }
            touch(index)
        }
    }
}
