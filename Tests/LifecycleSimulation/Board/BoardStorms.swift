internal import Lifecycle

/// How conditions come and go.
extension SimulatedBoard {
    func again(_ storm: Storm) {
        guard !plan.isOver else { return }
        schedule(
            .storm(storm),
            after: spread(stormRandom.magnitude(storm.interval / 100, storm.interval + storm.interval)))
    }

    func happen(_ storm: Storm) {
        guard !plan.isOver else { return }
        again(storm)
        switch storm {
        case .people: trouble()
        case .lid: bounce { .lid($0) }
        case .charger:
            bounce { .charger(!$0) }
            showEmptyBattery()
        case .battery: moveBattery()
        case .batteryFalls: fall()
        case .voltage:
            // By the moment: the streams of chance stay as they are.
            let isSilent = monotonic.rawValue / 1000 % 3 == 0
            bounce { .voltage($0 ? true : isSilent ? nil : false) }
        case .heat: heatUp()
        case .memory: runShort()
        case .appMemory: plan(stormRandom.chance(perMille: 600) ? .limitReached : .killsForMemory, after: .zero)
        case .network: bounce { .network(!$0) }
        case .key: for _ in 0..<stormRandom.pick([1, 1, 2]) { plan(.key, after: gap()) }
        case .polling:
            plan(.polls(stormRandom.pick([.seconds(1), .seconds(10), .seconds(10)])), after: .zero)
            plan(.polls(nil), after: stormRandom.magnitude(.milliseconds(500), .seconds(40)))
        case .lowPower:
            surroundings.lastMove = monotonic
            request(.setLowPower(stormRandom.pick([nil, nil, true, false])))
        case .watchdog: tendWatchdog()
        }
    }

    /// Between two words of something that bounces.
    private func gap() -> Nanoseconds { stormRandom.magnitude(.milliseconds(1), .seconds(4)) }

    /// How long what is not well stays so.
    private func dwell() -> Nanoseconds { stormRandom.magnitude(.milliseconds(500), .seconds(60)) }

    /// There, gone, there, gone: and gone for good after a while.
    private func bounce(_ move: (Bool) -> BoardMove) {
        var at = Nanoseconds.zero
        for turn in 0..<stormRandom.pick([1, 1, 2, 3, 7]) {
            plan(move(turn % 2 == 0), after: at)
            at += gap()
        }
        plan(move(false), after: at + dwell())
    }

    private func trouble() {
        switch stormRandom.below(4) {
        case 0: plan(.users(stormRandom.below(3)), after: .zero)
        case 1: bounce { .idles($0) }
        default: bounce { .locks($0) }
        }
    }

    private func moveBattery() {
        if stormRandom.chance(perMille: 150) { return plan(.battery(nonsense()), after: .zero) }
        if stormRandom.chance(perMille: 300) {
            plan(.charger(stormRandom.pick([false, false, true, nil])), after: .zero)
        }
        let level = stormRandom.chance(perMille: 500) ? devicePolicy.batteryLow : 10 + stormRandom.below(90)
        var at = Nanoseconds.zero
        for _ in 0..<stormRandom.pick([1, 2, 4, 8]) {
            plan(.battery(min(max(level + stormRandom.below(9) - 2, 0), 100)), after: at)
            at += gap()
        }
        plan(.battery(60 + stormRandom.below(40)), after: at + dwell())
    }

    private func nonsense() -> Int? {
        plan.has(.nonsense) ? stormRandom.pick([-1, 101, 255, .min, nil]) : nil
    }

    /// To the last of it; mostly a charger is plugged in.
    private func fall() {
        plan(.charger(false), after: .zero)
        let last = max(devicePolicy.batteryCritical - stormRandom.below(3), 0)
        plan(.battery(last), after: gap())
        if stormRandom.chance(perMille: 300) {
            plan(.battery(last + stormRandom.below(8)), after: .seconds(4) + gap())
            plan(.battery(last), after: .seconds(8) + gap())
        }
        let isSaved = stormRandom.chance(perMille: 850)
        guard isSaved else { return }
        let after = stormRandom.magnitude(.milliseconds(500), .seconds(50))
        plan(.charger(stormRandom.chance(perMille: 900) ? true : nil), after: after)
        plan(.battery(70), after: after + gap())
    }

    private func heatUp() {
        let limits = [60_000, 75_000, 85_000]
        var at = Nanoseconds.zero
        let goal = stormRandom.pick([59_000, 62_000, 74_000, 77_000, 83_000, 86_000, 95_000])
        let count = 1 + stormRandom.below(3)
        for _ in 0..<stormRandom.pick([1, 2, 4, 8]) {
            let readings = (0..<count).map { place in
                ThermalReading(
                    zone: place,
                    temperature: place == 0
                        ? goal + stormRandom.below(6000) - 3000 : 40_000 + stormRandom.below(50_000),
                    fair: place == 2 ? nil : limits[0], serious: place == 1 ? nil : limits[1],
                    critical: place == 0 ? limits[2] : nil)
            }
            plan(.heat(readings), after: at)
            at += gap()
        }
        plan(.heat([Self.cool]), after: at + dwell())
    }

    static let cool = ThermalReading(zone: 0, temperature: 40_000, fair: 60_000, serious: 75_000, critical: 85_000)

    private func runShort() {
        if stormRandom.chance(perMille: 100) { plan(.toldOfMemory, after: .zero) }
        var at = Nanoseconds.zero
        let isCritical = stormRandom.chance(perMille: 600)
        for _ in 0..<stormRandom.pick([1, 2, 4, 10]) {
            plan(.pressure(isCritical && stormRandom.chance(perMille: 700) ? .critical : .warning), after: at)
            at += stormRandom.magnitude(.milliseconds(10), .seconds(2))
        }
    }

    private func tendWatchdog() {
        let timeout = stormRandom.pick([
            Nanoseconds.seconds(15), .seconds(15), .seconds(60), .seconds(4), .milliseconds(1), .seconds(600),
        ])
        plan(.arms(timeout), after: .zero)
        if stormRandom.chance(perMille: 300) {
            plan(timeout == .seconds(60) ? .losesWatchdog : .arms(nil), after: dwell())
        }
        // A short one takes all the steps of a run.
        if timeout < .seconds(10) { plan(.arms(.seconds(30)), after: stormRandom.magnitude(.seconds(1), .seconds(5))) }
    }

    /// The end of a run: everything is well.
    func calmConditions() {
        guard limits.storms else { return }
        _ = queue.remove { happening in
            switch happening {
            case .storm: true
            case .board(let move): !move.isAnswer
            // As it was before.
            case .deliver(.board(.session)), .deliver(.board(.lid)), .deliver(.board(.power)),
                .deliver(.board(.temperatures)):
                true
            default: false
            }
        }
        surroundings.lastMove = monotonic
        surroundings.session = SessionReading(users: 1, isLocked: false, isIdle: false)
        surroundings.power = PowerReading(isExternal: true, level: 100)
        hear(.board(.session(surroundings.session)))
        surroundings.isLidClosed = false
        hear(.board(.lid(closed: false)))
        hear(.board(.power(surroundings.power)))
        hear(.board(.underVoltage(false)))
        surroundings.heat = [Self.cool]
        let coolPlaces = (0..<3).map { place in
            ThermalReading(zone: place, temperature: 40_000, fair: 60_000, serious: 75_000, critical: 85_000)
        }
        let unwatched = Self.absurdNumbers.filter { $0 != 0 }.map { place in
            ThermalReading(zone: place, temperature: nil, fair: nil, serious: nil, critical: nil)
        }
        hear(.board(.temperatures(isRough ? coolPlaces + unwatched : coolPlaces)))
        hear(.board(.polling(interval: nil)))
        if surroundings.watchdog != nil {
            surroundings.watchdog = .seconds(60)
            hear(.watchdog(.hardware(timeout: .seconds(60))))
        }
        request(.setLowPower(nil))
    }
}
