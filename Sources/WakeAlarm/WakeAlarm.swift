internal import CLinux
public import SystemCalls

/// Wakes the board from suspend at a moment of CLOCK_BOOTTIME, and tells it by a descriptor.
///
/// By a timer on CLOCK_BOOTTIME_ALARM (timerfd_create(2)), which needs CAP_WAKE_ALARM. Without that, by the real-time
/// clock's own alarm (wakealarm in its sysfs directory), of which there is one for the whole board.
public final class WakeAlarm {
    /// What wakes the board.
    public enum Means: Equatable, Sendable { case kernelTimer, realTimeClock }

    public let means: Means
    private let timer: FileDescriptor
    private let clock: String

    /// Readable once the moment has come. Owned by this object.
    public var descriptor: Int32 { timer.rawValue }

    /// clock: the sysfs directory of the real-time clock. means: for tests; nil takes what the process may use.
    public init(clock: String = "/sys/class/rtc/rtc0", means: Means? = nil) throws(SystemError) {
        self.clock = clock
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        var descriptor: Int32 = -1
        if means != .realTimeClock { descriptor = timerfd_create(CLOCK_BOOTTIME_ALARM, flags) }
        self.means = descriptor >= 0 ? .kernelTimer : .realTimeClock
        if descriptor < 0 { descriptor = timerfd_create(CLOCK_BOOTTIME, flags) }
        guard descriptor >= 0 else { throw SystemError("timerfd_create") }
        timer = FileDescriptor(owning: descriptor)
    }

    /// Sets the alarm, in place of the one before. at: CLOCK_BOOTTIME, ns; a moment that has passed comes at once.
    public func set(at moment: Int64) throws(SystemError) {
        try arm(max(moment, 1))
        guard means == .realTimeClock else { return }
        // In whole seconds of a clock that runs by itself: late rather than early.
        let seconds = max((moment - Clocks.boottime) / 1_000_000_000, 0) + 1
        let text = try Files.readShared(clock + "/since_epoch", limit: 32)
        guard let now = Int64(String(decoding: text.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) else {
            throw SystemError("read the real-time clock", clock + "/since_epoch", errno: .invalid)
        }
        // The kernel takes a new alarm only when none is set.
        try Files.writeShared(clock + "/wakealarm", "0")
        try Files.writeShared(clock + "/wakealarm", "\(now + seconds)")
    }

    /// No alarm any more.
    public func clear() throws(SystemError) {
        try arm(0)
        if means == .realTimeClock { try Files.writeShared(clock + "/wakealarm", "0") }
    }

    /// After `descriptor` was readable: whether the moment has come.
    public func acknowledge() -> Bool {
        var expirations: UInt64 = 0
        return read(timer.rawValue, &expirations, MemoryLayout<UInt64>.size) > 0
    }

    private func arm(_ moment: Int64) throws(SystemError) {
        var time = itimerspec()
        time.it_value.tv_sec = time_t(moment / 1_000_000_000)
        time.it_value.tv_nsec = Int(moment % 1_000_000_000)
        if timerfd_settime(timer.rawValue, Int32(TFD_TIMER_ABSTIME), &time, nil) != 0 {
            throw SystemError("timerfd_settime")
        }
    }
}
