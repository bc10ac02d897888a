// What the board's conditions demand of everything else.

extension DeviceLifecycle {
    /// First the readings: external power fills a budget before low power mode can cut it. Then what the conditions
    /// demand of the apps; then the wish to sleep, which may be such a demand; then which sensors are looked at next,
    /// and the last resorts (power-off), which need a board that is up.
    mutating func settleConditions() {
        let at = now.monotonic
        follow(conditions.settleReadings(policy.debounce, at: at))
        let isIdleHeld = login.locks[.keepAwake] == .held
        follow(conditions.settleDemands(policy, isIdleHeld: isIdleHeld, at: at))
        settleRest()
        if isBoardUp, conditions.takePollDue(at: at) { emit(.board(.poll)) }
        settleCriticalBattery()
        settleCriticalHeat()
    }

    private mutating func follow(_ news: Conditions.Readings) {
        if let supply = news.supply {
            emit(.note(.board(.externalPower(supply.isExternal, level: supply.level))))
            // Power that was only unreadable for a while is no new power.
            if supply.isBack { refillPoolsForPower() }
        }
        if news.isPowerNews { touchAll() }
        if let underVoltage = news.underVoltage { emit(.note(.board(.underVoltage(underVoltage)))) }
        if let state = news.thermalState {
            emit(.note(.board(.thermalState(state))))
            touchAll()
        }
    }

    private mutating func follow(_ news: Conditions.Demands) {
        if let isOn = news.lowPower {
            emit(.note(.board(.lowPowerMode(isOn, level: conditions.batteryLevel))))
            if isOn { cutBudgets() }
            touchAll()
        }
        // Such work is not woken for.
        if news.endsDarkWakes { clearAlarm() }
        guard news.isLimitNews else { return }
        emit(.note(.board(.phaseLimited(conditions.phaseLimit, by: conditions.limiting(policy.responses)))))
        if let frontDenial { deny(frontDenial) { $0.isActivation } }
        touchAll()
    }

    /// Why the board, as it is now, lets no app come to the front; nil where it lets one.
    var frontDenial: Denial? { conditions.frontDenial(policy.responses) }

    /// The kernel neither sleeps nor is about to: in a logical sleep the board goes on.
    var isBoardUp: Bool { sleep.isUp || sleep.isLogical }

    /// When the core has to look at the conditions again.
    var conditionDeadline: Deadline {
        conditions.nextDeadline(
            policy.debounce, isBoardUp: isBoardUp, isEnding: shutdown.isRunning, mayRest: canAskForSleep)
    }
}
