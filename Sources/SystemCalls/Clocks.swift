internal import CLinux

/// The kernel's clocks, in nanoseconds.
public enum Clocks {
    /// CLOCK_MONOTONIC: stands still while the board sleeps (but for s2idle on some boards).
    public static var monotonic: Int64 { linux_monotonic_ns() }
    /// CLOCK_BOOTTIME: runs on while the board sleeps.
    public static var boottime: Int64 { linux_boottime_ns() }
    /// CLOCK_REALTIME: since 1970-01-01 UTC; may be set back and forth.
    public static var realtime: Int64 { linux_realtime_ns() }
    /// CLOCK_THREAD_CPUTIME_ID: what this thread has used of a processor.
    public static var ofThread: Int64 { linux_thread_ns() }
}
