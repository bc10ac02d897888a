import Lifecycle
import Testing

/// A shutdown that is cancelled brings back what it ended, and nothing else.
@Suite struct CancelledShutdownTests {
    @Test func crashedAppThatIsNeverRestartedStaysDown_whenAShutdownIsCancelledAsItIsClearedAway() throws {
        var board = startedBoard([app("camera") { $0.restart = .never }])
        _ = board.exited("camera", .signalled(11))
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(board.emptied("camera") == [])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func crashedAppThatIsNeverRestartedStaysDown_whenAChargerEndsTheShutdownForALowBattery() throws {
        var board = startedBoard([app("camera") { $0.restart = .never }])
        _ = board.tell(.board(.power(PowerReading(isExternal: false, level: 1))))
        _ = board.pass(.milliseconds(4900))
        _ = board.exited("camera", .signalled(11))
        _ = board.pass(.milliseconds(200))
        #expect(board.core.device.isShuttingDown)
        _ = board.tell(.board(.power(PowerReading(isExternal: true, level: 50))))
        _ = board.pass(.milliseconds(100))
        #expect(!board.core.device.isShuttingDown)
        #expect(board.emptied("camera") == [])
        #expect(board.pass(.seconds(60)) == [])
        #expect(try !board.view("camera").restartPending)
        #expect(try board.view("camera").lastTermination?.reason.namespace == .crash)
    }

    @Test func backgroundAppThatHeatEndedStaysDown_whenAShutdownIsCancelledAsItIsClearedAway() throws {
        var board = startedBoard([app("camera") { $0.suspend = false }])
        try board.goBack("camera")
        #expect(board.tell(zone(99_000)).contains("kill camera"))
        _ = board.exited("camera", .signalled(9))
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        _ = board.emptied("camera")
        #expect(!board.tell(zone(40_000)).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }

    @Test func backgroundAppThatHeatEndedStaysDown_whenAShutdownAfterItIsCancelled() throws {
        var board = startedBoard([app("camera") { $0.suspend = false }])
        try board.goBack("camera")
        _ = board.tell(zone(99_000))
        board.gone("camera")
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(!board.tell(zone(40_000)).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }

    @Test(arguments: [false, true])
    func backgroundAppThatHeatEndedStaysDown_whenAShutdownIsCancelledBeforeOrAfterItIsDead(_ isDeadFirst: Bool) throws {
        var board = startedBoard([app("camera") { $0.suspend = false }])
        try board.goBack("camera")
        #expect(board.tell(zone(99_000)).contains("kill camera"))
        _ = board.shutdownSignal(true)
        if isDeadFirst { _ = board.exited("camera", .signalled(9)) }
        _ = board.shutdownSignal(false)
        if !isDeadFirst { _ = board.exited("camera", .signalled(9)) }
        _ = board.emptied("camera")
        _ = board.tell(zone(40_000))
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }

    @Test func appThatSpentItsBudgetStaysDown_whenAShutdownIsCancelledAsItIsClearedAway() throws {
        var board = startedBoard([
            app("camera") {
                $0.taskBudget = .seconds(60); $0.handlers = []
            }
        ])
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.pass(.seconds(60)).contains("kill camera"))
        _ = board.exited("camera", .signalled(9))
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(!board.emptied("camera").contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }

    @Test func killedAppThatIsNeverRestartedStaysDown_whenAShutdownIsCancelledBeforeItIsDead() throws {
        var board = try overrunBoard { $0.restart = .never }
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(board.gone("camera") == [])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func appThatIsNeverRestartedStaysDown_whenItCrashesInAShutdownThatIsCancelled() throws {
        var board = startedBoard([app("storage") { $0.restart = .never }, app("camera") { $0.after = ["storage"] }])
        // The others end first.
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 2.25 s"])
        #expect(board.crash("storage") == [])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.returned("camera") == ["terminate camera"])
        #expect(board.gone("camera", .exited(0)) == ["spawn camera restart"])
        #expect(try board.view("storage").lastTermination?.reason.namespace == .crash)
        #expect(try !board.view("storage").restartPending)
        #expect(try board.view("storage").launches == 1)
    }

    @Test func manualAppStaysDown_whenItWasRemovedAndConfiguredAgainInAShutdownThatIsCancelled() throws {
        var board = startedBoard([app("camera")])
        _ = board.shutdownSignal(true)
        _ = board.tell(.configured([], DevicePolicy()))
        board.answerAll()
        board.gone("camera", .exited(0))
        _ = board.tell(.configured([manual("camera")], DevicePolicy()))
        #expect(board.shutdownSignal(false) == ["take shutdown"])
        #expect(board.pass(.seconds(20)) == [])
        #expect(try !board.view("camera").restartPending)
        #expect(board.phase("camera") == "-")
    }

    @Test func frontIsKept_whenAReloadAddsAnAppInAShutdownThatIsCancelled() throws {
        var board = startedBoard([app("map")], front: .one)
        board.follow(.login(.prepareForShutdown(true, delayMax: .seconds(5), signalled: board.monotonic)))
        board.gone("map", .exited(0))
        _ = board.tell(.configured([app("map"), app("radio")], oneInFront()))
        board.follow(.login(.prepareForShutdown(false, delayMax: nil, signalled: board.monotonic)))
        board.answerAll()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func restartComesAtItsTime_whenAShutdownIsCancelledInItsDelay() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .seconds(6) }])
        board.gone("camera", .exited(1))
        _ = board.pass(.seconds(1))
        _ = board.shutdownSignal(true)
        _ = board.pass(.seconds(1))
        #expect(!board.shutdownSignal(false).contains { $0.hasPrefix("spawn") })
        #expect(board.pass(.milliseconds(3900)) == [])
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
    }

    // MARK: What ends in the middle of it

    @Test func appComesBackWhenTheBoardIsWell_whenAShutdownBeginsAsHeatClearsItAway() throws {
        var board = startedBoard([app("camera")])
        #expect(board.tell(zone(99_000)).contains("kill camera"))
        _ = board.exited("camera", .signalled(9))
        _ = board.pass(.milliseconds(100))
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        _ = board.emptied("camera")
        #expect(board.tell(zone(40_000)) == [])
        #expect(board.pass(.seconds(30)).contains("spawn camera restart"))
    }

    @Test func appOfTheBootIsStarted_whenAReloadBroughtItBackInAShutdownThatIsCancelled() throws {
        var board = startedBoard([app("camera")])
        _ = board.shutdownSignal(true)
        _ = board.tell(.configured([], DevicePolicy()))
        _ = board.returned("camera")
        _ = board.exited("camera")
        _ = board.tell(.configured([app("camera")], DevicePolicy()))
        _ = board.pass(.seconds(1))
        _ = board.shutdownSignal(false)
        #expect(board.emptied("camera") == ["spawn camera boot"])
    }

    @Test func appThatWasEndingByItsOwnWishIsBack() throws {
        var board = startedBoard([app("camera") { $0.restart = .always }])
        _ = board.stopping("camera")
        #expect(board.shutdownSignal(true) == ["terminate camera"])
        _ = board.gone("camera", .exited(0))
        #expect(board.shutdownSignal(false).contains("spawn camera restart"))
    }

    @Test func appThatOverranTheShutdownIsBack_thoughItIsNotRestartedOtherwise() throws {
        var board = startedBoard([app("camera") { $0.restart = .never }])
        #expect(board.shutdownSignal(true).contains { $0.hasPrefix("call camera willTerminate") })
        #expect(board.pass(.seconds(5)).contains("kill camera"))
        board.gone("camera")
        #expect(board.shutdownSignal(false).contains("spawn camera restart"))
    }

    @Test func appThatAnOperatorEndsStaysDown_thoughItOverranTheShutdown() throws {
        var board = startedBoard([app("camera")])
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        _ = board.shutdownSignal(true)
        #expect(board.pass(.seconds(10)).contains("kill camera"))
        board.gone("camera")
        #expect(!(board.shutdownSignal(false) + board.pass(.seconds(60))).contains { $0.hasPrefix("spawn") })
    }

    @Test func launchThatStoodIsNotPutOff_whenItsAppWasOnceEndedForMemory() throws {
        var board = startedBoard([manual("server"), app("camera") { $0.after = ["server"] }])
        _ = board.tell(.memory(.pressure(.critical)))
        let use = MemoryUse(instance: board.last("camera"), bytes: 100 << 20)
        #expect(board.tell(.memory(.read(available: 0, total: 1 << 30, [use]))).contains("kill camera"))
        board.gone("camera")
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        _ = try board.ask(2, .launch(board.id("server"), background: true))
        _ = try board.ask(3, .launch(board.id("camera"), background: false))
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 3))))
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(try board.view("camera").restartPending)
    }

    @Test func appIsLeftDown_whenItCrashesTooOftenInTheMiddle() throws {
        var board = startedBoard([
            app("server") { $0.restartLimit = 1 }, manual("radio") { $0.after = ["server"] },
        ])
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = board.shutdownSignal(true)
        // Its own wave has not begun.
        board.crash("server")
        #expect(!board.shutdownSignal(false).contains { $0.hasPrefix("spawn server") })
        #expect(try board.view("server").isLeftDown)
    }

    @Test func restartIsDelayed_whenAnAppCrashesInTheMiddle() throws {
        var board = startedBoard([
            app("server") { $0.restartDelay = .seconds(20) }, manual("radio") { $0.after = ["server"] },
        ])
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = board.shutdownSignal(true)
        board.crash("server")
        #expect(!board.shutdownSignal(false).contains { $0.hasPrefix("spawn server") })
        #expect(board.pass(.seconds(20)).contains("spawn server restart"))
    }
}
