// What the last of the battery asks: every app saves what it has, and the board is switched off before the supply
// fails. That alone: the answers before it, to budgets and apps, are those of `ConditionResponse`
// (ConditionDemands.swift).

extension Conditions {
    /// A battery must be critical for so long before the board is switched off: time for a better word.
    static let criticalConfirmation = Nanoseconds.seconds(5)
}

extension DeviceLifecycle {
    /// Without an answer, or refused: the board is asked again to switch off.
    static let powerOffRetry = Nanoseconds.seconds(30)

    mutating func settleCriticalBattery() {
        let endsAll = policy.responses[.batteryCritical] == .powerOff
        // What has begun for it goes on.
        let mayConfirm = isBoardUp || shutdown.isLowBattery
        let battery = conditions.settleBattery(endsAll: endsAll, mayConfirm: mayConfirm, at: now.monotonic)
        if battery == .better { return keepBoardOn() }
        if shutdown.powerOffDue != nil { askForPowerOff() }
        // About to sleep or asleep, the board cannot act: then nothing is due.
        guard let due = conditions.powerOffDue, due <= now.monotonic, !shutdown.isRunning else { return }
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
