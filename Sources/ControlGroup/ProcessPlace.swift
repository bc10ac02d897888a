internal import CLinux

/// In which control group a process is.
public enum ProcessPlace: Equatable, Sendable {
    /// In that of an instance, "NAME.N", or below it.
    case instance(String)
    case elsewhere
    /// It is gone, or was not known in time.
    case unknown

    /// The instance; nil for none of ours, and where it is not known.
    public var instance: String? {
        switch self {
        case .instance(let name): name
        case .elsewhere, .unknown: nil
        }
    }
}

extension ControlGroupRoot {
    /// Of a bare pid, which may be another process by the time of the answer. groups: those that it may well be in.
    public func place(of pid: Int32, among groups: some Sequence<ControlGroup>) -> ProcessPlace {
        let id = linux_control_group_id(pid)
        if id != 0, let group = groups.first(where: { $0.id == id }) { return .instance(group.name) }
        guard let path = Self.path(ofProcess: pid) else { return .unknown }
        return instance(ofControlGroup: path).map { .instance($0) } ?? .elsewhere
    }

    /// As /proc/PID/cgroup has it, "/system.slice/x.service"; nil: gone, or not known in time.
    static func path(ofProcess pid: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 3072) { path in
            guard let base = path.baseAddress, linux_control_group_path(pid, base) else { return nil }
            return String(cString: base)
        }
    }
}
