import Lifecycle
import Testing

/// What is not known is neither good news nor bad: what was counts for five minutes, and what ended for it stays ended.
@Suite struct UnknownTests {
    private func board(_ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        var policy = DevicePolicy()
        change(&policy)
        var board = Board([app("kiosk")], device: policy)
        board.login()
        board.start()
        return board
    }

    private func power(_ isExternal: Bool?, _ level: Int?) -> Event {
        .board(.power(PowerReading(isExternal: isExternal, level: level)))
    }

    private func zone(_ temperature: Int?, number: Int = 0) -> Event {
        .board(
            .temperatures([
                ThermalReading(zone: number, temperature: temperature, fair: nil, serious: 75_000, critical: 90_000)
            ]))
    }

    /// A critical battery has ended the app, and logind is asked to switch the board off.
    private func dying() -> Board {
        var board = board()
        _ = board.tell(power(false, 4))
        #expect(board.pass(.seconds(5)) == ["call kiosk willTerminate lowBattery 5 s"])
        return board
    }

    @Test func shutdownOfACriticalBatteryGoesOn_whenAReadingHasNoLevel() throws {
        var board = dying()
        for reading in [power(false, nil), power(nil, nil), power(nil, 255)] { #expect(board.tell(reading) == []) }
        #expect(board.core.device.isLowPower)
        #expect(board.returned("kiosk") == ["terminate kiosk"])
        #expect(board.gone("kiosk", .exited(0)) == ["power off"])
        // Not for long either: it stays asked for, and no app comes back.
        #expect(board.pass(.seconds(600)).allSatisfy { $0 == "power off" })
        #expect(try board.view("kiosk").taskState == .notRunning)
    }

    @Test func shutdownOfACriticalBatteryIsCalledOff_whenTheBatteryIsKnownToBeBetter() throws {
        var board = dying()
        _ = board.tell(power(nil, nil))
        _ = board.returned("kiosk")
        board.gone("kiosk", .exited(0))
        #expect(board.tell(power(true, nil)).contains("spawn kiosk restart"))
    }

    @Test func appsAreToldNothingNew_whenTheSupplyIsUnknown() throws {
        var board = board()
        #expect(board.tell(power(false, 50)) == ["inform kiosk battery 50"])
        _ = board.tell(power(nil, 50))
        #expect(board.pass(.seconds(600)) == [])
        #expect(board.core.device.externalPower == nil)
    }

    @Test func lowPowerModeLastsFiveMinutes_whenTheLevelIsNotSaid() throws {
        var board = board()
        _ = board.tell(power(false, 15))
        _ = board.pass(.seconds(60))
        _ = board.tell(power(false, nil))
        _ = board.pass(.milliseconds(299_999))
        #expect(board.core.device.isLowPower)
        #expect(board.core.device.batteryLevel == 15)
        _ = board.pass(.milliseconds(1))
        #expect(!board.core.device.isLowPower)
        #expect(board.core.device.batteryLevel == nil)
    }

    @Test func fiveMinutesBeginAnew_whenTheLevelWasSaidInBetween() throws {
        var board = board()
        _ = board.tell(power(false, 15))
        _ = board.tell(power(false, nil))
        _ = board.pass(.seconds(299))
        _ = board.tell(power(false, 15))
        _ = board.tell(power(false, nil))
        _ = board.pass(.seconds(299))
        #expect(board.core.device.isLowPower)
    }

    @Test func underVoltageLastsFiveMinutes_whenItsSensorDoesNotSay() throws {
        var board = board { $0.responses[.underVoltage] = .lowPower }
        _ = board.tell(.board(.underVoltage(true)))
        _ = board.pass(.seconds(60))
        _ = board.tell(.board(.underVoltage(nil)))
        _ = board.pass(.milliseconds(299_999))
        #expect(board.core.device.isUnderVoltage && board.core.device.isLowPower)
        _ = board.pass(.milliseconds(1))
        #expect(!board.core.device.isUnderVoltage && !board.core.device.isLowPower)
        #expect(board.tell(.board(.underVoltage(nil))) == [])
    }

    /// Heat has ended the app, and nothing is left of it.
    private func overheated() -> Board {
        var board = board()
        #expect(board.tell(zone(95_000)).contains("kill kiosk"))
        board.gone("kiosk")
        return board
    }

    @Test(arguments: [zoneIsMissing, zoneIsUnreadable, anotherZoneIsCool])
    func appStaysEnded_whenTheHotPlaceCannotBeReadAnyMore(_ reading: Event) throws {
        var board = overheated()
        #expect(board.tell(reading) == [])
        #expect(board.pass(.seconds(299)) == [])
        #expect(board.core.device.thermalState == .critical)
        // It is unknown by now, which asks for nothing and restarts nothing.
        #expect(board.pass(.seconds(3600)) == [])
        #expect(board.core.device.thermalState == .nominal)
        #expect(board.tell(zone(50_000)) == ["spawn kiosk restart"])
    }

    /// The heat of a place that is gone is no matter of an app that memory ended.
    @Test func appThatMemoryEndedComesBack_thoughAHotPlaceWasLost() throws {
        var board = board { $0.responses[.thermalCritical] = .nothing }
        _ = board.tell(zone(95_000))
        _ = board.tell(zone(nil))
        _ = board.pass(.seconds(301))
        _ = board.tell(.memory(.pressure(.critical)))
        let uses = [MemoryUse(instance: try board.instance("kiosk"), bytes: 400 << 20)]
        #expect(board.tell(.memory(.read(available: 1 << 20, total: 512 << 20, uses))).contains("kill kiosk"))
        board.gone("kiosk")
        #expect(board.pass(.seconds(60)).contains("spawn kiosk restart"))
    }

    @Test func placeThatIsNotWatchedAnyMoreIsForgotten() throws {
        var board = board()
        board.follow(zone(95_000))
        #expect(try board.view("kiosk").taskState == .notRunning)
        _ = board.tell(zone(nil))
        _ = board.pass(.seconds(301))
        #expect(try board.view("kiosk").taskState == .notRunning)
        let unwatched = ThermalReading(zone: 0, temperature: nil, fair: nil, serious: nil, critical: nil)
        #expect(board.tell(.board(.temperatures([unwatched]))) == ["spawn kiosk restart"])
        #expect(board.core.device.thermalState == .nominal)
    }

    private static let zoneIsMissing = Event.board(.temperatures([]))
    private static let zoneIsUnreadable = Event.board(
        .temperatures([
            ThermalReading(temperature: nil, fair: nil, serious: 75_000, critical: 90_000)
        ]))
    private static let anotherZoneIsCool = Event.board(
        .temperatures([
            ThermalReading(zone: 1, temperature: 40_000, fair: nil, serious: 75_000, critical: 90_000)
        ]))

    @Test func appThatHeatEndsDuringACancelledShutdownWaitsForTheCold() throws {
        var board = board()
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(board.tell(zone(95_000)).contains("kill kiosk"))
        #expect(board.gone("kiosk") == [])
        #expect(board.pass(.seconds(60)) == [])
        #expect(board.tell(zone(50_000)) == ["spawn kiosk restart"])
    }

    @Test func appThatWaitsForTheColdGoesOnWaiting_whenAShutdownIsCancelled() throws {
        var board = overheated()
        _ = board.pass(.milliseconds(50))
        _ = board.shutdownSignal(true)
        #expect(board.shutdownSignal(false) == ["take shutdown"])
        _ = board.tell(.login(.lockTaken(.shutdown)))
        #expect(board.pass(.seconds(60)) == [])
        #expect(board.tell(zone(50_000)) == ["spawn kiosk restart"])
    }

    @Test func appThatAnOperatorLaunchesRuns_whateverIsUnknown() throws {
        var board = overheated()
        _ = board.tell(Self.zoneIsMissing)
        _ = board.pass(.seconds(600))
        #expect(try board.ask(1, .launch(board.id("kiosk"), background: false)) == ["spawn kiosk user"])
    }

    @Test func hottestOfSeveralReadingsOfOnePlaceCounts() throws {
        var board = board()
        let readings = [40_000, 80_000, 50_000].map {
            ThermalReading(zone: 3, temperature: $0, fair: nil, serious: 75_000, critical: 90_000)
        }
        _ = board.tell(.board(.temperatures(readings)))
        #expect(board.core.device.thermalState == .serious)
    }

    @Test func numbersOfAnySizeAreHarmless() throws {
        var board = board {
            $0.batteryLow = .max; $0.batteryCritical = .min; $0.memoryReserve = .max
        }
        let extremes = [Int.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for temperature in extremes {
            for limit in extremes {
                let reading = ThermalReading(
                    zone: limit, temperature: temperature, fair: limit, serious: limit, critical: limit)
                _ = board.tell(.board(.temperatures([reading])))
            }
            _ = board.tell(power(false, temperature))
            _ = board.tell(.memory(.pressure(.critical)))
            let use = MemoryUse(instance: board.last("kiosk"), bytes: Int64(temperature))
            for total in extremes { _ = board.tell(.memory(.read(available: .min, total: Int64(total), [use, use]))) }
        }
        #expect(board.core.device.thermalState == .critical)
    }

    @Test func noMorePlacesThanABoardHasAreKept() throws {
        var board = board()
        _ = board.tell(
            .board(
                .temperatures(
                    (0..<10_000).map {
                        ThermalReading(zone: $0, temperature: 1, fair: nil, serious: nil, critical: 2000)
                    })))
        #expect(board.core.archived().count < 100_000)
    }
}
