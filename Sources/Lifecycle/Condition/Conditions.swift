/// What is known of the board, and what follows from it for its apps.
///
/// Every reading changes only what is wanted; `Debounced` values are what is in force, and they do not flap.
struct Conditions: Equatable {
    /// How far a battery has to rise above a threshold to leave it, in percent.
    static let batteryHysteresis = 5
    /// Apps are told of the battery in steps of so many percent.
    static let levelStep = 5

    /// As last heard.
    private var session = SessionReading(users: 0, isLocked: false, isIdle: false)
    private var isLidClosed = false
    /// 0: on battery; 1: external power.
    private var external = LastKnown()
    /// Percent.
    private var charge = LastKnown()
    private(set) var zones = HeatZones()
    /// 0 or 1.
    private var lowVoltage = LastKnown()
    private var isNetworkUp = false
    /// Derived from what was heard, with the thresholds' own hysteresis.
    private(set) var holding: ConditionSet = []

    // In force.
    /// 0: nothing; 1: no app above inactive; 2: no app above background.
    private(set) var limit = Debounced(0)
    /// 0: nothing; 1: a sleeping board is not woken for background tasks; 2: low power mode.
    private(set) var saving = Debounced(0)
    /// -1: unknown; 0: on battery; 1: external power.
    private(set) var supply = Debounced(-1)
    /// Percent; -1: unknown.
    private(set) var level = Debounced(-1)
    /// 0 or 1.
    private var voltage = Debounced(0)
    /// By ThermalState's raw value.
    private(set) var heat = Debounced(0)
    /// 0 or 1: the board is to sleep.
    private var rest = Debounced(0)
    var restWish = RestWish()

    /// The user's own word on low power mode; nil: automatic.
    private var userLowPower: Bool?
    /// MONOTONIC: since then the battery has been critical, without a better word in between.
    private(set) var criticalSince: Nanoseconds?
    /// MONOTONIC: heat ends the next apps then, if it is still critical.
    private(set) var nextThermalKill: Nanoseconds?
    /// What the shell has to look at because nothing announces it, and when it is due again. MONOTONIC.
    private var pollInterval: Nanoseconds?
    private var pollDue: Nanoseconds?
    /// The level that apps were told last.
    private(set) var toldLevel = -1
    /// The supply when it was last known; nil: it never was. What apps are told.
    private(set) var lastExternal: Bool?

    // MARK: What is heard

    mutating func hear(_ reading: SessionReading) { session = reading }
    mutating func setLowPower(_ wish: Bool?) { userLowPower = wish }

    mutating func hear(underVoltage: Bool?, at now: Nanoseconds) {
        lowVoltage.hear(underVoltage.map { $0 ? 1 : 0 }, at: now)
    }

    /// Returns whether it was opened.
    mutating func hear(lidClosed: Bool) -> Bool {
        let isOpened = isLidClosed && !lidClosed
        isLidClosed = lidClosed
        return isOpened
    }

    /// Returns whether a network has come.
    mutating func hear(networkUp: Bool) -> Bool {
        let isBack = !isNetworkUp && networkUp
        isNetworkUp = networkUp
        return isBack
    }

    /// Returns whether external power has come.
    mutating func hear(_ reading: PowerReading, at now: Nanoseconds) -> Bool {
        let wasExternal = external.value.map { $0 == 1 } ?? lastExternal
        external.hear(reading.isExternal.map { $0 ? 1 : 0 }, at: now)
        charge.hear(reading.level.flatMap { (0...100).contains($0) ? $0 : nil }, at: now)
        return wasExternal == false && reading.isExternal == true
    }

    mutating func hear(_ readings: [ThermalReading], at now: Nanoseconds) {
        zones.hear(readings, at: now)
        findHeat()
    }

    private mutating func findHeat() {
        let before = ThermalState(rawValue: UInt8(clamping: heat.wanted)) ?? .nominal
        heat.wanted = Int(zones.state(after: before).rawValue)
    }

    mutating func hear(polling interval: Nanoseconds?, at now: Nanoseconds) {
        guard interval != pollInterval else { return }
        pollInterval = interval
        pollDue = interval.map { now + $0 }
    }

    // MARK: What follows

    /// Readings that have held for long enough to come into force.
    struct Readings {
        /// The supply or the charge is another for the apps.
        var isPowerNews = false
        /// level: as it was until then. isBack: it was not there when it was last known.
        var supply: (isExternal: Bool, level: Int?, isBack: Bool)?
        var underVoltage: Bool?
        var thermalState: ThermalState?
    }

    /// Puts what the board is into force where it may. window: of `Debounced`.
    mutating func settleReadings(_ window: Nanoseconds, at now: Nanoseconds) -> Readings {
        external.settle(at: now)
        charge.settle(at: now)
        lowVoltage.settle(at: now)
        if zones.settle(at: now) { findHeat() }
        supply.wanted = external.value ?? -1
        level.wanted = charge.value ?? -1
        voltage.wanted = lowVoltage.value ?? 0
        var news = Readings()
        if supply.settle(at: now, window) {
            news.isPowerNews = true
            if let isExternal {
                news.supply = (isExternal, batteryLevel, isExternal && lastExternal != true)
                lastExternal = isExternal
            }
        }
        if level.settle(at: now, window), tellLevel() { news.isPowerNews = true }
        if voltage.settle(at: now, window) { news.underVoltage = voltage.value == 1 }
        if heat.settle(at: now, window) { news.thermalState = thermalState }
        return news
    }

    /// Returns whether apps are told of the charge.
    private mutating func tellLevel() -> Bool {
        let step = level.value.saturatingSubtract(toldLevel).magnitude
        guard level.value < 0 || toldLevel < 0 || step >= Self.levelStep else { return false }
        toldLevel = level.value
        return true
    }

    /// What has come into force of what the conditions ask.
    struct Demands {
        var lowPower: Bool?
        /// From now on the board is not woken for background tasks.
        var endsDarkWakes = false
        var isLimitNews = false
    }

    /// Derives what holds, what that asks, and puts it into force where it may. isIdleHeld: by our own lock on idle.
    mutating func settleDemands(_ policy: DevicePolicy, isIdleHeld: Bool, at now: Nanoseconds) -> Demands {
        findConditions(policy, isIdleHeld: isIdleHeld)
        wantResponses(policy.responses)
        var news = Demands()
        let wasLowPower = isLowPower
        if saving.settle(at: now, policy.debounce) {
            if isLowPower != wasLowPower { news.lowPower = isLowPower }
            news.endsDarkWakes = forbidsDarkWake
        }
        news.isLimitNews = limit.settle(at: now, policy.debounce)
        _ = rest.settle(at: now, policy.debounce)
        return news
    }

    private mutating func findConditions(_ policy: DevicePolicy, isIdleHeld: Bool) {
        holding.set(.sessionLocked, session.isLocked)
        holding.set(.lidClosed, isLidClosed)
        // Our own lock would otherwise be what keeps it from counting, and without a person there is none to be idle.
        holding.set(.idle, session.isIdle && session.users > 0 && !isIdleHeld)
        holding.set(.onBattery, external.value == 0)
        findBattery(.batteryLow, policy.batteryLow)
        findBattery(.batteryCritical, policy.batteryCritical)
        holding.set(.underVoltage, voltage.value == 1)
        holding.set(.thermalSerious, thermalState >= .serious)
        holding.set(.thermalCritical, thermalState == .critical)
    }

    /// Reached at the threshold, left a little above it or with external power.
    private mutating func findBattery(_ condition: Condition, _ threshold: Int) {
        guard let level = charge.value, external.value != 1 else { return holding.set(condition, false) }
        if level <= threshold {
            holding.set(condition, true)
        } else if level >= min(threshold.saturatingAdd(Self.batteryHysteresis), 100) {
            holding.set(condition, false)
        }
    }

    /// Of what the conditions ask at the same time the strongest wins.
    private mutating func wantResponses(_ responses: ConditionResponses) {
        var (limit, saving, rest) = (0, 0, 0)
        for condition in Condition.allCases where holding.contains(condition) {
            switch responses[condition] {
            case .nothing: break
            case .inactive: limit = max(limit, 1)
            case .background: limit = 2
            case .sleep: (limit, rest) = (2, 1)
            case .pause, .kill: saving = max(saving, 1)
            case .lowPower, .powerOff: saving = 2
            }
        }
        self.limit.wanted = limit
        self.saving.wanted = userLowPower.map { $0 ? 2 : min(saving, 1) } ?? saving
        self.rest.wanted = rest
    }

    // MARK: The last resorts

    enum Battery { case critical, unknown, better }

    /// endsAll: a critical battery switches the board off. mayConfirm: not in a sleep, whose word is confirmed anew
    /// after it, since the board may have been charged meanwhile.
    mutating func settleBattery(endsAll: Bool, mayConfirm: Bool, at now: Nanoseconds) -> Battery {
        guard endsAll, holding.contains(.batteryCritical) else {
            criticalSince = nil
            // A battery that says nothing is not known to be better.
            return endsAll && charge.value == nil && external.value != 1 ? .unknown : .better
        }
        criticalSince = mayConfirm ? criticalSince ?? now : nil
        return .critical
    }

    /// endsApps: critical heat ends apps now. Returns whether it ends the next.
    mutating func settleHeat(endsApps: Bool, at now: Nanoseconds) -> Bool {
        guard endsApps, holding.contains(.thermalCritical) else {
            nextThermalKill = nil
            return false
        }
        if let next = nextThermalKill, next > now { return false }
        nextThermalKill = now + Self.thermalRelief
        return true
    }

    /// Returns whether the shell has to look at what nothing announces.
    mutating func takePollDue(at now: Nanoseconds) -> Bool {
        guard let due = pollDue, due <= now else { return false }
        pollDue = pollInterval.map { now + $0 }
        return true
    }

    // MARK: For the others

    var isLowPower: Bool { saving.value == 2 }
    /// A sleeping board is not woken for background tasks.
    var forbidsDarkWake: Bool { saving.value > 0 }
    var isVoltageLow: Bool { voltage.value == 1 }
    var thermalState: ThermalState { ThermalState(rawValue: UInt8(clamping: heat.value)) ?? .nominal }
    /// Not critically hot, neither in force nor by the last word.
    var isSurelyCool: Bool { max(heat.value, heat.wanted) < Int(ThermalState.critical.rawValue) }
    var isExternal: Bool? { supply.value < 0 ? nil : supply.value == 1 }
    var batteryLevel: Int? { level.value < 0 ? nil : level.value }
    /// The board is to sleep.
    var asksForRest: Bool { rest.value == 1 }
    /// The same, and the condition still holds: it is not only the debounce that keeps it.
    var stillAsksForRest: Bool { rest.value == 1 && rest.wanted == 1 }

    /// What powerStateDidChange says, as one number: an app is told when it differs from what it knows.
    var powerFingerprint: Int { ((lastExternal == false ? 2 : 0) + (isLowPower ? 1 : 0)) * 256 + toldLevel + 1 }

    /// The most that is allowed.
    var phaseLimit: ScenePhase {
        if limit.value == 0 { return .active }
        return limit.value == 1 ? .inactive : .background
    }

    /// Whose demand that is; nil where there is none, or it has just ended.
    func limiting(_ responses: ConditionResponses) -> Condition? {
        guard limit.value > 0 else { return nil }
        return Condition.allCases.first { condition in
            guard holding.contains(condition) else { return false }
            switch responses[condition] {
            case .inactive: return limit.value == 1
            case .background, .sleep: return true
            case .nothing, .pause, .lowPower, .kill, .powerOff: return false
            }
        }
    }

    /// Why the board, as it is now, lets no app come to the front; nil where it lets one.
    func frontDenial(_ responses: ConditionResponses) -> Denial? {
        limit.value > 0 ? .condition(limiting(responses)) : nil
    }

    /// When they are to be looked at again. isBoardUp: nothing of the kernel's sleep is to come or there, so that what
    /// is due can be done. isEnding: a shutdown runs. mayRest: the board can be asked to sleep.
    func nextDeadline(_ window: Nanoseconds, isBoardUp: Bool, isEnding: Bool, mayRest: Bool) -> Deadline {
        var next = Deadline.never
        next.consider(external.due, .condition)
        next.consider(charge.due, .condition)
        next.consider(lowVoltage.due, .condition)
        for zone in zones.all { next.consider(zone.temperature.due, .condition) }
        next.consider(supply.due(window), .condition)
        next.consider(level.due(window), .condition)
        next.consider(voltage.due(window), .condition)
        next.consider(heat.due(window), .condition)
        next.consider(saving.due(window), .condition)
        next.consider(limit.due(window), .condition)
        next.consider(rest.due(window), .condition)
        if stillAsksForRest, mayRest { next.consider(restWish.due, .condition) }
        guard isBoardUp else { return next }
        if !isEnding { next.consider(powerOffDue, .criticalBattery) }
        next.consider(nextThermalKill, .thermalRelief)
        next.consider(pollDue, .poll)
        return next
    }

    /// When the board is switched off for its battery, unless a better word comes.
    var powerOffDue: Nanoseconds? { criticalSince.map { $0 + Self.criticalConfirmation } }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &session.users)
        archive.value(2, &session.isLocked)
        archive.value(3, &session.isIdle)
        archive.value(4, &isLidClosed)
        archive.group(5) { external.archive(&$0) }
        archive.group(6) { charge.archive(&$0) }
        archive.group(7) { zones.archive(&$0) }
        archive.group(8) { lowVoltage.archive(&$0) }
        archive.value(9, &isNetworkUp)
        var set = Int(holding.rawValue)
        archive.value(10, &set)
        if set >> Condition.allCases.count != 0 { return archive.fail() }
        holding = ConditionSet(rawValue: UInt16(set))
        archive.group(11) { limit.archive(&$0) }
        archive.group(12) { saving.archive(&$0) }
        archive.group(13) { supply.archive(&$0) }
        archive.group(14) { level.archive(&$0) }
        archive.group(15) { voltage.archive(&$0) }
        archive.group(16) { heat.archive(&$0) }
        archive.group(17) { rest.archive(&$0) }
        archive.group(18) { restWish.archive(&$0) }
        archive.optional(19, &userLowPower, false) { $0.value(1, &$1) }
        archive.optional(20, &criticalSince, .zero) { $0.value(1, &$1) }
        archive.optional(21, &nextThermalKill, .zero) { $0.value(1, &$1) }
        archive.optional(22, &pollInterval, .zero) { $0.value(1, &$1) }
        archive.optional(23, &pollDue, .zero) { $0.value(1, &$1) }
        archive.value(24, &toldLevel)
        archive.optional(25, &lastExternal, false) { $0.value(1, &$1) }
    }
}
