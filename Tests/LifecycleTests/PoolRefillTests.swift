import Lifecycle
import Testing

/// Apps that are never in front: becoming active cannot fill their pools.
@Suite struct PoolRefillTests {
    private func headless() -> Board {
        var board = Board([app("logger") { $0.start = .background }])
        board.login()
        board.start()
        return board
    }

    private func left(_ board: Board) throws -> Nanoseconds? {
        try board.core.backgroundTimeRemaining(of: board.id("logger"), at: board.monotonic)
    }

    /// All that it was given at its launch.
    private func spent() throws -> Board {
        var board = headless()
        _ = board.begin("logger")
        #expect(board.pass(.seconds(28)).last == "call logger backgroundTaskWillExpire upload 3 s")
        _ = board.returned("logger")
        _ = board.end("logger")
        _ = board.frozen("logger")
        return board
    }

    @Test func poolIsFullAgainAfterADay() throws {
        var board = try spent()
        #expect(try #require(try left(board)) <= .seconds(5))
        board.monotonic += .seconds(86_400)
        _ = board.tell(.timePassed)
        #expect(try left(board) == .seconds(600))
        #expect(board.begin("logger").contains("reply 0: begun, 10 min"))
    }

    @Test(arguments: [(1799, false), (1800, true)])
    func poolIsFullAgainAfterALongSleep(_ seconds: Int64, _ isFull: Bool) throws {
        var board = try spent()
        board.follow(.login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        #expect(board.core.device.sleepState == .asleep)
        board.slept += .seconds(seconds)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
        #expect(try (left(board) == .seconds(600)) == isFull)
    }

    @Test func supplyThatIsKnownAgainIsNoPowerThatComes() throws {
        var board = headless()
        func power(_ isExternal: Bool?) -> Event { .board(.power(PowerReading(isExternal: isExternal, level: 80))) }
        _ = board.tell(power(true))
        _ = board.begin("logger")
        _ = board.pass(.seconds(60))
        _ = board.end("logger")
        #expect(try left(board) == .seconds(540))
        _ = board.pass(.seconds(3600))
        _ = board.tell(power(nil))
        _ = board.pass(.seconds(310))
        _ = board.tell(power(true))
        #expect(try left(board) == .seconds(540))
    }

    /// logind has lost its patience: the apps were not ready, and the board slept for hours all the same.
    @Test func poolIsFullAgain_whenTheBoardSleptBeforeItsTime() throws {
        var board = Board([app("logger") { $0.start = .background }, app("kiosk")])
        board.login()
        board.start()
        _ = board.begin("logger")
        _ = board.pass(.seconds(60))
        _ = board.end("logger")
        _ = board.sleepSignal(true)
        board.monotonic += .seconds(5)
        board.slept += .seconds(7200)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .awake)
        #expect(try left(board) == .seconds(600))
    }

    @Test func poolIsFullAgainWithExternalPower_onceAnHour() throws {
        var board = try spent()
        func power(_ isExternal: Bool) -> Event { .board(.power(PowerReading(isExternal: isExternal, level: 80))) }
        _ = board.tell(power(false))
        _ = board.pass(.seconds(10))
        _ = board.tell(power(true))
        #expect(try left(board) == .seconds(600))
        _ = board.begin("logger")
        _ = board.pass(.seconds(60))
        _ = board.end("logger")
        _ = board.tell(power(false))
        _ = board.pass(.seconds(10))
        _ = board.tell(power(true))
        #expect(try left(board) == .seconds(540))
        _ = board.tell(power(false))
        _ = board.pass(.seconds(3600))
        _ = board.tell(power(true))
        #expect(try left(board) == .seconds(600))
    }

    @Test func poolOfAnAppThatWasInFrontIsNot() throws {
        var board = Board([app("camera") { $0.taskBudget = .seconds(60) }])
        board.login()
        board.start()
        try board.goBack("camera")
        let before = try board.core.backgroundTimeRemaining(of: board.id("camera"), at: board.monotonic)
        board.monotonic += .seconds(86_400)
        _ = board.tell(.timePassed)
        #expect(try board.core.backgroundTimeRemaining(of: board.id("camera"), at: board.monotonic) == before)
    }

    @Test func expirationHandlerIsCalledAgain_whenThePoolWasFilledSince() throws {
        var board = headless()
        _ = board.begin("logger")
        _ = board.pass(.seconds(27))
        _ = board.returned("logger")
        _ = board.tell(.board(.power(PowerReading(isExternal: true, level: nil))))
        #expect(
            board.pass(.seconds(595)) == [
                "task logger upload expiring 5 s", "call logger backgroundTaskWillExpire upload 5 s",
            ])
    }

    @Test func appThatIsConfiguredAgainHasNeverBeenInFront() throws {
        var board = Board([app("logger")])
        board.start()
        _ = board.tell(.configured([], DevicePolicy()))
        board.gone("logger", .exited(0))
        board.follow(.configured([app("logger") { $0.start = .background }], DevicePolicy()))
        _ = board.begin("logger")
        _ = board.pass(.seconds(10))
        _ = board.end("logger")
        board.monotonic += .seconds(86_400)
        _ = board.tell(.timePassed)
        #expect(try left(board) == .seconds(600))
    }

    @Test func poolIsFullAgainAfterADay_forTheVeryRequestThatComesFirst() throws {
        var board = try spent()
        board.monotonic += .seconds(86_400)
        #expect(board.begin("logger").contains("reply 0: begun, 10 min"))
    }
}
