// The power key while the board is up: what `power-key` in [policy] asks for.

extension DeviceLifecycle {
    /// So long after a wake a key does not ask for the next sleep.
    static let keyHoldoff = Nanoseconds.seconds(2)

    /// A key of the board itself: power, sleep or wake-up.
    mutating func hearKey() {
        if sleep.state != .awake { return sawWakeSource(.key) }
        // It is the one that woke the board.
        if let end = sleep.formerEnd, now.boottime - end <= Self.keyHoldoff { return }
        switch policy.responses[.powerKey] {
        case .sleep: goToSleep()
        case .nothing, .inactive, .background, .pause, .lowPower, .kill, .powerOff: break
        }
    }
}
