// What the last of the battery asks: every app saves what it has, and the board is switched off before the supply
// fails.

extension DeviceLifecycle {
    /// Without an answer, or refused: the board is asked again to switch off.
    static let powerOffRetry = Nanoseconds.seconds(30)

    /// When the board is switched off, unless a better word comes; nil while that is not in question.
    var criticalBatteryDue: Nanoseconds? {
        // About to sleep or asleep, nobody can act; it is due as soon as the board is awake.
        guard isBoardUp else { return nil }
        return conditions.criticalSince.map { $0 + Self.criticalConfirmation }
    }

    mutating func settleCriticalBattery() {
        guard conditions.present.contains(.batteryCritical), policy.responses[.batteryCritical] == .powerOff else {
            conditions.criticalSince = nil
            // A battery that says nothing is not known to be better.
            let isUnknown = conditions.charge.value == nil && conditions.external.value != 1
            if policy.responses[.batteryCritical] != .powerOff || !isUnknown { return keepBoardOn() }
            if shutdown.powerOffDue != nil { askForPowerOff() }
            return
        }
        if conditions.criticalSince == nil { conditions.criticalSince = now.monotonic }
        if shutdown.powerOffDue != nil { askForPowerOff() }
        guard let due = criticalBatteryDue, due <= now.monotonic, !shutdown.isRunning else { return }
        shutdown.isLowBattery = true
        shutdown.margin = policy.sleepMargin
        shutdown.end = now.monotonic + policy.sleepAllowanceMax
        emit(.note(.shutdown(.criticalBattery(level: conditions.batteryLevel))))
        beginShutdown()
    }

    /// External power came in time.
    private mutating func keepBoardOn() {
        guard shutdown.isLowBattery else { return }
        shutdown.isLowBattery = false
        shutdown.powerOffDue = nil
        if !shutdown.isAnnounced { cancelEnding() }
    }

    /// Every app is gone: now, and again if nothing comes of it.
    mutating func askForPowerOff() {
        guard shutdown.isLowBattery, !shutdown.isAnnounced, shutdown.powerOffDue ?? .zero <= now.monotonic else {
            return
        }
        shutdown.powerOffDue = now.monotonic + Self.powerOffRetry
        emit(.login(.powerOff))
    }
}
