// The board's own keys: each wakes a board that sleeps logically; what `power-key` in [policy] asks for is asked by the
// power key alone, while the board is up.

/// KEY_POWER, KEY_SLEEP, KEY_WAKEUP.
public enum HardwareKey: UInt8, CaseIterable, Sendable { case power, sleep, wakeUp }

extension DeviceLifecycle {
    /// So long after a wake a key does not ask for the next sleep.
    static let keyHoldoff = Nanoseconds.seconds(2)

    mutating func hear(_ key: HardwareKey) {
        if sleep.state != .awake { return sawWakeSource(.key) }
        // The sleep key is logind's (HandleSuspendKey), and a wake-up key puts no board to sleep.
        guard key == .power else { return }
        // It is the one that woke the board.
        if let end = sleep.formerEnd, now.boottime - end <= Self.keyHoldoff { return }
        switch policy.responses[.powerKey] {
        case .sleep: goToSleep()
        case .nothing, .inactive, .background, .pause, .lowPower, .kill, .powerOff: break
        }
    }
}
