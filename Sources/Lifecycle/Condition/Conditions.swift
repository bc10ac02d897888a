/// What is known of the board, and what follows from it for its apps.
///
/// Every reading changes only what is wanted; `Held` values are what is in force, and they do not flap.
struct Conditions: Equatable {
    /// As last heard.
    var session = SessionReading(users: 0, isLocked: false, isIdle: false)
    var isLidClosed = false
    /// 0: on battery; 1: external power.
    var external = LastKnown()
    /// Percent.
    var charge = LastKnown()
    var zones: [HeatZone] = []
    var isUnderVoltage = false
    var isNetworkUp = false
    /// Derived from what was heard, with the thresholds' own hysteresis.
    var present: ConditionSet = []

    // In force.
    /// 0: nothing; 1: nobody above inactive; 2: nobody above background.
    var limit = Held(0)
    /// 0: nothing; 1: discretionary work waits; 2: low power mode.
    var saving = Held(0)
    /// -1: unknown; 0: on battery; 1: external power.
    var supply = Held(-1)
    /// Percent; -1: unknown.
    var level = Held(-1)
    /// 0 or 1.
    var voltage = Held(0)
    /// By ThermalState's raw value.
    var heat = Held(0)
    /// 0 or 1: the board is to sleep.
    var rest = Held(0)
    var restWish = RestWish()

    /// The user's own word on low power mode; nil: automatic.
    var userLowPower: Bool?
    /// MONOTONIC: since then the battery has been critical, without a better word in between.
    var criticalSince: Nanoseconds?
    /// MONOTONIC: heat ends the next apps then, if it is still critical.
    var nextThermalKill: Nanoseconds?
    /// What the shell has to look at because nothing announces it, and when it is due again. MONOTONIC.
    var pollInterval: Nanoseconds?
    var pollDue: Nanoseconds?
    /// The level that apps were told last.
    var toldLevel = -1
    /// The supply when it was last known; nil: it never was. What apps are told.
    var lastExternal: Bool?

    var isLowPower: Bool { saving.value == 2 }
    /// Discretionary work waits.
    var isPaused: Bool { saving.value > 0 }
    var thermalState: ThermalState { ThermalState(rawValue: UInt8(clamping: heat.value)) ?? .nominal }
    /// Not critically hot, neither in force nor by the last word.
    var isSurelyCool: Bool { max(heat.value, heat.wanted) < Int(ThermalState.critical.rawValue) }
    var isExternal: Bool? { supply.value < 0 ? nil : supply.value == 1 }
    var batteryLevel: Int? { level.value < 0 ? nil : level.value }

    /// What powerStateDidChange says, as one number: an app is told when it differs from what it knows.
    var powerWord: Int { ((lastExternal == false ? 2 : 0) + (isLowPower ? 1 : 0)) * 256 + toldLevel + 1 }
}

extension DeviceLifecycle {
    /// How far a battery has to rise above a threshold to leave it, in percent.
    static let batteryHysteresis = 5
    /// How far a temperature has to fall below a limit to leave it, in thousandths of a degree.
    static let thermalHysteresis = 3000
    /// A battery must be critical for so long before the board is switched off: time for a better word.
    static let criticalConfirmation = Nanoseconds.seconds(5)
    /// Between one band of apps that heat ends and the next: time to cool down.
    static let thermalRelief = Nanoseconds.seconds(10)
    /// Apps are told of the battery in steps of so many percent.
    static let levelStep = 5

    // MARK: What follows

    /// Derives what holds, what that asks, and puts it into force where it may.
    mutating func settleConditions() {
        let window = policy.debounce
        let at = now.monotonic
        forgetSilence()
        conditions.supply.wanted = conditions.external.value ?? -1
        conditions.level.wanted = conditions.charge.value ?? -1
        conditions.voltage.wanted = conditions.isUnderVoltage ? 1 : 0
        if conditions.supply.settle(at: at, window) { powerDidChange() }
        if conditions.level.settle(at: at, window) { levelDidChange() }
        if conditions.voltage.settle(at: at, window) {
            emit(.note(.board(.underVoltage(conditions.voltage.value == 1))))
        }
        if conditions.heat.settle(at: at, window) { heatDidChange() }
        findConditions()
        wantResponses()
        let wasLowPower = conditions.isLowPower
        if conditions.saving.settle(at: at, window) {
            if conditions.isLowPower != wasLowPower { lowPowerDidChange() }
            // Such work is not woken for.
            if conditions.isPaused { clearAlarm() }
        }
        if conditions.limit.settle(at: at, window) { limitDidChange() }
        _ = conditions.rest.settle(at: at, window)
        settleRest()
        if let due = conditions.pollDue, due <= at, isBoardUp {
            conditions.pollDue = conditions.pollInterval.map { at + $0 }
            emit(.board(.poll))
        }
        settleCriticalBattery()
        settleCriticalHeat()
    }

    private mutating func findConditions() {
        let heat = conditions.thermalState
        conditions.present.set(.sessionLocked, conditions.session.isLocked)
        conditions.present.set(.lidClosed, conditions.isLidClosed)
        // Our own lock on idle would otherwise be what keeps it from counting, and nobody there cannot be idle.
        let isIdle = conditions.session.isIdle && conditions.session.users > 0 && login.locks[.keepAwake] != .held
        conditions.present.set(.idle, isIdle)
        conditions.present.set(.onBattery, conditions.external.value == 0)
        findBattery(.batteryLow, policy.batteryLow)
        findBattery(.batteryCritical, policy.batteryCritical)
        conditions.present.set(.underVoltage, conditions.voltage.value == 1)
        conditions.present.set(.thermalSerious, heat >= .serious)
        conditions.present.set(.thermalCritical, heat == .critical)
    }

    /// Reached at the threshold, left a little above it or with external power.
    private mutating func findBattery(_ condition: Condition, _ threshold: Int) {
        guard let level = conditions.charge.value, conditions.external.value != 1 else {
            return conditions.present.set(condition, false)
        }
        if level <= threshold {
            conditions.present.set(condition, true)
        } else if level >= min(threshold.saturatingAdd(Self.batteryHysteresis), 100) {
            conditions.present.set(condition, false)
        }
    }

    /// Of what the conditions ask at the same time the strongest wins.
    private mutating func wantResponses() {
        var limit = 0
        var saving = 0
        var rest = 0
        for condition in Condition.allCases where conditions.present.contains(condition) {
            switch policy.responses[condition] {
            case .nothing: break
            case .inactive: limit = max(limit, 1)
            case .background: limit = 2
            case .sleep: (limit, rest) = (2, 1)
            case .pause, .kill: saving = max(saving, 1)
            case .lowPower, .powerOff: saving = 2
            }
        }
        conditions.limit.wanted = limit
        conditions.saving.wanted = conditions.userLowPower.map { $0 ? 2 : min(saving, 1) } ?? saving
        conditions.rest.wanted = rest
    }

    private mutating func limitDidChange() {
        emit(.note(.board(.phaseLimited(conditionLimit, by: limitingCondition))))
        if let frontDenial { deny(frontDenial) { $0.isActivation } }
        touchAll()
    }

    private mutating func powerDidChange() {
        if let isExternal = conditions.isExternal {
            emit(.note(.board(.externalPower(isExternal, level: conditions.batteryLevel))))
            // That it can be told again brings no power.
            if isExternal, conditions.lastExternal != true { refillPoolsForPower() }
            conditions.lastExternal = isExternal
        }
        touchAll()
    }

    private mutating func levelDidChange() {
        let level = conditions.level.value
        let step = level.saturatingSubtract(conditions.toldLevel).magnitude
        guard level < 0 || conditions.toldLevel < 0 || step >= Self.levelStep else { return }
        conditions.toldLevel = level
        touchAll()
    }

    private mutating func heatDidChange() {
        emit(.note(.board(.thermalState(conditions.thermalState))))
        touchAll()
    }

    private mutating func lowPowerDidChange() {
        emit(.note(.board(.lowPowerMode(conditions.isLowPower, level: conditions.batteryLevel))))
        if conditions.isLowPower {
            cutBudgets()
        }
        touchAll()
    }

    // MARK: For the others

    /// The most that the conditions of the board allow.
    var conditionLimit: ScenePhase {
        if conditions.limit.value == 0 { return .active }
        return conditions.limit.value == 1 ? .inactive : .background
    }

    /// Whose demand that is; nil where there is none.
    private var limitingCondition: Condition? {
        guard conditions.limit.value > 0 else { return nil }
        return Condition.allCases.first { condition in
            guard conditions.present.contains(condition) else { return false }
            switch policy.responses[condition] {
            case .inactive: return conditions.limit.value == 1
            case .background, .sleep: return true
            case .nothing, .pause, .lowPower, .kill, .powerOff: return false
            }
        }
    }

    /// Why nobody can come to the front now; nil where they can.
    var frontDenial: Denial? { conditions.limit.value > 0 ? .condition(limitingCondition) : nil }

    /// When the core has to look at the conditions again.
    var conditionDeadline: Deadline {
        var next = Deadline.never
        let window = policy.debounce
        next.consider(conditions.external.due, .condition)
        next.consider(conditions.charge.due, .condition)
        for zone in conditions.zones { next.consider(zone.temperature.due, .condition) }
        next.consider(conditions.supply.due(window), .condition)
        next.consider(conditions.level.due(window), .condition)
        next.consider(conditions.voltage.due(window), .condition)
        next.consider(conditions.heat.due(window), .condition)
        next.consider(conditions.saving.due(window), .condition)
        next.consider(conditions.limit.due(window), .condition)
        next.consider(conditions.rest.due(window), .condition)
        next.consider(restDue, .condition)
        if !shutdown.isRunning { next.consider(criticalBatteryDue, .criticalBattery) }
        if isBoardUp {
            next.consider(conditions.nextThermalKill, .thermalRelief)
            next.consider(conditions.pollDue, .poll)
        }
        next.consider(memory.nextDeadline)
        next.consider(watchdog.nextDeadline)
        return next
    }
}
