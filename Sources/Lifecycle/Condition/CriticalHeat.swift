// Critical heat ends apps, lowest priority band first. The board is not switched off: its own trip point does that.

extension Conditions {
    /// Between one band of apps that heat ends and the next: time to cool down.
    static let thermalRelief = Nanoseconds.seconds(10)
}

extension DeviceLifecycle {
    /// Ends one band of running apps, then waits for the board to cool down. Suspended apps give no heat, and
    /// protected ones are left to the board's own trip point.
    mutating func settleCriticalHeat() {
        let endsApps = policy.responses[.thermalCritical] == .kill && isBoardUp && !shutdown.isRunning
        guard conditions.settleHeat(endsApps: endsApps, at: now.monotonic) else { return }
        var lowest: JetsamOrder?
        for index in apps.indices {
            guard let order = thermalOrder(index) else { continue }
            lowest = min(lowest ?? order, order)
        }
        guard let lowest else { return }
        for index in apps.indices where thermalOrder(index) == lowest {
            kill(index, Cause(reason: .overheated))
        }
    }

    /// nil: not to be ended for heat.
    private func thermalOrder(_ index: Int) -> JetsamOrder? {
        guard let instance = apps[index].instance, instance.isAlive, instance.freezer != .frozen,
            apps[index].policy.priorityBand < policy.protectedBand
        else { return nil }
        // The band comes first here, and all apps that are alike are ended together.
        return JetsamOrder(
            isProtected: false, isThawed: true, band: apps[index].policy.priorityBand,
            isInFront: instance.phase != .background, bytes: 0, index: 0)
    }
}
