internal import Lifecycle

/// What is around the processes: people, supplies, heat, memory, the board's watchdog. As it really is.
struct Surroundings {
    var session = SessionReading(users: 1, isLocked: false, isIdle: false)
    var power = PowerReading(isExternal: nil, level: nil)
    var heat: [ThermalReading] = []
    var isLidClosed = false
    /// nil: it is not armed. What it was armed with last is what it is armed with again.
    var watchdog: Nanoseconds?
    var watchdogTimeout = Nanoseconds.seconds(15)
    /// When anything of this changed last.
    var lastMove = Nanoseconds.zero
    /// The board had a policy by which all its sleeps are logical.
    var hasSleptLogically = false
}

/// One change of the surroundings.
enum BoardMove: Equatable {
    case locks(Bool), idles(Bool), users(Int), lid(Bool), charger(Bool?), battery(Int?), voltage(Bool?)
    case heat([ThermalReading]), network(Bool), key, polls(Nanoseconds?)
    case pressure(MemoryLevel), limitReached, killsForMemory, toldOfMemory
    case arms(Nanoseconds?), losesWatchdog
    case asks(ClientRequest), announcesSleep, stopsBoard(Nanoseconds)
    case restoresSupply, restoresZones, hogLeaves, pressesForMemory, killsDaemon, reloads
    // What the daemon has asked for: it comes whatever else is well by then.
    case answersMemory, answersWatchdog(Nanoseconds?), answersPoll

    var isAnswer: Bool {
        switch self {
        case .answersMemory, .answersWatchdog, .answersPoll: true
        case .locks, .idles, .users, .lid, .charger, .battery, .voltage, .heat, .network, .key, .polls, .pressure,
            .limitReached, .killsForMemory, .toldOfMemory, .arms, .losesWatchdog, .asks, .announcesSleep, .stopsBoard,
            .restoresSupply, .restoresZones, .hogLeaves, .pressesForMemory, .killsDaemon, .reloads:
            false
        }
    }
}

/// Conditions that come in bursts: bounce, hover, and are well again after a while.
enum Storm: CaseIterable {
    case people, lid, charger, battery, batteryFalls, voltage, heat, memory, appMemory, network, key, polling, lowPower
    case watchdog

    var fault: Fault {
        switch self {
        case .people: .sessions
        case .lid: .lid
        case .charger: .charger
        case .battery: .battery
        case .batteryFalls: .batteryFalls
        case .voltage: .underVoltage
        case .heat: .heat
        case .memory: .memoryPressure
        case .appMemory: .memoryLimits
        case .network: .network
        case .key: .powerKey
        case .polling: .polling
        case .lowPower: .lowPowerMode
        case .watchdog: .hardwareWatchdog
        }
    }

    /// How often, at most.
    var interval: Nanoseconds {
        switch self {
        case .people, .lid, .charger, .battery, .heat: .seconds(60)
        case .voltage, .memory, .appMemory, .network: .seconds(80)
        case .key, .lowPower: .seconds(100)
        case .batteryFalls, .polling, .watchdog: .seconds(250)
        }
    }
}

extension SimulatedBoard {
    // MARK: Policies

    func addConditions(to policy: inout DevicePolicy) {
        guard limits.storms else { return }
        if stormRandom.chance(perMille: 400) {
            for condition in Condition.allCases where stormRandom.chance(perMille: 400) {
                policy.responses[condition] = stormRandom.pick(condition.responses)
            }
        }
        policy.debounce = stormRandom.pick([.seconds(2), .seconds(2), .zero, .milliseconds(500), .seconds(10)])
        policy.batteryLow = stormRandom.pick([20, 20, 50, 5])
        policy.batteryCritical = stormRandom.pick([5, 5, 10, 0])
        policy.protectedBand = stormRandom.pick([900, 900, 100])
        policy.memoryReserve = stormRandom.pick([nil, nil, 20 << 20, 300 << 20])
        policy.sleepsLogically = stormRandom.chance(perMille: 200)
        if policy.sleepsLogically { surroundings.hasSleptLogically = true }
        if stormRandom.chance(perMille: 500) {
            policy.wakeSources = WakeSources(rawValue: UInt8(stormRandom.below(32)))
        }
    }

    func addBand(to app: inout AppPolicy) {
        guard limits.storms else { return }
        app.priorityBand = stormRandom.pick([100, 100, 0, 50, 500, 900, 1000])
        app.isEssential = stormRandom.chance(perMille: 200)
    }

    func someBytes() -> Int64 { Int64(stormRandom.pick([0, 1, 4, 4, 30, 30, 100, 400])) << 20 }

    // MARK: Moves

    /// One of four is not the power key. By the moment: the streams of chance stay as they are.
    private var key: HardwareKey {
        switch monotonic.rawValue / 1000 % 8 {
        case 0: .sleep
        case 1: .wakeUp
        default: .power
        }
    }

    func plan(_ move: BoardMove, after delay: Nanoseconds) { schedule(.board(move), after: delay) }

    func happen(_ move: BoardMove) {
        guard !plan.isOver || move.isAnswer else { return }
        if !move.isAnswer { surroundings.lastMove = monotonic }
        switch move {
        case .locks(let on):
            surroundings.session.isLocked = on
            hear(.board(.session(surroundings.session)))
        case .idles(let on):
            surroundings.session.isIdle = on
            hear(.board(.session(surroundings.session)))
        case .users(let count):
            surroundings.session.users = count
            hear(.board(.session(surroundings.session)))
        case .lid(let closed):
            surroundings.isLidClosed = closed
            hear(.board(.lid(closed: closed)))
        case .charger(let on):
            surroundings.power.isExternal = on
            hear(.board(.power(readablePower)))
        case .battery(let level):
            surroundings.power.level = level
            hear(.board(.power(readablePower)))
        case .voltage(let on): hear(.board(.underVoltage(on)))
        case .heat(let readings):
            surroundings.heat = readings
            hear(.board(.temperatures(readableHeat)))
        case .network(let up): hear(.board(.network(up: up)))
        case .key: hear(.board(.keyPressed(key)))
        case .polls(let interval): hear(.board(.polling(interval: interval)))
        case .pressure(let level): hear(.memory(.pressure(level)))
        case .limitReached: if let process = anyProcess() { hear(.memory(.limitReached(process.instance))) }
        case .killsForMemory: killForMemory()
        case .toldOfMemory, .answersMemory: tellOfMemory()
        case .asks(let wish): request(wish)
        case .announcesSleep: announceSleep()
        case .stopsBoard(let time): stopBoard(for: time)
        case .restoresSupply: restoreSupply()
        case .restoresZones: restoreZones()
        case .hogLeaves: truth.hogged = 0
        case .pressesForMemory: pressForMemory()
        case .killsDaemon: killDaemon()
        case .reloads: reloadBesides()
        case .arms(let timeout):
            surroundings.watchdog = timeout
            if let timeout { surroundings.watchdogTimeout = timeout }
            hear(.watchdog(.hardware(timeout: timeout)))
        case .losesWatchdog:
            surroundings.watchdog = nil
            hear(.watchdog(.lost))
        case .answersWatchdog(let timeout): hear(.watchdog(.hardware(timeout: timeout)))
        case .answersPoll:
            surroundings.lastMove = monotonic
            hear(.board(.power(readablePower)))
        }
    }

    func anyProcess() -> SimulatedProcess? {
        let running = processes.filter { $0.stage == .alive }
        return running.isEmpty ? nil : stormRandom.pick(running)
    }

    func killForMemory() {
        guard let process = anyProcess() else { return }
        let killer = stormRandom.pick(MemoryKiller.allCases)
        say("\(killer) kills \(directory.name(process.instance)) for its memory")
        hear(.memory(.killed(process.instance, by: killer)))
        // The daemon may have been about to do it.
        if process.killAsked { return }
        schedule(.process(process.instance, .killDone), after: .microseconds(1))
    }

    /// Processes that come and go while they are read are not in it, and some belong to no process any more.
    private func tellOfMemory() {
        if hasMemoryOfItsOwn { return tellOfRealMemory() }
        if plan.strikes(.absurdReadings, &hardRandom) { return tellOfAbsurdMemory() }
        var uses: [MemoryUse] = []
        for process in processes where !stormRandom.chance(perMille: 100) {
            uses.append(MemoryUse(instance: process.instance, bytes: process.bytes))
        }
        if stormRandom.chance(perMille: 100) {
            uses.append(MemoryUse(instance: InstanceID(rawValue: 977_000), bytes: 1 << 40))
        }
        let total = Int64(stormRandom.pick([128, 512, 1024, 4096])) << 20
        let available = total / 100 * Int64(stormRandom.below(stormRandom.pick([10, 30, 80])))
        hear(.memory(.read(available: available, total: total, uses)))
    }

    // MARK: What the daemon asks

    func readMemory() {
        if plan.strikes(.memoryUnanswered, &hardRandom) { return say("the question for the memory is not answered") }
        let isSlow = stormRandom.chance(perMille: 100)
        plan(.answersMemory, after: stormRandom.magnitude(.microseconds(50), isSlow ? .seconds(3) : .milliseconds(4)))
    }

    func poll() {
        if stormRandom.chance(perMille: 500) { plan(.answersPoll, after: .microseconds(80)) }
    }

    /// Closed, left as it is, or given all the time it can.
    func restWatchdog() {
        guard let timeout = surroundings.watchdog else { return }
        plan(.answersWatchdog(stormRandom.pick([nil, timeout, timeout + timeout])), after: .microseconds(3))
    }

    func wakeWatchdog() {
        // What was about to be said of its rest is not true any more.
        _ = queue.remove { if case .board(.answersWatchdog) = $0 { true } else { false } }
        plan(.answersWatchdog(surroundings.watchdog), after: .microseconds(3))
    }

    func retryWatchdog() {
        if stormRandom.chance(perMille: 300) { return plan(.losesWatchdog, after: .microseconds(3)) }
        surroundings.watchdog = surroundings.watchdogTimeout
        plan(.answersWatchdog(surroundings.watchdog), after: .microseconds(3))
    }

    func powerOff() {
        guard login.isPresent, login.isConnected else {
            return schedule(
                .deliver(.login(.powerOffRefused)), after: stormRandom.magnitude(.microseconds(5), .milliseconds(1)))
        }
        let isBusy = login.sleep != .idle || login.shutdown != .idle
        if isBusy || plan.strikes(.powerOffRefused, &stormRandom) {
            say("logind refuses to switch the board off")
            return sendFromLogin(.login(.powerOffRefused), after: transport())
        }
        if plan.strikes(.powerOffIgnored, &stormRandom) { return say("logind does not answer the wish to switch off") }
        announceShutdown()
        plugInLate()
    }
}
