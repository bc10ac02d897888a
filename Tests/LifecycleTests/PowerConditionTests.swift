import Lifecycle
import Testing

/// External power, the battery, and what a weak one asks.
@Suite struct PowerConditionTests {
    private func board(_ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        var policy = DevicePolicy()
        change(&policy)
        var board = Board([app("logger")], device: policy)
        board.login()
        board.start()
        return board
    }

    /// The battery is critical for long enough.
    private func endEverybody(_ board: inout Board) {
        _ = board.pass(.seconds(5))
        _ = board.returned("logger")
        board.gone("logger", .exited(0))
    }

    private func power(_ isExternal: Bool?, _ level: Int?) -> Event {
        .board(.power(PowerReading(isExternal: isExternal, level: level)))
    }

    @Test func chargerIsToldOnce_howeverItBounces() throws {
        var board = board()
        #expect(board.tell(power(true, 80)) == ["inform logger external 80"])
        #expect(board.tell(power(false, 80)) == ["inform logger battery 80"])
        var effects: [String] = []
        for _ in 0..<1000 {
            board.monotonic += .microseconds(500)
            effects += board.tell(power(true, 80))
            board.monotonic += .microseconds(500)
            effects += board.tell(power(false, 80))
        }
        #expect(effects == [])
        _ = board.tell(power(true, 80))
        #expect(board.pass(.seconds(1)) == ["inform logger external 80"])
        #expect(board.core.device.externalPower == true)
    }

    @Test func appThatIsLaunchedLater_isNotToldOfAReadingInForce() throws {
        var board = board()
        _ = board.tell(power(true, 80))
        try board.follow(1, .terminate(board.id("logger"), force: true))
        let back = try board.handle(
            .client(.requested(RequestID(rawValue: 2), .launch(board.id("logger"), background: false))))
        let lines = board.lines(board.obey(back))
        #expect(lines.contains("spawn logger user"))
        #expect(!lines.contains { $0.hasPrefix("inform") }, "\(lines)")
        #expect(board.tell(power(false, 80)) == ["inform logger battery 80"])
    }

    @Test func criticalBatteryThatRecovers_endsNothing() throws {
        var board = board()
        _ = board.tell(power(false, 1))
        #expect(board.pass(.seconds(3)) == [])
        _ = board.tell(power(false, 60))
        let later = board.pass(.seconds(30))
        #expect(!later.contains { $0.contains("willTerminate") || $0 == "power off" }, "\(later)")
        #expect(try board.view("logger").phase == .active)
    }

    /// A little above it there is nothing where the threshold is near the whole.
    @Test func batteryLowNearTheWhole_isLeftWhenItIsFull() {
        var board = board { $0.batteryLow = 97 }
        _ = board.tell(power(nil, 90))
        #expect(board.core.device.isLowPower)
        _ = board.tell(power(nil, 99))
        #expect(board.core.device.isLowPower)
        _ = board.tell(power(nil, 100))
        _ = board.pass(.seconds(60))
        #expect(!board.core.device.isLowPower)
    }

    @Test func batteryLowIsLowPowerMode_andIsLeftALittleAbove() throws {
        var board = board()
        _ = board.tell(power(false, 30))
        #expect(board.tell(power(false, 20)) == ["inform logger battery 20 saving"])
        #expect(board.core.device.isLowPower)
        for level in [21, 20, 22, 19, 24, 20] {
            _ = board.pass(.seconds(10))
            _ = board.tell(power(false, level))
            #expect(board.core.device.isLowPower)
        }
        _ = board.pass(.seconds(10))
        #expect(board.tell(power(false, 25)) == ["inform logger battery 25"])
        #expect(!board.core.device.isLowPower)
    }

    @Test func externalPowerEndsLowPowerMode() throws {
        var board = board()
        _ = board.tell(power(false, 10))
        _ = board.pass(.seconds(10))
        #expect(board.tell(power(true, 10)) == ["inform logger external 10"])
    }

    @Test func nonsenseIsUnknown_notEmpty() throws {
        var board = board()
        for level in [-1, 101, 255, Int.min] {
            #expect(board.tell(power(false, level)).allSatisfy { !$0.contains("saving") })
            #expect(board.core.device.batteryLevel == nil)
        }
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func batteryIsToldInSteps() throws {
        var board = board()
        _ = board.tell(power(false, 80))
        for level in [79, 78, 77, 76] { #expect(board.tell(power(false, level)) == []) }
        #expect(board.core.device.batteryLevel == 76)
        #expect(board.tell(power(false, 75)) == ["inform logger battery 75"])
    }

    @Test func frozenAppIsToldTheLatestAfterItsThaw() throws {
        var board = board()
        _ = board.tell(power(true, 80))
        try board.goBack("logger")
        #expect(board.tell(power(false, 60)) == [])
        _ = board.pass(.seconds(5))
        #expect(board.tell(power(false, 40)) == [])
        let logger = try board.id("logger")
        #expect(
            board.ask(1, .activate(logger)) == [
                "thaw logger", "call logger willEnterForeground 10 s", "inform logger battery 40",
            ])
    }

    @Test func userDecides_overTheBattery() throws {
        var board = board()
        #expect(board.ask(1, .setLowPower(true)) == ["reply 1: done", "inform logger external - saving"])
        _ = board.pass(.seconds(5))
        _ = board.tell(power(false, 10))
        #expect(board.ask(2, .setLowPower(false)).first == "reply 2: done")
        #expect(!board.core.device.isLowPower)
        _ = board.pass(.seconds(5))
        _ = board.ask(3, .setLowPower(nil))
        #expect(board.core.device.isLowPower)
    }

    @Test func lowPowerModeCutsBudgets() throws {
        var board = board()
        _ = board.begin("logger")
        try board.goBack("logger")
        let logger = try board.id("logger")
        _ = board.tell(power(false, 10))
        #expect(board.core.backgroundTimeRemaining(of: logger, at: board.monotonic) == .seconds(30))
        #expect(
            board.pass(.seconds(25)) == [
                "task logger upload expiring 5 s", "call logger backgroundTaskWillExpire upload 5 s",
            ])
    }

    @Test func newBudgetsAreShort_inLowPowerMode() throws {
        var board = board()
        _ = board.tell(power(false, 10))
        _ = board.begin("logger")
        try board.goBack("logger")
        let logger = try board.id("logger")
        #expect(board.core.backgroundTimeRemaining(of: logger, at: board.monotonic) == .seconds(30))
    }

    @Test func criticalBatteryTerminatesAllApps_thenSwitchesTheBoardOff() throws {
        var board = board()
        _ = board.tell(power(false, 5))
        // One bad reading does not count.
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["call logger willTerminate lowBattery 5 s"])
        #expect(board.returned("logger") == ["terminate logger"])
        let ended = board.exited("logger")
        #expect(ended.first?.hasPrefix("report logger lowBattery") == true, "\(ended)")
        #expect(board.emptied("logger") == ["power off"])
        // logind says so too: nothing is left to be done.
        #expect(board.shutdownSignal(true) == ["release shutdown"])
        #expect(board.pass(.seconds(600)) == [])
    }

    @Test func boardIsAskedAgain_whenItStaysOn() throws {
        var board = board()
        _ = board.tell(power(false, 3))
        endEverybody(&board)
        #expect(board.tell(.login(.powerOffRefused)) == [])
        #expect(board.pass(.seconds(30)) == ["power off"])
    }

    @Test func appThatWasNotAskedYetStays_whenExternalPowerComesInTime() throws {
        var board = board()
        _ = board.tell(power(false, 4))
        _ = board.pass(.seconds(4))
        #expect(try board.ask(8, .background(board.id("logger"))) == ["call logger willResignActive 10 s"])
        // Its end waits for the handler.
        #expect(board.pass(.seconds(1)) == [])
        #expect(board.tell(power(true, 4)) == ["inform logger external 4"])
        #expect(board.returned("logger") == ["call logger didEnterBackground 5 s"])
        #expect(board.returned("logger") == ["freeze logger"])
        #expect(try board.view("logger").phase == .background)
    }

    @Test func externalPowerInTimeBringsEverybodyBack() throws {
        var board = board()
        _ = board.tell(power(false, 4))
        _ = board.pass(.seconds(4))
        _ = board.tell(power(true, 4))
        #expect(board.pass(.seconds(30)) == [])
        _ = board.tell(power(false, 4))
        endEverybody(&board)
        #expect(try board.view("logger").taskState == .notRunning)
        #expect(board.tell(power(true, 4)) == ["spawn logger restart"])
    }

    /// It may have been charged meanwhile: a word of a sleep is confirmed anew after it.
    @Test(arguments: [true, false]) func criticalBatteryWaitsForTheBoardToWake(isCharged: Bool) throws {
        var board = board()
        board.fallAsleep()
        _ = board.tell(power(false, 2))
        #expect(board.pass(.seconds(20)) == [])
        board.slept = .seconds(3600)
        let effects = board.sleepSignal(false)
        #expect(effects.contains("thaw logger"))
        _ = board.pass(.milliseconds(2000))
        if isCharged { _ = board.tell(power(true, 50)) }
        _ = board.pass(.milliseconds(2999))
        #expect(!board.core.device.isShuttingDown)
        _ = board.pass(.milliseconds(1))
        #expect(board.core.device.isShuttingDown != isCharged)
    }

    @Test func pauseKeepsTheBoardAsleep_withoutDarkWakes() throws {
        var board = board {
            $0.darkWakeInterval = .seconds(600)
            $0.responses[.onBattery] = .pause
        }
        _ = board.begin("logger")
        _ = board.tell(power(false, 90))
        _ = board.sleepSignal(true)
        _ = board.returned("logger")
        _ = board.returned("logger")
        _ = board.pass(.seconds(2))
        _ = board.frozen("logger")
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.core.wakeAlarm == nil)
    }

    @Test func lowPowerModeCutsABudgetThatStandsStill() throws {
        var board = Board([app("logger") { $0.suspend = false }])
        board.start()
        _ = board.begin("logger")
        try board.goBack("logger")
        _ = board.pass(.seconds(100))
        #expect(board.end("logger") == ["task logger upload ended 500 s", "reply 0: done"])
        _ = board.tell(power(false, 10))
        #expect(board.begin("logger") == ["task logger upload began 30 s", "reply 0: begun, 30 s"])
    }
}
