internal import Lifecycle

/// What a seed's board looks like: its apps, its policy, how it is started and reconfigured.
extension SimulatedBoard {
    private static let names = ["storage", "modem", "sensor", "camera", "player", "display"]

    func furnish() {
        login.delayMax = someDelayMax()
        freezingAvailable = !plan.has(.freezingUnavailable)
        staysUnfreezable = !freezingAvailable
        devicePolicy = somePolicy()
        let count = 1 + random.below(5)
        configuration = Self.names.prefix(count).map { someApp(named: $0) }
        for name in Self.names { tempers.append((name, Temper(plan, &random), TaskHabits(plan, &random))) }
        if devicePolicy.darkWakeInterval != nil { giveWork() }
        makeEssential()
        if isRough { makeRough() }
        makeFrugal()
        trace.add(plan, at: monotonic)
    }

    /// A board that wakes by itself has something to wake for.
    private func giveWork() {
        plan.insist(on: .announcedSleep)
        for index in configuration.indices where darkRandom.chance(perMille: 500) {
            configuration[index].taskBudget = .seconds(600)
        }
        for index in tempers.indices where darkRandom.chance(perMille: 800) {
            tempers[index].habits.forgets = true
            tempers[index].habits.isIdle = false
        }
    }

    private func somePolicy() -> DevicePolicy {
        var policy = DevicePolicy()
        policy.front = random.chance(perMille: 300) ? .one : .many
        policy.taskGrace = random.pick([.seconds(2), .seconds(2), .zero, .milliseconds(500), .seconds(6), .seconds(60)])
        if random.chance(perMille: 300) {
            policy.sleepMargin = random.pick([.milliseconds(100), .milliseconds(300), .seconds(1)])
            policy.sleepAllowanceMax = random.pick([.seconds(2), .seconds(8), .seconds(30)])
            policy.sleepAllowanceWithoutLogind = random.pick([.milliseconds(800), .seconds(2), .seconds(10)])
        }
        addDarkWakes(to: &policy)
        addConditions(to: &policy)
        return policy
    }

    private func addDarkWakes(to policy: inout DevicePolicy) {
        guard darkRandom.chance(perMille: 333) else { return }
        policy.darkWakeInterval = darkRandom.pick([
            .seconds(5), .seconds(20), .seconds(60), .seconds(60), .seconds(600),
        ])
        policy.darkWakeAllowance = darkRandom.pick([.seconds(5), .seconds(5), .seconds(30)])
    }

    private func someApp(named name: String) -> AppPolicy {
        var app = AppPolicy(name: name)
        app.launch = random.pick([.boot, .boot, .boot, .manual, .onDemand])
        app.start = random.chance(perMille: 250) ? .background : .active
        app.readiness = random.chance(perMille: 250) ? .notify : .launch
        switch random.below(4) {
        case 0: app.handlers = []
        case 1: app.handlers = HandlerSet(rawValue: UInt8(random.below(128)))
        default: app.handlers = .all
        }
        if random.chance(perMille: 300) {
            for handler in Handler.allCases where random.chance(perMille: 500) {
                app.allowances[handler] = random.pick([.milliseconds(200), .seconds(1), .seconds(3), .seconds(60)])
            }
        }
        app.restart = random.pick([.onFailure, .onFailure, .always, .never])
        app.restartDelay = random.pick([.milliseconds(100), .zero, .milliseconds(10), .seconds(3)])
        app.restartDelayMax = random.pick([.seconds(30), .seconds(30), .seconds(3)])
        app.restartReset = random.pick([.seconds(60), .seconds(10)])
        app.restartLimit = random.pick([10, 10, 3, 1])
        app.suspend = random.chance(perMille: 850)
        app.liveness = random.chance(perMille: 200) ? random.pick([.seconds(2), .seconds(10), .seconds(30)]) : nil
        app.taskBudget = random.pick([
            .seconds(1), .seconds(4), .seconds(15), .seconds(40), .seconds(60), .seconds(200), .seconds(600),
        ])
        app.keepsAwake = random.chance(perMille: 400)
        for other in Self.names {
            if other == name { break }
            if random.chance(perMille: 250) { app.after.append(other) }
        }
        addBand(to: &app)
        return app
    }

    // MARK: The daemon starts

    func scheduleStart() {
        var messages: [Event] = [.freezing(available: freezingAvailable)]
        if plan.has(.loginAbsent) {
            if random.chance(perMille: 500) { messages.append(.login(.unavailable)) }
        } else {
            startLogin(&messages)
        }
        var at = Nanoseconds.microseconds(500)
        schedule(.deliver(.configured(configuration, devicePolicy)), after: .microseconds(100))
        schedule(.deliver(.watchdog(.service)), after: .microseconds(200))
        let startFirst = random.chance(perMille: 200)
        if startFirst {
            messages.insert(.started, at: random.below(messages.count + 1))
        } else {
            messages.append(.started)
        }
        for message in messages {
            schedule(.deliver(message), after: at)
            at += random.magnitude(.microseconds(10), .milliseconds(5))
        }
        login.lastDelivery = monotonic + at
        scheduleDisturbances()
    }

    private func startLogin(_ messages: inout [Event]) {
        if random.chance(perMille: 150) {
            plan(.returns, after: random.magnitude(.milliseconds(10), .seconds(30)))
            if random.chance(perMille: 500) { messages.append(.login(.unavailable)) }
            return
        }
        login.isPresent = true
        login.incarnation = 1
        // The daemon may be started while a sleep is being prepared.
        if random.chance(perMille: 50) {
            login.handshake = 1
            login.sleep = .preparing
            plan(.losesPatience(.sleep, handshake: 1), after: random.span(.zero, login.delayMax))
        }
        messages.append(
            .login(
                .available(
                    delayMax: login.delayMax, preparingForSleep: login.sleep != .idle, preparingForShutdown: false)))
    }

    // MARK: Reloads

    func reload() {
        switch random.below(5) {
        case 0 where configuration.count > 1:
            configuration.remove(at: random.below(configuration.count))
        case 1:
            let missing = Self.names.filter { name in !configuration.contains { $0.name == name } }
            if !missing.isEmpty { configuration.append(someApp(named: random.pick(missing))) }
        case 2, 3:
            let index = random.below(configuration.count)
            configuration[index] = someApp(named: configuration[index].name)
        default: devicePolicy = somePolicy()
        }
        for index in configuration.indices {
            if longLife != nil { configuration[index].liveness = nil }
            configuration[index].after = configuration[index].after.filter { name in
                configuration.contains { $0.name == name }
            }
        }
        hear(.configured(configuration, devicePolicy))
    }
}
