/// The service manager, which takes a daemon for hung that gives no sign of life in time. It counts by MONOTONIC, which
/// on some boards runs on in sleep: there it would end the daemon as soon as the board is awake.
struct ServiceWatchdog: Equatable {
    /// It expects signs of life.
    private(set) var isWatching = false
    /// Not while the kernel may sleep.
    private(set) var isResting = false

    mutating func watch() { isWatching = true }

    /// The kernel may sleep from now on. Returns whether it is to be told.
    mutating func rest() -> Bool {
        guard isWatching, !isResting else { return false }
        isResting = true
        return true
    }

    /// The kernel does not sleep. The same.
    mutating func wake() -> Bool {
        let wasResting = isResting
        isResting = false
        return wasResting
    }

    var fault: Fault? { isResting && !isWatching ? .watchdogOfNone : nil }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &isWatching)
        archive.value(2, &isResting)
    }
}
