internal import Journal

/// What the service manager is told of how often it may expect a sign of life from the daemon.
struct SystemdWatchdog {
    let notifier: ServiceNotifier
    /// WatchdogSec=, in microseconds.
    let time: UInt64

    func rest() { notifier.watchdog(every: 0) }

    /// Its time begins anew with that.
    func wake() { notifier.watchdog(every: time) }
}
