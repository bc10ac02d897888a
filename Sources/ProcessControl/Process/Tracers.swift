internal import CLinux

/// Who traces a process (ptrace(2)), and so may hold back its end: PTRACE_O_TRACEEXIT keeps even SIGKILL from it, and
/// what has ended stays the tracer's zombie, hidden from its parent, until the tracer waits for it or ends.
public enum Tracers {
    /// Those of all its threads, each once, 16 at most. Empty, too, where that is not known in 0.1 s.
    public static func of(_ pid: Int32) -> [Int32] {
        withUnsafeTemporaryAllocation(of: pid_t.self, capacity: Int(LINUX_MOST_TRACERS)) { found in
            guard let base = found.baseAddress else { return [] }
            return Array(found[..<linux_tracers(pid, base)])
        }
    }

    /// The same of one that runs as that real user, held so that it is no other; nil: it is another's, or gone.
    public static func open(_ tracer: Int32, of pid: Int32, user: UInt32) -> ProcessHandle? {
        guard let handle = try? ProcessHandle.open(tracer), of(pid).contains(tracer), handle.user == user else {
            return nil
        }
        return handle
    }
}
