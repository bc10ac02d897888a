// Which app is ended when memory is short, for what its end gives back.

/// What one app's processes have of the memory.
public struct MemoryUse: Equatable, Sendable {
    public var instance: InstanceID
    /// nil: the kernel does not count it.
    public var bytes: Int64?

    public init(instance: InstanceID, bytes: Int64?) {
        self.instance = instance
        self.bytes = bytes
    }
}

extension DeviceLifecycle {
    /// An app of less than this, or than a hundredth of a smaller board's memory, gives nothing back worth its end.
    static let leastJetsam: Int64 = 4 << 20

    /// Whether the board is short of memory, or only an app at its own limit, is to be read.
    mutating func hearMemoryPressure(_ level: MemoryLevel) {
        if memory.heard(level, at: now.monotonic) { emit(.memory(.read(uses: level == .critical))) }
    }

    /// What was ended last is still on its way out.
    private var isJetsamUnderWay: Bool {
        apps.contains { $0.instance?.isDyingUnreported(in: .jetsam) == true }
    }

    mutating func didReadMemory(available: Int64, total: Int64, uses: [MemoryUse]) {
        guard memory.didRead(available: available, total: total, at: now.monotonic), !isJetsamUnderWay else { return }
        memory.beginPause(at: now.monotonic)
        let orders = jetsamOrders(least: min(Self.leastJetsam, total / 100), uses)
        if orders.isEmpty {
            if memory.noteExhaustion() { emit(.note(.board(.memoryExhausted))) }
            return
        }
        let wanted = policy.memoryReserve ?? total / 8
        for order in JetsamOrder.chosen(from: orders, wanted: wanted.saturatingSubtract(available)) {
            let reason = TerminationReason.memoryCritical(
                available: available, bytes: order.bytes, isProtected: order.isProtected)
            kill(order.index, Cause(reason: reason))
        }
    }

    /// Of every app whose end gives something back.
    private func jetsamOrders(least: Int64, _ uses: [MemoryUse]) -> [JetsamOrder] {
        var orders: [JetsamOrder] = []
        for index in apps.indices {
            guard let instance = apps[index].instance, instance.isAlive else { continue }
            let known = uses.first { $0.instance == instance.id }?.bytes
            if let known, known < least { continue }
            orders.append(
                JetsamOrder(
                    isProtected: apps[index].policy.priorityBand >= policy.protectedBand,
                    isThawed: instance.freezer != .frozen, band: apps[index].policy.priorityBand,
                    isInFront: instance.phase != .background, bytes: known ?? 0, index: index))
        }
        return orders
    }

    /// Another has killed the app's main process: said before its exit is.
    mutating func wasKilledForMemory(_ id: InstanceID, _ killer: MemoryKiller) {
        if let index = index(of: id) { apps[index].instance?.wasKilled(by: killer) }
    }
}
