internal import Lifecycle

/// What the board's conditions ask of its apps, as a checker reads the specification: events, policies and time go in.
final class ConditionKnowledge {
    /// Follows what is wanted at once, but never turns back within the window of its last change.
    struct Inert {
        private(set) var value: Int
        var wanted: Int
        private var changedAt: Nanoseconds?
        private var rose = false

        init(_ value: Int) {
            self.value = value
            wanted = value
        }

        func due(_ window: Nanoseconds) -> Nanoseconds {
            guard wanted != value else { return .max }
            guard let changedAt, (wanted > value) != rose else { return .zero }
            return changedAt + window
        }

        mutating func follow(at now: Nanoseconds, _ window: Nanoseconds) {
            guard wanted != value, due(window) <= now else { return }
            rose = wanted > value
            // What was not known turns nowhere.
            changedAt = value < 0 ? nil : now
            value = wanted
        }
    }

    private(set) var policy = DevicePolicy()
    private var session = SessionReading(users: 0, isLocked: false, isIdle: false)
    private(set) var isLidClosed = false
    private var supply = LastSaid()
    private var charge = LastSaid()
    private var zones: [WatchedZone] = []
    private var isLow = false
    /// Before anything is confirmed.
    private(set) var isBatteryCritical = false
    private var lowVoltage = LastSaid()
    private var hottest = ThermalState.nominal
    private var userLowPower: Bool?
    private var keepAwake = SimulatedLock.none
    private enum SimulatedLock { case none, asked, held }

    // In force.
    /// Before the event at hand.
    private(set) var limitBefore = ScenePhase.active
    private var limitWord = Inert(0)
    private var savingWord = Inert(0)
    private var supplyWord = Inert(-1)
    /// When it was last known: an app is told no news of a supply that is unknown.
    private(set) var wasOnBattery = false
    private var levelWord = Inert(-1)
    private var voltageWord = Inert(0)
    private var heatWord = Inert(0)
    private var restWord = Inert(0)
    /// The level that apps are told.
    private(set) var toldLevel = -1
    /// The level that is being looked into.
    private(set) var pressureAsked: MemoryLevel?
    private var askedAt = Nanoseconds.zero
    private var warningEnd: Nanoseconds?
    private var criticalEnd: Nanoseconds?
    private(set) var pressure = MemoryPressure.normal
    /// In this step.
    private(set) var hasWorsened = false

    var limit: ScenePhase {
        switch limitWord.value {
        case 0: .active
        case 1: .inactive
        default: .background
        }
    }
    var isLowPower: Bool { savingWord.value == 2 }
    var forbidsDarkWake: Bool { savingWord.value > 0 }
    var isExternal: Bool? { supplyWord.value < 0 ? nil : supplyWord.value == 1 }
    var level: Int? { levelWord.value < 0 ? nil : levelWord.value }
    /// Nothing has said for too long how full it is, nor that there is external power.
    var isBatterySilent: Bool { charge.value == nil && supply.value != 1 }
    /// Neither in force nor by the last word.
    var isSurelyCool: Bool { max(heat, hottest) < .critical }
    var isUnderVoltage: Bool { voltageWord.value == 1 }
    private(set) var heat = ThermalState.nominal

    /// The same with its last change kept for a while.
    var isRestInForce: Bool { restWord.value == 1 }
    /// The person is gone, and the board is to sleep for that.
    var wantsSleep: Bool { Self.conditions.contains { isPresent($0) && policy.responses[$0] == .sleep } }
    private static let conditions = Condition.allCases

    /// When something comes into force by time alone.
    var nextDue: Nanoseconds {
        let window = policy.debounce
        let ofPower = min(supplyWord.due(window), levelWord.due(window), voltageWord.due(window))
        let ofPhases = min(
            limitWord.due(window), savingWord.due(window), heatWord.due(window), restWord.due(window))
        let known = zones.reduce(min(supply.end, charge.end, lowVoltage.end)) { min($0, $1.said.end) }
        return min(warningEnd ?? .max, criticalEnd ?? .max, ofPower, ofPhases, known)
    }

    // MARK: Events

    /// isGivenBack: a lock that was taken is of no use any more.
    func hear(_ event: Event, isGivenBack: Bool, at now: Nanoseconds) {
        limitBefore = limit
        switch event {
        case .configured(_, let device): policy = device
        case .board(.session(let reading)): session = reading
        case .board(.lid(let closed)): isLidClosed = closed
        case .board(.power(let reading)):
            supply.hear(reading.isExternal.map { $0 ? 1 : 0 }, at: now)
            charge.hear(reading.level.flatMap { (0...100).contains($0) ? $0 : nil }, at: now)
        case .board(.underVoltage(let present)): lowVoltage.hear(present.map { $0 ? 1 : 0 }, at: now)
        case .board(.temperatures(let readings)): hear(readings, at: now)
        case .memory(.pressure(let level)):
            if pressureAsked == nil {
                pressureAsked = level
                askedAt = now
            }
        case .memory(.read(let available, let total, _)):
            guard let asked = pressureAsked else { break }
            pressureAsked = nil
            // Plenty is there: an app waits at a limit of its own.
            if available > total / 2 { break }
            warningEnd = now + .seconds(10)
            if asked == .critical, available <= total / 4 { criticalEnd = warningEnd }
        case .client(.requested(_, .setLowPower(let enabled))): userLowPower = enabled
        case .login(.lockTaken(.keepAwake)): if !isGivenBack { keepAwake = .held }
        // A question that was asked twice has two answers.
        case .login(.lockRefused(.keepAwake)): if keepAwake == .asked { keepAwake = .none }
        case .login(.available), .login(.unavailable): keepAwake = .none
        default: break
        }
        supply.forget(at: now)
        charge.forget(at: now)
        lowVoltage.forget(at: now)
        for index in zones.indices { zones[index].said.forget(at: now) }
        hottest = zones.reduce(.nominal) { max($0, $1.state(hottest)) }
        heatWord.wanted = Int(hottest.rawValue)
        heatWord.follow(at: now, policy.debounce)
        heat = ThermalState(rawValue: UInt8(heatWord.value)) ?? .nominal
        voltageWord.wanted = lowVoltage.value ?? 0
        voltageWord.follow(at: now, policy.debounce)
        isLow = isAtMost(policy.batteryLow, isLow)
        isBatteryCritical = isAtMost(policy.batteryCritical, isBatteryCritical)
        want()
        limitWord.follow(at: now, policy.debounce)
        savingWord.follow(at: now, policy.debounce)
        restWord.follow(at: now, policy.debounce)
        supplyWord.follow(at: now, policy.debounce)
        if let isExternal { wasOnBattery = !isExternal }
        levelWord.follow(at: now, policy.debounce)
        let level = levelWord.value
        if (level < 0) != (toldLevel < 0) || abs(level - toldLevel) >= 5 { toldLevel = level }
        followPressure(now)
    }

    /// Idle counts as soon as our own lock is dropped.
    func see(_ effect: Effect, at now: Nanoseconds) {
        switch effect {
        case .login(.takeLock(.keepAwake)): keepAwake = .asked
        case .login(.releaseLock(.keepAwake)):
            keepAwake = .none
            want()
            limitWord.follow(at: now, policy.debounce)
            restWord.follow(at: now, policy.debounce)
        default: break
        }
    }

    func finishStep() { want() }

    private func followPressure(_ now: Nanoseconds) {
        // What is not answered in 10 s is not awaited any more.
        if now - askedAt >= .seconds(10) { pressureAsked = nil }
        if criticalEnd ?? .max <= now { criticalEnd = nil }
        if warningEnd ?? .max <= now { warningEnd = nil }
        let next: MemoryPressure = criticalEnd != nil ? .critical : warningEnd != nil ? .warning : .normal
        hasWorsened = next.rawValue > pressure.rawValue
        pressure = next
    }

    // MARK: What is wanted

    /// The hottest place counts. One that is not among them cannot be read any more.
    private func hear(_ readings: [ThermalReading], at now: Nanoseconds) {
        // Neither read nor limited: it is not watched any more.
        let unwatched = readings.filter {
            $0.temperature == nil && $0.fair == nil && $0.serious == nil && $0.critical == nil
        }
        zones.removeAll { zone in unwatched.contains { $0.zone == zone.zone } }
        let watched = readings.filter { reading in !unwatched.contains { $0.zone == reading.zone } }
        for reading in watched where !zones.contains(where: { $0.zone == reading.zone }) {
            zones.append(WatchedZone(reading.zone))
        }
        for index in zones.indices { zones[index].hear(readings, at: now) }
    }

    /// Left 5 % above the threshold, or with external power.
    private func isAtMost(_ threshold: Int, _ wasSo: Bool) -> Bool {
        guard let level = charge.value, supply.value != 1 else { return false }
        return level <= threshold || wasSo && level < min(threshold + 5, 100)
    }

    /// Whether it asks for what is in force.
    func isDemand(of condition: Condition) -> Bool {
        switch policy.responses[condition] {
        case .inactive: limitWord.value == 1 && isPresent(condition)
        case .background, .sleep: limitWord.value > 0 && isPresent(condition)
        case .nothing, .pause, .lowPower, .kill, .powerOff: false
        }
    }

    private func isPresent(_ condition: Condition) -> Bool {
        switch condition {
        case .sessionLocked: session.isLocked
        case .lidClosed: isLidClosed
        case .idle: session.isIdle && session.users > 0 && keepAwake != .held
        case .powerKey: false
        case .onBattery: supply.value == 0
        case .batteryLow: isLow
        case .batteryCritical: isBatteryCritical
        case .underVoltage: isUnderVoltage
        case .thermalSerious: heat >= .serious
        case .thermalCritical: heat == .critical
        }
    }

    private func want() {
        var limit = 0
        var rests = false
        var saves = false
        var pauses = false
        for condition in Self.conditions where isPresent(condition) {
            switch policy.responses[condition] {
            case .background: limit = 2
            case .sleep: (limit, rests) = (2, true)
            case .inactive: limit = max(limit, 1)
            case .lowPower, .powerOff: saves = true
            case .pause, .kill: pauses = true
            case .nothing: break
            }
        }
        limitWord.wanted = limit
        restWord.wanted = rests ? 1 : 0
        pauses = pauses || saves
        let mayPause = pauses ? 1 : 0
        switch userLowPower {
        case nil: savingWord.wanted = saves ? 2 : mayPause
        case true?: savingWord.wanted = 2
        case false?: savingWord.wanted = mayPause
        }
        supplyWord.wanted = supply.value ?? -1
        levelWord.wanted = charge.value ?? -1
    }
}
