import Lifecycle
import Testing

/// Budgets that low power mode cuts while they run: what is said of their end is what the tasks really had.
@Suite struct LowPowerBudgetTests {
    private func active() -> Board {
        var board = Board([app("camera") { $0.keepsAwake = true }])
        board.login()
        board.start()
        return board
    }

    @Test func reportSaysWhatTheTasksHad_whenTheBudgetWasCut() throws {
        var board = active()
        _ = board.begin("camera", keepAwake: false)
        try board.goBack("camera")
        _ = board.pass(.seconds(100))
        _ = board.ask(7, .setLowPower(true))
        #expect(board.pass(.seconds(25)).last == "call camera backgroundTaskWillExpire upload 5 s")
        _ = board.returned("camera")
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        _ = board.exited("camera", .signalled(9))
        let end = try #require(board.view("camera").lastTermination)
        #expect(end.reason == .taskBudgetSpent(budget: .seconds(130), held: ["upload"], more: 0))
        #expect(end.allowance == .seconds(130) && end.taken == .seconds(130))
    }

    @Test func budgetIsShort_whenLowPowerModeComesBeforeItIsUsed() throws {
        var board = active()
        _ = board.begin("camera", keepAwake: false)
        try board.goBack("camera")
        _ = board.ask(7, .setLowPower(true))
        #expect(board.pass(.seconds(25)).last == "call camera backgroundTaskWillExpire upload 5 s")
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        _ = board.exited("camera", .signalled(9))
        #expect(try #require(board.view("camera").lastTermination).allowance == .seconds(30))
    }

    @Test(arguments: [(Nanoseconds.seconds(100), Nanoseconds.seconds(130)), (.zero, .seconds(30))])
    func noticeSaysForHowLongTheBoardWasKeptAwake(before: Nanoseconds, all: Nanoseconds) throws {
        var board = active()
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        _ = board.pass(before)
        _ = board.ask(7, .setLowPower(true))
        var said: [Nanoseconds] = []
        for _ in 0..<300 {
            board.monotonic += .milliseconds(100)
            for case .note(.app(.keepAwakeSpent(_, let budget))) in board.handleAll(.timePassed) { said.append(budget) }
        }
        #expect(said == [all])
    }
}
