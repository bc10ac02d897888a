import Lifecycle
import Testing

@Suite struct JetsamTests {
    private func board(_ apps: [AppPolicy]) -> Board {
        var board = Board(apps)
        board.login()
        board.start()
        return board
    }

    /// The kernel says critical, and the shell reads: megabytes.
    private func critical(_ board: inout Board, available: Int64, wanted: Int64, _ uses: [(String, Int64)]) -> [String]
    {
        var effects = board.tell(.memory(.pressure(.critical))).filter { !$0.hasPrefix("inform") }
        #expect(effects == ["read memory and uses"])
        let read = uses.map { MemoryUse(instance: board.last($0.0), bytes: $0.1 << 20) }
        effects = board.tell(.memory(.read(available: available << 20, total: wanted << 23, read)))
        return effects.filter { $0.hasPrefix("kill") }
    }

    private func warn(_ board: inout Board) -> [String] {
        #expect(board.tell(.memory(.pressure(.warning))) == ["read memory"])
        return board.tell(.memory(.read(available: 40, total: 100, [])))
    }

    private func die(_ board: inout Board, _ name: String) {
        _ = board.exited(name, .signalled(9))
        _ = board.emptied(name)
    }

    @Test func warningIsToldToEverybodyOnce() throws {
        var board = board([app("kiosk"), app("logger")])
        #expect(warn(&board) == ["inform kiosk memory warning", "inform logger memory warning"])
        for _ in 0..<20 {
            _ = board.pass(.seconds(2))
            #expect(warn(&board) == [])
        }
        #expect(board.core.device.memoryPressure == .warning)
        _ = board.pass(.seconds(10))
        #expect(board.core.device.memoryPressure == .normal)
        #expect(warn(&board).count == 2)
    }

    @Test func suspendedGoFirst_lowestBandFirst_largestFirst() throws {
        var board = board([
            app("front") { $0.priorityBand = 1 }, app("small") { $0.priorityBand = 50 },
            app("large") { $0.priorityBand = 50 }, app("lower") { $0.priorityBand = 40 },
        ])
        for name in ["small", "large", "lower"] { try board.goBack(name) }
        let uses: [(String, Int64)] = [("front", 200), ("small", 10), ("large", 30), ("lower", 5)]
        #expect(critical(&board, available: 20, wanted: 50, uses) == ["kill lower", "kill large"])
    }

    @Test func noMoreThanNeeded_butOne() throws {
        var board = board([app("one"), app("two")])
        for name in ["one", "two"] { try board.goBack(name) }
        // Enough is available: the pressure is real all the same.
        #expect(critical(&board, available: 100, wanted: 60, [("one", 10), ("two", 20)]) == ["kill two"])
    }

    @Test func victimIsGoneAndTimeHasPassed_beforeTheNext() throws {
        var board = board([app("one"), app("two"), app("three")])
        for name in ["one", "two", "three"] { try board.goBack(name) }
        let uses: [(String, Int64)] = [("one", 30), ("two", 20), ("three", 10)]
        #expect(critical(&board, available: 0, wanted: 10, uses) == ["kill one"])
        _ = board.pass(.seconds(2))
        #expect(critical(&board, available: 0, wanted: 10, uses) == [])
        die(&board, "one")
        #expect(critical(&board, available: 0, wanted: 10, uses) == ["kill two"])
        die(&board, "two")
        board.monotonic += .milliseconds(999)
        #expect(critical(&board, available: 0, wanted: 10, uses) == [])
        board.monotonic += .milliseconds(1)
        #expect(critical(&board, available: 0, wanted: 10, uses) == ["kill three"])
    }

    @Test func protectedAppIsEndedOnlyWhenNobodyElseIsLeft() throws {
        var board = board([app("guarded") { $0.priorityBand = 900 }, app("other") { $0.priorityBand = 899 }])
        let uses: [(String, Int64)] = [("guarded", 500), ("other", 4)]
        #expect(critical(&board, available: 0, wanted: 400, uses) == ["kill other"])
        die(&board, "other")
        _ = board.pass(.seconds(2))
        #expect(critical(&board, available: 0, wanted: 400, uses) == ["kill guarded"])
        die(&board, "guarded")
        let why = try board.view("guarded").lastTermination?.reason.explanation
        #expect(why?.hasSuffix("the app had 500 MiB and was protected, but no other was left to be ended") == true)
        _ = board.pass(.seconds(2))
        #expect(critical(&board, available: 0, wanted: 400, []) == [])
    }

    @Test func victimSaysWhy_andIsNotRestartedInBackground() throws {
        var board = board([app("logger")])
        try board.goBack("logger")
        _ = critical(&board, available: 3, wanted: 50, [("logger", 12)])
        let ended = board.exited("logger", .signalled(9))
        #expect(ended.first?.hasPrefix("report logger jetsam") == true, "\(ended)")
        let reason = try #require(try board.view("logger").lastTermination?.reason)
        #expect(reason.explanation == "memory was critically short (3 MiB available); the app had 12 MiB")
        _ = board.emptied("logger")
        #expect(board.pass(.seconds(600)) == [])
        #expect(try board.view("logger").taskState == .notRunning)
    }

    @Test func whoWasInFrontComesBack_whenMemoryIsWellAgain() throws {
        var board = board([app("kiosk")])
        _ = critical(&board, available: 3, wanted: 50, [("kiosk", 12)])
        die(&board, "kiosk")
        #expect(board.pass(.seconds(9)) == [])
        #expect(board.pass(.seconds(1)) == ["spawn kiosk restart"])
    }

    @Test func whoIsKilledByOthersWaitsLongerEachTime_andIsLeftDown() throws {
        var board = board([app("kiosk") { $0.restartLimit = 4 }])
        for delay in [100, 200, 400] {
            _ = board.tell(.memory(.killed(board.last("kiosk"))))
            die(&board, "kiosk")
            #expect(board.pass(.milliseconds(Int64(delay) - 1)) == [])
            #expect(board.pass(.milliseconds(1)) == ["spawn kiosk restart"])
        }
        _ = board.tell(.memory(.killed(board.last("kiosk"))))
        die(&board, "kiosk")
        #expect(try board.view("kiosk").isLeftDown)
        #expect(board.pass(.seconds(600)) == [])
    }

    @Test func whoIsKilledByOthersWaitsForTheBoardToBeWell() throws {
        var board = board([app("kiosk")])
        _ = warn(&board)
        _ = board.tell(.memory(.killed(board.last("kiosk"))))
        die(&board, "kiosk")
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["spawn kiosk restart"])
    }

    @Test func whoIsKilledByOthersInBackgroundStaysThere() throws {
        var board = board([app("logger")])
        try board.goBack("logger")
        _ = board.tell(.memory(.killed(board.last("logger"))))
        die(&board, "logger")
        #expect(board.pass(.seconds(600)) == [])
    }

    @Test func whoWasAskedToEndDoesNotComeBack_whenMemoryEndsItFirst() throws {
        var board = board([app("kiosk")])
        _ = try board.ask(1, .terminate(board.id("kiosk"), force: false))
        _ = critical(&board, available: 3, wanted: 50, [("kiosk", 12)])
        die(&board, "kiosk")
        #expect(board.pass(.seconds(600)) == [])
    }

    @Test func operatorsEndCountsMore() throws {
        var board = board([app("kiosk")])
        _ = critical(&board, available: 3, wanted: 50, [("kiosk", 12)])
        die(&board, "kiosk")
        let kiosk = try board.id("kiosk")
        #expect(board.ask(1, .terminate(kiosk, force: false)) == ["reply 1: done"])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test(arguments: [(MemoryKiller.kernel, "killed by the kernel"), (.oomd, "killed by systemd-oomd")])
    func othersKillIsRecordedAsWhatItIs(killer: MemoryKiller, words: String) throws {
        var board = board([app("kiosk")])
        #expect(board.tell(.memory(.killed(board.last("kiosk"), by: killer))) == [])
        _ = board.exited("kiosk", .signalled(9))
        let reason = try #require(try board.view("kiosk").lastTermination?.reason)
        #expect(reason.namespace == .jetsam)
        #expect(reason.code == 9)
        #expect(reason.explanation.hasPrefix(words))
    }

    @Test func appAtItsOwnLimitIsWarned_alone() throws {
        var board = board([app("kiosk"), app("logger")])
        #expect(board.tell(.memory(.limitReached(board.last("logger")))) == ["inform logger memory warning"])
        #expect(board.core.device.memoryPressure == .normal)
        // The kernel says so again and again.
        #expect(board.tell(.memory(.limitReached(board.last("logger")))) == [])
        #expect(board.pass(.seconds(10)) == ["watch limit logger"])
        #expect(board.tell(.memory(.limitReached(board.last("logger")))) == ["inform logger memory warning"])
    }

    @Test func answerNobodyAskedForEndsNobody() throws {
        var board = board([app("kiosk")])
        #expect(board.tell(.memory(.read(available: 0, total: 1 << 30, []))) == [])
    }

    @Test func appThatWaitsAtItsOwnLimitIsNoShortageOfTheBoard() throws {
        var board = board([app("kiosk")])
        #expect(board.tell(.memory(.pressure(.critical))) == ["read memory and uses"])
        #expect(board.tell(.memory(.read(available: 51, total: 100, []))) == [])
        #expect(board.core.device.memoryPressure == .normal)
        // Between a half and a quarter it is a warning.
        _ = board.tell(.memory(.pressure(.critical)))
        #expect(board.tell(.memory(.read(available: 26, total: 100, []))) == ["inform kiosk memory warning"])
        #expect(board.core.device.memoryPressure == .warning)
    }
}
