/// How short of memory the board is.
public enum MemoryPressure: UInt8, CaseIterable, Sendable {
    case normal, warning, critical

    public var name: String {
        switch self {
        case .normal: "normal"
        case .warning: "warning"
        case .critical: "critical"
        }
    }
}

/// Who ends processes for want of memory, beside Curfew.
public enum MemoryKiller: UInt8, CaseIterable, Sendable {
    case kernel
    /// systemd-oomd
    case oomd
}

/// A word that memory is short: the kernel's to us, and ours to apps.
public enum MemoryLevel: UInt8, CaseIterable, Sendable {
    case warning, critical

    public var name: String {
        switch self {
        case .warning: "warning"
        case .critical: "critical"
        }
    }
}
