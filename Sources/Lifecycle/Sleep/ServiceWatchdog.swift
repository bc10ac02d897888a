/// The service manager, which takes a daemon for hung that gives no sign of life in time. It counts by MONOTONIC, which
/// on some boards runs on in sleep: there it would end the daemon as soon as the board is awake.
struct ServiceWatchdog: Equatable {
    /// It expects signs of life.
    var isWatching = false
    /// Not while the kernel may sleep.
    var isResting = false
}

extension DeviceLifecycle {
    /// Before the lock is released: the kernel may sleep from then on.
    mutating func restServiceWatchdog() {
        guard serviceWatchdog.isWatching, !serviceWatchdog.isResting, !sleep.isLogical else { return }
        serviceWatchdog.isResting = true
        emit(.watchdog(.restService))
    }

    mutating func settleServiceWatchdog() {
        guard serviceWatchdog.isResting, sleep.state != .asleep || sleep.isLogical else { return }
        serviceWatchdog.isResting = false
        emit(.watchdog(.wakeService))
    }
}
