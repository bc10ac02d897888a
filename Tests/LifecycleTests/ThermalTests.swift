import Lifecycle
import Testing

@Suite struct ThermalTests {
    private func zone(_ temperature: Int) -> Event {
        .board(
            .temperatures([
                ThermalReading(temperature: temperature * 1000, fair: 60_000, serious: 75_000, critical: 90_000)
            ]))
    }

    private func board(_ apps: [AppPolicy] = [app("kiosk")]) -> Board {
        var board = Board(apps)
        board.login()
        board.start()
        return board
    }

    @Test func stateFollowsTheHottestPlace_andIsToldToApps() throws {
        var board = board()
        #expect(board.tell(zone(59)) == [])
        #expect(board.tell(zone(60)) == ["inform kiosk thermal fair"])
        let readings = [
            ThermalReading(temperature: 40_000, fair: nil, serious: nil, critical: 100_000),
            ThermalReading(temperature: 80_000, fair: nil, serious: 75_000, critical: nil),
        ]
        #expect(board.tell(.board(.temperatures(readings))) == ["inform kiosk thermal serious"])
        #expect(board.core.device.thermalState == .serious)
    }

    @Test func limitIsLeftThreeDegreesBelow() throws {
        var board = board()
        _ = board.tell(zone(76))
        for temperature in [74, 73, 75, 73] {
            _ = board.pass(.seconds(5))
            #expect(board.tell(zone(temperature)) == [])
        }
        _ = board.pass(.seconds(5))
        #expect(board.tell(zone(71)) == ["inform kiosk thermal fair"])
        // A place that cannot be read any more has not cooled down by that.
        #expect(board.tell(.board(.temperatures([]))) == [])
        #expect(board.pass(.milliseconds(299_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["inform kiosk thermal nominal"])
    }

    @Test func jumpingTemperatureIsToldOncePerWindow_andItsLastWordCounts() throws {
        var board = board()
        var effects: [String] = []
        for step in 0..<500 {
            board.monotonic += .milliseconds(1)
            effects += board.tell(zone(step % 2 == 0 ? 82 : 42))
        }
        #expect(effects == ["inform kiosk thermal serious"])
        _ = board.tell(zone(82))
        #expect(board.pass(.seconds(10)) == [])
        #expect(board.core.device.thermalState == .serious)
    }

    @Test func criticalHeatEndsRunningAppsByBand_andWaitsInBetween() throws {
        var board = board([
            app("low") { $0.priorityBand = 10 }, app("alsolow") { $0.priorityBand = 10 },
            app("asleep") { $0.priorityBand = 5 }, app("middle") { $0.priorityBand = 50 },
            app("guarded") { $0.priorityBand = 900 },
        ])
        try board.goBack("asleep")
        let effects = board.tell(zone(91))
        #expect(effects.filter { $0.hasPrefix("kill") } == ["kill low", "kill alsolow"])
        let ended = board.exited("low", .signalled(9))
        #expect(ended.first?.hasPrefix("report low thermal") == true, "\(ended)")
        _ = board.emptied("low")
        board.gone("alsolow")
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill middle"])
        board.gone("middle")
        // The protected one is the board's own trip point's.
        #expect(board.pass(.seconds(120)) == [])
        #expect(try board.view("guarded").phase == .active)
        #expect(try board.view("asleep").taskState == .suspended)
        // Who was in front comes back when the board has cooled down.
        let back = board.tell(zone(70))
        #expect(
            back.filter { $0.hasPrefix("spawn") } == [
                "spawn low restart", "spawn alsolow restart", "spawn middle restart",
            ])
    }

    @Test func appInBackgroundGoesBeforeOneInFront_ofTheSameBand() throws {
        var board = board([app("front"), app("worker")])
        _ = board.begin("worker")
        try board.goBack("worker")
        #expect(board.tell(zone(95)).filter { $0.hasPrefix("kill") } == ["kill worker"])
    }

    @Test func nobodyIsEnded_wherePolicySaysSo() throws {
        var policy = DevicePolicy()
        policy.responses[.thermalCritical] = .lowPower
        var board = Board([app("kiosk")], device: policy)
        board.start()
        let effects = board.tell(zone(95))
        #expect(effects == ["inform kiosk external - saving", "inform kiosk thermal critical"])
    }

    @Test func boardIsLookedAt_whereNothingAnnouncesItsHeat_butNotWhileItSleeps() throws {
        var board = board()
        #expect(board.tell(.board(.polling(interval: .seconds(10)))) == [])
        #expect(board.pass(.seconds(30)) == ["poll", "poll", "poll"])
        board.fallAsleep()
        #expect(board.pass(.seconds(29)) == [])
        #expect(board.sleepSignal(false).contains("poll"))
        #expect(board.tell(.board(.polling(interval: nil))) == [])
        _ = board.pass(.seconds(1))
        #expect(!board.pass(.seconds(60)).contains("poll"))
    }

    @Test func appDoesNotComeBack_whenTheBoardWasCoolForAMomentOnly() throws {
        var board = board()
        #expect(board.tell(zone(91)) == ["kill kiosk"])
        _ = board.pass(.seconds(5))
        _ = board.tell(zone(40))
        #expect(board.core.device.thermalState == .nominal)
        _ = board.tell(zone(91))
        #expect(board.core.device.thermalState == .nominal)
        board.gone("kiosk")
        #expect(board.pass(.seconds(60)) == [])
        #expect(board.tell(zone(40)) == ["spawn kiosk restart"])
    }

    @Test func lowerLimitIsLeftThreeDegreesBelowToo_whenTheTemperatureFallsPastTheHigherOne() throws {
        var board = board()
        #expect(board.tell(zone(76)) == ["inform kiosk thermal serious"])
        _ = board.pass(.seconds(5))
        #expect(board.tell(zone(58)) == ["inform kiosk thermal fair"])
        _ = board.pass(.seconds(5))
        #expect(board.tell(zone(56)) == ["inform kiosk thermal nominal"])
    }
}
