/// What the kernel says of the board's memory.
public enum MemoryEvent: Equatable, Sendable {
    /// The kernel's pressure stall information: apps have waited for memory.
    case pressure(MemoryLevel)
    /// The answer to `read`, in bytes. available: without making anything wait.
    case read(available: Int64, total: Int64, [MemoryUse])
    /// An app was slowed down at its own `memory-high`.
    case limitReached(InstanceID)
    /// Comes before `exited` where another than the daemon has ended the main process for want of memory.
    case killed(InstanceID, by: MemoryKiller = .kernel)
}

/// What is asked about memory.
public enum MemoryEffect: Equatable, Sendable {
    /// Find out how much memory is available and, with `uses`, what each app has. Answered by `read`.
    case read(uses: Bool)
    /// Listen again to an app's own memory limit.
    case watchLimit(InstanceID)
}

extension DeviceLifecycle {
    mutating func hear(_ event: MemoryEvent) {
        switch event {
        case .pressure(let level): hearMemoryPressure(level)
        case .read(let available, let total, let uses): didReadMemory(available: available, total: total, uses: uses)
        case .limitReached(let instance): reachedMemoryLimit(instance)
        case .killed(let instance, let killer): wasKilledForMemory(instance, killer)
        }
    }
}
