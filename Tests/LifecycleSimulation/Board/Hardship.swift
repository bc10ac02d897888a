internal import Lifecycle

/// What makes a board rough, again and again, beside what is rolled where it happens.
enum Hardship: CaseIterable {
    case supplyGoesBlank, zonesGoBlank, hogComes, stealsTime, racesRequests, adoptsInTheDark, closesLidForLong
    case people, loginAppearsTwice, readsAbsurdly, memoryRunsShort, shellDies

    var fault: Fault {
        switch self {
        case .supplyGoesBlank: .supplyBlank
        case .zonesGoBlank: .zonesBlank
        case .hogComes: .foreignHog
        case .stealsTime: .stolenTime
        case .racesRequests: .racingRequests
        case .adoptsInTheDark: .darkAdoptions
        case .closesLidForLong: .longLids
        case .people: .idlePeople
        case .loginAppearsTwice: .loginTwice
        case .readsAbsurdly: .absurdReadings
        case .memoryRunsShort: .hungryApp
        case .shellDies: .shellDies
        }
    }

    /// How often, at most.
    var interval: Nanoseconds {
        switch self {
        case .supplyGoesBlank, .zonesGoBlank: .seconds(20)
        case .hogComes: .seconds(120)
        case .stealsTime: .seconds(40)
        case .racesRequests: .seconds(20)
        case .adoptsInTheDark: .seconds(3)
        case .closesLidForLong, .people: .seconds(150)
        case .shellDies: .seconds(200)
        case .loginAppearsTwice, .readsAbsurdly: .seconds(60)
        case .memoryRunsShort: .seconds(2)
        }
    }
}

/// What the daemon is not told though it is so.
struct Blanks {
    var level = false
    var supply = false
    var zones = false
    /// A zone that cannot be read is not even listed.
    var hidesZones = false
}

extension SimulatedBoard {
    func again(_ hardship: Hardship) {
        guard !plan.isOver else { return }
        let most = hardship.interval + hardship.interval
        // Other hardships keep their times on a board whose daemon dies.
        let pause =
            hardship == .shellDies
            ? lifeRandom.magnitude(hardship.interval / 50, most) : hardRandom.magnitude(hardship.interval / 50, most)
        schedule(.hardship(hardship), after: spread(pause))
    }

    func happen(_ hardship: Hardship) {
        guard !plan.isOver else { return }
        again(hardship)
        switch hardship {
        case .supplyGoesBlank: blankSupply()
        case .zonesGoBlank: blankZones()
        case .hogComes: bringHog()
        case .stealsTime: stealTime()
        case .racesRequests: race()
        case .adoptsInTheDark: adoptInTheDark()
        case .closesLidForLong: closeLid()
        case .people: comeAndGo()
        case .loginAppearsTwice: appearTwice()
        case .readsAbsurdly: readAbsurdly()
        case .memoryRunsShort: pressForMemory()
        case .shellDies: loseDaemon()
        }
    }

    /// On a board with days to live everything takes its time.
    func spread(_ time: Nanoseconds) -> Nanoseconds {
        guard let longLife else { return time }
        return time.multiplied(by: Int(longLife.rawValue / limits.duration.rawValue))
    }

    // MARK: How such a board is furnished

    func makeRough() {
        if plan.has(.longLife) {
            longLife = .seconds(Int64(86_400 * (2 + hardRandom.below(6))))
            // What takes a step each few seconds leaves none for the days.
            for fault in [
                Fault.hardwareWatchdog, .polling, .shutdown, .stop, .batteryFalls, .stolenTime, .idleSuspend,
                .hungryApp,
            ] {
                plan.spare(fault)
            }
            for index in configuration.indices {
                configuration[index].liveness = nil
                guard hardRandom.chance(perMille: 500) else { continue }
                configuration[index].start = .background
                configuration[index].launch = .boot
            }
        }
        if plan.has(.headless) { makeHeadless() }
        if plan.has(.hungryApp) { hungryApp = hardRandom.pick(configuration).name }
        if plan.has(.longLids) { devicePolicy.responses[.lidClosed] = .sleep }
        if plan.has(.idlePeople) {
            devicePolicy.responses[.idle] = .sleep
            devicePolicy.sleepsLogically = hardRandom.chance(perMille: 600)
            if devicePolicy.sleepsLogically { surroundings.hasSleptLogically = true }
        }
        if plan.has(.stolenTime) || plan.has(.idleSuspend) {
            for index in configuration.indices where hardRandom.chance(perMille: 400) {
                configuration[index].liveness = hardRandom.pick([.seconds(10), .seconds(30), .seconds(120)])
                configuration[index].suspend = hardRandom.chance(perMille: 400)
            }
        }
        if plan.has(.absurdPolicies) { makeAbsurd() }
    }

    private func makeAbsurd() {
        for index in configuration.indices {
            if hardRandom.chance(perMille: 300) { configuration[index].restartLimit = hardRandom.pick([0, 1]) }
            if hardRandom.chance(perMille: 300) { configuration[index].taskBudget = .zero }
            if hardRandom.chance(perMille: 300) {
                // The least that a configuration may say.
                configuration[index].allowances[hardRandom.pick(Handler.allCases)] = .milliseconds(1)
            }
            // Each after itself or another: a circle, sooner or later.
            if hardRandom.chance(perMille: 300) {
                configuration[index].after.append(hardRandom.pick(configuration).name)
            }
        }
        if hardRandom.chance(perMille: 300) { devicePolicy.darkWakeAllowance = .zero }
        if hardRandom.chance(perMille: 300) { devicePolicy.memoryReserve = hardRandom.pick([.min, -1, 0, .max]) }
        if hardRandom.chance(perMille: 300) { devicePolicy.batteryLow = hardRandom.pick([0, 97, 100]) }
        if hardRandom.chance(perMille: 300) { login.delayMax = hardRandom.pick([.zero, .seconds(100_000)]) }
    }

    /// What a new process is, beside its temper.
    func furnish(_ process: SimulatedProcess, _ policy: AppPolicy) {
        guard policy.name == hungryApp else { return }
        process.bytes = 1 << 20
    }

    // MARK: The end of a run

    /// A logind that is told to wait for a day for its delay locks is told better.
    private func endAbsurdDelay() {
        guard login.delayMax > .seconds(3600) else { return }
        login.delayMax = .seconds(30)
        for operation in [Operation.sleep, .shutdown] where login[operation] == .preparing {
            plan(.losesPatience(operation, handshake: login.handshake), after: login.delayMax)
        }
    }

    func calmHardships() {
        blanks = Blanks()
        truth.supplyBlankSince = nil
        truth.zonesBlankSince = nil
        truth.hogged = 0
        hungryApp = nil
        endAbsurdDelay()
        for process in processes where process.bytes > Self.totalMemory / 16 { process.bytes = Self.totalMemory / 16 }
        _ = queue.remove { if case .hardship = $0 { true } else { false } }
    }
}
