internal import CLinux
public import SystemCalls

/// How long something may wait for memory before it is heard of.
public struct PressureThreshold: Equatable, Sendable {
    /// Who waits (psi(7), "some" and "full").
    public enum Stall: UInt8, Sendable {
        /// At least one process that could run.
        case some
        /// All that could run, so that nothing gets done.
        case full

        var name: String { self == .some ? "some" : "full" }
    }

    public let stall: Stall
    /// Microseconds of waiting within the window.
    public let time: Int64
    /// Microseconds; the kernel takes 500 ms to 10 s.
    public let window: Int64

    public init(_ stall: Stall, time: Int64, window: Int64) {
        self.stall = stall
        self.time = time
        self.window = window
    }

    /// As any process may ask for it: the window a multiple of 2 s, the time in proportion. What makes no sense stays
    /// so.
    var unprivileged: PressureThreshold {
        guard window >= 500_000, window <= 10_000_000, time > 0, time <= window else { return self }
        let rounded = (window + 1_999_999) / 2_000_000 * 2_000_000
        return PressureThreshold(stall, time: time * rounded / window, window: rounded)
    }

    /// "some 100000 1000000".
    public var text: String { "\(stall.name) \(time) \(window)" }
}

/// Why memory pressure cannot be heard of.
public enum PressureUnavailable: Error, Equatable, Sendable {
    /// The kernel has no PSI (CONFIG_PSI), or it is off ("psi=0", CONFIG_PSI_DEFAULT_DISABLED, cgroup.pressure).
    case notOffered(SystemError)
    /// Without the right to the file. Before Linux 6.5 every trigger needs CAP_SYS_RESOURCE.
    case notPermitted(SystemError)
    /// The kernel does not take the threshold, or something else.
    case failed(SystemError)

    init(_ error: SystemError) {
        switch error.errno {
        case .noEntry, .notSupported: self = .notOffered(error)
        case .notPermitted, .accessDenied: self = .notPermitted(error)
        default: self = .failed(error)
        }
    }

    /// One line for the journal.
    public var text: String {
        switch self {
        case .notOffered(let error): "the kernel offers no pressure stall information (psi=1?): \(error.text)"
        case .notPermitted(let error): "pressure stall information needs CAP_SYS_RESOURCE: \(error.text)"
        case .failed(let error): error.text
        }
    }
}

/// A trigger on a pressure file. The kernel makes its descriptor ready with EPOLLPRI when the threshold has been
/// passed, at most once a window, for as long as the pressure lasts; nothing has to be read. EPOLLERR, which stays:
/// the cgroup has been removed. The kernel looks at a trigger with a window of 2 s every 2 s, at a privileged one ten
/// times a window.
public final class PressureTrigger {
    /// The whole board's.
    public static let board = "/proc/pressure/memory"

    private let file: FileDescriptor
    /// What the kernel has taken.
    public let threshold: PressureThreshold

    /// To be watched for EPOLLPRI; owned by this object.
    public var descriptor: Int32 { file.rawValue }

    /// path: /proc/pressure/memory, or memory.pressure of a cgroup. A threshold that only CAP_SYS_RESOURCE may ask for
    /// becomes one that any process may.
    public init(_ wanted: PressureThreshold, path: String = PressureTrigger.board) throws(PressureUnavailable) {
        do throws(SystemError) {
            file = try FileDescriptor.open(path, O_RDWR | O_NONBLOCK)
            threshold = try Self.arm(file.rawValue, wanted, path)
        } catch {
            throw PressureUnavailable(error)
        }
    }

    private static func arm(_ file: Int32, _ wanted: PressureThreshold, _ path: String) throws(SystemError)
        -> PressureThreshold
    {
        var threshold = wanted
        while true {
            // The kernel overwrites the last byte.
            let bytes = Array((threshold.text + "\n").utf8)
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count >= 0 { return threshold }
            let errno = Errno.current
            let other = threshold.unprivileged
            guard errno == .invalid || errno == .notPermitted, other != threshold else {
                throw SystemError("write \"\(threshold.text)\" to", path, errno: errno)
            }
            threshold = other
        }
    }
}
