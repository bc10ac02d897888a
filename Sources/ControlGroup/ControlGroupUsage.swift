internal import CLinux
public import SystemCalls

/// A limit for all processes of an instance together.
public enum ControlGroupLimit: Equatable, Sendable {
    /// Bytes above which the kernel slows the app down and reclaims.
    case memoryHigh(Int64)
    /// Bytes above which it kills.
    case memoryMax(Int64)
    /// The number of processes and threads.
    case processes(Int64)

    public var controller: ControllerSet {
        switch self {
        case .memoryHigh, .memoryMax: .memory
        case .processes: .processes
        }
    }

    var file: (name: String, value: Int64) {
        switch self {
        case .memoryHigh(let bytes): ("memory.high", bytes)
        case .memoryMax(let bytes): ("memory.max", bytes)
        case .processes(let count): ("pids.max", count)
        }
    }
}

/// Whether a limit could be set.
public enum ControlGroupLimitResult: Equatable, Sendable {
    case applied
    /// The kernel has no such controller in this hierarchy.
    case unavailable(ControllerSet)
}

extension ControlGroup {
    /// Writes a limit; to be done before anything runs in the group.
    public func apply(_ limit: ControlGroupLimit) throws(SystemError) -> ControlGroupLimitResult {
        guard controllers.contains(limit.controller) else { return .unavailable(limit.controller) }
        try Files.writeExisting(path + "/" + limit.file.name, "\(limit.file.value)")
        return .applied
    }

    /// memory.current: what the group's processes have of the memory, caches included. nil without the controller.
    public var memoryBytes: Int64? {
        guard controllers.contains(.memory), let text = try? Files.read(path + "/memory.current") else { return nil }
        return NumberedLines.number(text[...])
    }

    /// usage_usec of cpu.stat, which every group has: what its processes have used, also those that have ended.
    public var cpuNanoseconds: Int64? {
        guard let text = try? Files.read(path + "/cpu.stat") else { return nil }
        return NumberedLines.number("usage_usec ", in: text).map { $0 &* 1000 }
    }
}
