/// What is heard of the two watchdogs above the daemon.
public enum WatchdogEvent: Equatable, Sendable {
    /// The board's watchdog was armed with a timeout (which feeds it); nil: there is none, or it is gone.
    case hardware(timeout: Nanoseconds?)
    /// The board's watchdog was armed, is still wanted, and cannot be fed or armed again.
    case lost
    /// The service manager expects signs of life from the daemon itself.
    case service
}

/// What is asked of the two watchdogs.
public enum WatchdogEffect: Equatable, Sendable {
    /// The board's watchdog.
    case feed
    /// The kernel is about to sleep: make the board's watchdog fit for it. Answered by `hardware`.
    case rest
    /// The kernel is awake: arm it again. Answered by `hardware`.
    case wake
    /// Arm again the board's watchdog that was lost. Answered by `hardware` or `lost`.
    case retry
    /// The kernel is about to sleep: the service manager is to expect no signs of life.
    case restService
    /// The kernel is awake: as before.
    case wakeService
}

extension DeviceLifecycle {
    mutating func hear(_ event: WatchdogEvent) {
        switch event {
        case .hardware(let timeout): watchdog.hear(timeout: timeout, at: now.monotonic)
        case .lost: watchdog.lose(at: now.monotonic)
        case .service: serviceWatchdog.watch()
        }
    }
}
