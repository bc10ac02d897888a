internal import CLinux

/// How a process ended, and what it used.
public struct ProcessExit: Equatable, Sendable {
    /// Its exit status, or the signal that ended it.
    public enum Cause: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32, coreDumped: Bool)
    }

    public let cause: Cause
    /// User and system time of the process and of those of its children it waited for, in nanoseconds.
    public let cpuNanoseconds: Int64
    /// The largest resident set it had, in bytes.
    public let peakMemoryBytes: Int64

    public init(cause: Cause, cpuNanoseconds: Int64 = 0, peakMemoryBytes: Int64 = 0) {
        self.cause = cause
        self.cpuNanoseconds = cpuNanoseconds
        self.peakMemoryBytes = peakMemoryBytes
    }

    init(_ word: keeper_word) {
        let cause: Cause =
            if word.code == linux_code_exited {
                .exited(word.status)
            } else {
                .signalled(word.status, coreDumped: word.code == linux_code_dumped)
            }
        self.init(cause: cause, cpuNanoseconds: word.cpu_ns, peakMemoryBytes: word.max_rss_bytes)
    }
}
