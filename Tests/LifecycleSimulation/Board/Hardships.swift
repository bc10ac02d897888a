internal import Lifecycle

/// How hardships come about: blank sensors, stolen time, bad moments.
extension SimulatedBoard {
    // MARK: Sensors

    var readablePower: PowerReading {
        var reading = surroundings.power
        if blanks.level { reading.level = nil }
        if blanks.supply { reading.isExternal = nil }
        return reading
    }

    var readableHeat: [ThermalReading] {
        guard blanks.zones else { return surroundings.heat }
        if blanks.hidesZones { return surroundings.heat.filter { $0.critical == nil } }
        return surroundings.heat.map { reading in
            guard reading.critical != nil else { return reading }
            var blank = reading
            blank.temperature = nil
            return blank
        }
    }

    /// Most often one reading fails; at times the sensor is gone for good.
    private func blankness() -> Nanoseconds {
        hardRandom.pick([.milliseconds(50), .seconds(1), .seconds(4), .seconds(40), .seconds(700)])
    }

    func blankSupply() {
        guard truth.supplyBlankSince == nil else { return }
        blanks.level = hardRandom.chance(perMille: 700)
        blanks.supply = !blanks.level || hardRandom.chance(perMille: 300)
        truth.supplyBlankSince = monotonic
        say("the supply cannot be read")
        hear(.board(.power(readablePower)))
        plan(.restoresSupply, after: blankness())
    }

    func restoreSupply() {
        blanks.level = false
        blanks.supply = false
        truth.supplyBlankSince = nil
        say("the supply can be read again")
        hear(.board(.power(readablePower)))
    }

    func blankZones() {
        guard !surroundings.heat.isEmpty, truth.zonesBlankSince == nil else { return }
        blanks.zones = true
        blanks.hidesZones = hardRandom.chance(perMille: 500)
        truth.zonesBlankSince = monotonic
        say("the hot zone cannot be read")
        hear(.board(.temperatures(readableHeat)))
        plan(.restoresZones, after: blankness())
    }

    func restoreZones() {
        blanks.zones = false
        truth.zonesBlankSince = nil
        say("the hot zone can be read again")
        hear(.board(.temperatures(readableHeat)))
    }

    // MARK: Time

    /// Stops of the whole board, one after the other: the most of a time, and none of it long.
    func stealTime() {
        let share = hardRandom.pick([3, 10, 25])
        for _ in 0..<hardRandom.pick([1, 1, 3, 12]) {
            let time = hardRandom.magnitude(.milliseconds(300), .seconds(Int64(share)))
            plan(.stopsBoard(time), after: hardRandom.magnitude(.milliseconds(300), .seconds(40)))
        }
        let time = hardRandom.magnitude(.seconds(1), .milliseconds(29_700))
        say("the board gives no time for \(time.text)")
        stopBoard(for: time)
    }

    /// Just short of what an app is watched for.
    func lengthOfIdleSuspend(_ time: Nanoseconds) -> Nanoseconds {
        guard plan.has(.idleSuspend), hardRandom.chance(perMille: 600),
            let interval = processes.compactMap({ $0.stage == .alive ? $0.policy.liveness : nil }).first
        else { return time }
        return min(time, interval - interval / 100)
    }

    // MARK: Bad moments

    /// A person is at the board just as it wakes, or fell asleep.
    func comeBy() {
        if surroundings.isLidClosed, hardRandom.chance(perMille: 500) {
            return plan(.lid(false), after: .microseconds(1))
        }
        plan(
            .key,
            after: hardRandom.chance(perMille: 500)
                ? .microseconds(1) : hardRandom.magnitude(.microseconds(1), .seconds(2)))
    }

    /// The processes that tasks were begun for are gone, just before the kernel sleeps.
    func endTasks() {
        for process in processes where process.stage == .alive {
            for task in process.tasks { endBackgroundTask(task, process) }
        }
    }

    /// Requests at the heels of another, or of a sleep.
    func race() {
        let known = directory.entries.filter { $0.isConfigured }
        guard !known.isEmpty else { return }
        let app = hardRandom.pick(known).id
        func soon() -> Nanoseconds { hardRandom.magnitude(.microseconds(10), .milliseconds(50)) }
        switch hardRandom.below(4) {
        case 0, 1:
            request(.terminate(app, force: false))
            let wish: ClientRequest =
                hardRandom.chance(perMille: 500) ? .activate(app) : .launch(app, background: false)
            plan(.asks(wish), after: soon())
        case 2:
            request(.activate(app))
            plan(.announcesSleep, after: soon())
        default:
            request(.background(app))
            plan(.asks(.activate(app)), after: soon())
            plan(.announcesSleep, after: soon())
        }
    }

    func adoptInTheDark() {
        guard core.device.sleepState == .darkWake, let name = configuration.first?.name else { return }
        request(.adopt(app: name, TaskParameters(name: "run")))
    }

    /// For minutes: a board that does not sleep at once is asked again.
    func closeLid() {
        plan(.lid(true), after: .zero)
        plan(.lid(false), after: hardRandom.magnitude(.seconds(20), .seconds(600)))
    }

    func comeAndGo() {
        plan(.idles(true), after: .zero)
        plan(.idles(false), after: hardRandom.magnitude(.seconds(5), .seconds(200)))
    }

    /// systemd-logind says again that it is there; its properties need not be what they were.
    func appearTwice() {
        guard login.isPresent, login.isConnected else { return }
        login.connection += 1
        login.loseLocks()
        let delay: Nanoseconds? = hardRandom.pick([nil, .zero, login.delayMax, .max])
        hear(
            .login(
                .available(
                    delayMax: delay, preparingForSleep: login.sleep != .idle,
                    preparingForShutdown: login.shutdown != .idle))
        )
    }

    // MARK: Numbers from outside

    static let absurdNumbers = [Int.min, .min + 1, -1, 0, 40_000, .max - 1, .max]

    func readAbsurdly() {
        func number() -> Int { hardRandom.pick(Self.absurdNumbers) }
        switch hardRandom.below(5) {
        case 0: hear(.board(.temperatures([])))
        case 1, 2:
            hear(
                .board(
                    .temperatures([
                        ThermalReading(
                            zone: number(), temperature: number(), fair: number(), serious: number(), critical: number()
                        ),
                        ThermalReading(zone: 0, temperature: 40_000, fair: nil, serious: nil, critical: number()),
                    ])))
        case 3: hear(.board(.power(PowerReading(isExternal: false, level: number()))))
        default: tellOfAbsurdMemory()
        }
        plan(.heat(surroundings.heat), after: .seconds(1))
    }

    func tellOfAbsurdMemory() {
        func number() -> Int64 { hardRandom.pick([.min, -1, 0, 1, 1 << 20, .max]) }
        var uses: [MemoryUse] = []
        for process in processes { uses.append(MemoryUse(instance: process.instance, bytes: number())) }
        hear(.memory(.pressure(.critical)))
        hear(.memory(.read(available: number(), total: number(), uses)))
    }
}
