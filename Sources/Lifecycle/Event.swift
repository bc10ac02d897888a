/// Everything the core can hear. The shell makes one of what the kernel, the buses and the clients say. Each organ has
/// its own part of it, in the organ's folder.
public enum Event: Equatable, Sendable {
    /// The configuration, at start and at each reload. Apps that are gone from it are ended; new ones are added.
    case configured([AppPolicy], DevicePolicy)
    /// The configuration is known and nothing of a predecessor is left: apps with `launch = "boot"` start.
    case started
    /// Whether processes can be frozen here (a writable control group).
    case freezing(available: Bool)
    /// Time has come (`nextDeadline`), a clock was set, or the board may have slept: nothing but the instant.
    case timePassed
    /// SIGTERM: end all apps, then the daemon.
    case stopRequested

    case process(ProcessEvent)
    case app(AppEvent)
    case login(LoginEvent)
    case sleep(SleepEvent)
    case board(BoardEvent)
    case memory(MemoryEvent)
    case watchdog(WatchdogEvent)
    case client(ClientEvent)
}
