import Lifecycle
import Testing

@Suite struct StopTests {
    private func running(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([
            app("camera") {
                $0.restart = .always; change(&$0)
            }
        ])
        board.login()
        board.start()
        return board
    }

    private func terminate(_ board: inout Board, force: Bool = false) throws -> [String] {
        try board.ask(1, .terminate(board.id("camera"), force: force))
    }

    @Test func appDoesNotComeBack_whenAnOperatorEndsItWhileItIsKilled() throws {
        var board = Board([app("camera") { $0.liveness = .seconds(30) }])
        board.login()
        board.start()
        let camera = try board.id("camera")
        #expect(board.pass(.seconds(30)).contains("kill camera"))
        #expect(board.ask(1, .terminate(camera, force: false)) == [])
        #expect(board.exited("camera", .signalled(9)).first?.hasPrefix("report camera watchdog") == true)
        #expect(board.emptied("camera") == ["reply 1: done"])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func appStaysEnded_whenAShutdownIsCalledOffThatCameAfterAnOperatorsWord() throws {
        var board = Board([app("camera") { $0.launch = .manual }])
        board.login()
        board.start()
        let camera = try board.id("camera")
        _ = board.ask(1, .launch(camera, background: false))
        _ = board.ask(2, .terminate(camera, force: false))
        _ = board.tell(.login(.prepareForShutdown(true, delayMax: .seconds(5), signalled: board.monotonic)))
        _ = board.spawned("camera")
        #expect(board.exited("camera", .signalled(9)).first?.hasPrefix("report camera user") == true)
        _ = board.emptied("camera")
        _ = board.tell(.login(.prepareForShutdown(false, delayMax: .seconds(5), signalled: board.monotonic)))
        #expect(!board.pass(.seconds(10)).contains { $0.hasPrefix("spawn") })
    }

    /// It has ended as it was asked to; only what it has left did not.
    @Test(arguments: [true, false])
    func appHasEndedInOrder_whenOnlyWhatItHasLeftIsKilled(hasAnswered: Bool) throws {
        var board = running()
        #expect(try terminate(&board) == ["call camera willTerminate user 5 s"])
        #expect(board.pass(.seconds(2)) == [])
        if hasAnswered { #expect(board.returned("camera") == ["terminate camera"]) }
        #expect(board.leavesOthers("camera") == [])
        #expect(try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60)))) == [])
        #expect(try board.view("camera").taskState == .terminating)
        #expect(board.pass(.milliseconds(2999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        #expect(board.exited("camera") == ["report camera user: ended by an operator", "clear camera"])
        #expect(board.emptied("camera") == ["reply 1: done"])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func whatIsLeftBehindMeansNothing_whenTheAppWasNotAskedToEnd() {
        var board = running()
        #expect(board.leavesOthers("camera") == [])
        #expect(board.exited("camera").first == "report camera exit: exited by itself")
    }

    @Test func appIsCalledThenSignalledThenKilled_whenItDoesNotGo() throws {
        var board = running()
        #expect(try terminate(&board) == ["call camera willTerminate user 5 s"])
        #expect(board.pass(.seconds(2)) == [])
        #expect(board.returned("camera") == ["terminate camera"])
        #expect(try board.view("camera").taskState == .terminating)
        // What is left of the 5 s.
        #expect(board.pass(.milliseconds(2999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera watchdog: process-exit: the app did not exit within 5 s of being asked to",
                "clear camera",
            ])
        #expect(board.emptied("camera") == ["reply 1: done"])
    }

    @Test func signalIsTheCall_whenThereIsNoDelegate() throws {
        var board = running { $0.handlers = [] }
        #expect(try terminate(&board) == ["terminate camera"])
        #expect(board.pass(.seconds(5)) == ["kill camera"])
    }

    @Test func everythingIsKilledAtOnce_whenForced() throws {
        var board = running()
        #expect(try terminate(&board, force: true) == ["kill camera"])
        #expect(try board.ask(2, .terminate(board.id("camera"), force: false)) == [])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera user: ended by an operator, at once", "clear camera",
            ])
        #expect(board.emptied("camera") == ["reply 1: done", "reply 2: done"])
    }

    @Test func suspendedAppIsKilledWithoutACall_whenEnded() throws {
        var board = running { $0.start = .background }
        #expect(try terminate(&board) == ["kill camera"])
    }

    @Test func runningHandlerReturnsFirst_whenEnded() throws {
        var board = running()
        _ = try board.ask(2, .background(board.id("camera")))
        #expect(try terminate(&board) == [])
        #expect(board.returned("camera") == ["call camera willTerminate user 5 s"])
    }

    @Test func waitForReadyIsNoHandler_whenEnded() throws {
        var board = Board([app("camera") { $0.readiness = .notify }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.returned("camera")
        #expect(try terminate(&board) == ["call camera willTerminate user 5 s"])
    }

    @Test func replyIsEnough_whenEndedWhileReadyIsAwaitedToo() throws {
        var board = Board([app("camera") { $0.readiness = .notify }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        #expect(try terminate(&board) == [])
        #expect(board.returned("camera") == ["call camera willTerminate user 5 s"])
    }

    @Test func appIsKilledAsSoonAsItStarts_whenEndedWhileSpawning() throws {
        var board = Board([app("camera")])
        _ = board.tell(.started)
        #expect(try terminate(&board) == [])
        #expect(board.spawned("camera") == ["kill camera"])
        #expect(board.gone("camera") == ["reply 1: done"])
    }

    @Test func unkillableProcessIsNamedAndNothingReplacesIt_whenInDState() throws {
        var board = running()
        _ = try terminate(&board, force: true)
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["unkillable camera"])
        #expect(try board.ask(2, .launch(board.id("camera"), background: false)) == [])
        #expect(board.pass(.seconds(600)) == [])
        #expect(board.gone("camera") == ["spawn camera user", "reply 1: done"])
    }

    @Test func appEndsByItsOwnWish_whenItSaysStopping() throws {
        var board = running()
        #expect(board.stopping("camera") == [])
        #expect(try board.view("camera").taskState == .terminating)
        #expect(board.stopping("camera") == [])
        #expect(board.exited("camera") == ["report camera exit: exited by itself", "clear camera"])
        _ = board.emptied("camera")
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
    }

    @Test func appIsKilled_whenItSaysStoppingAndStays() throws {
        var board = running()
        _ = board.stopping("camera")
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera watchdog: process-exit: the app did not exit within 5 s of being asked to",
                "clear camera",
            ])
    }

    @Test func appIsNotAskedToEnd_whenItSaysStoppingAsItsHandlerStillRuns() throws {
        var board = running()
        #expect(try board.ask(2, .background(board.id("camera"))) == ["call camera willResignActive 10 s"])
        #expect(try terminate(&board) == [])
        _ = board.stopping("camera")
        // A reply after that is one of an app that is on its way out.
        #expect(board.returned("camera") == [])
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        #expect(board.exited("camera", .signalled(9)).first?.hasPrefix("report camera watchdog") == true)
    }

    @Test func appIsAskedAfterAll_whenItSaysStoppingAndAnOperatorEndsIt() throws {
        var board = running()
        _ = board.stopping("camera")
        #expect(try terminate(&board) == ["terminate camera"])
        #expect(board.exited("camera") == ["report camera user: ended by an operator", "clear camera"])
    }

    @Test func stoppingLieDoesNotHoldUpTheSleep_whenOneIsPrepared() throws {
        var board = running { $0.allowances[.willTerminate] = .seconds(60) }
        _ = board.stopping("camera")
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func exitMayBeExtended_whenTheAppAsks() throws {
        var board = running()
        _ = try terminate(&board)
        _ = board.pass(.seconds(4))
        #expect(board.tell(.app(.extendTimeout(board.last("camera"), .seconds(100)))) == [])
        _ = board.pass(.seconds(6))
        #expect(board.returned("camera") == ["terminate camera"])
        // 15 s in all.
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func extensionEndsWithTheShutdown_whenTheBoardGoesDown() throws {
        var board = running()
        _ = board.shutdownSignal(true)
        #expect(board.tell(.app(.extendTimeout(board.last("camera"), .seconds(100)))) == [])
        #expect(board.pass(.milliseconds(4500)) == ["kill camera"])
    }

    @Test func appIsKilledWithoutACall_whenItIsFrozenBeforeItsHandlerReturns() throws {
        var board = running()
        _ = try board.ask(2, .background(board.id("camera")))
        // The end waits for the handler, and the sleep does not.
        #expect(try terminate(&board) == [])
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        // A reply that was under way.
        #expect(board.returned("camera") == ["kill camera"])
        #expect(board.exited("camera", .signalled(9)).first == "report camera user: ended by an operator")
    }
}
