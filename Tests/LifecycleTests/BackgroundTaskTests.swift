import Lifecycle
import Testing

@Suite struct BackgroundTaskTests {
    private func active(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([app("camera") { change(&$0) }])
        board.login()
        board.start()
        return board
    }

    private func remaining(_ board: Board) throws -> Nanoseconds? {
        try board.core.backgroundTimeRemaining(of: board.id("camera"), at: board.monotonic)
    }

    // MARK: The pool

    @Test func taskHasNoLimit_whileTheAppIsInFront() throws {
        var board = active()
        #expect(board.begin("camera") == ["task camera upload began", "reply 0: begun, no limit"])
        #expect(board.pass(.seconds(3600)) == [])
        #expect(try remaining(board) == nil)
        #expect(board.core.nextDeadline == nil)
        #expect(board.end("camera") == ["task camera upload ended", "reply 0: done"])
    }

    @Test func poolIsTheWholeBudget_whenATaskIsHeldAsTheAppEntersBackground() throws {
        var board = active()
        _ = board.begin("camera")
        _ = try board.ask(1, .background(board.id("camera")))
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        #expect(try remaining(board) == .seconds(600))
        #expect(board.returned("camera") == ["reply 1: done"])
        #expect(try remaining(board) == .seconds(600))
        #expect(board.pass(.seconds(100)) == [])
        #expect(try remaining(board) == .seconds(500))
        #expect(board.end("camera") == ["task camera upload ended 500 s", "reply 0: done", "freeze camera"])
    }

    @Test func poolIsThirtySeconds_whenNoTaskIsHeldByThen() throws {
        var board = active()
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.returned("camera")
        #expect(try remaining(board) == .seconds(30))
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(try remaining(board) == .seconds(30))
    }

    @Test func handlerMayStillAskForTheWholeBudget_whileItRuns() throws {
        var board = active()
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.returned("camera")
        #expect(board.begin("camera") == ["task camera upload began 10 min", "reply 0: begun, 10 min"])
        #expect(try remaining(board) == .seconds(600))
        _ = board.returned("camera")
        #expect(try remaining(board) == .seconds(600))
    }

    @Test func poolIsNotRefilled_byBeginAndEndOrByAWayThatStopsShort() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(100))
        _ = board.begin("camera", "other")
        _ = board.end("camera", "other")
        #expect(try remaining(board) == .seconds(500))
        // Called to the front, and back again before it is there.
        _ = try board.ask(2, .activate(board.id("camera")))
        #expect(board.pass(.seconds(5)) == [])
        _ = try board.ask(3, .background(board.id("camera")))
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        _ = board.returned("camera")
        #expect(try remaining(board) == .seconds(500))
    }

    @Test func poolIsRefilled_byBecomingActive() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(100))
        let effects = try board.handle(.client(.requested(RequestID(rawValue: 2), .activate(board.id("camera")))))
        _ = board.obey(effects)
        #expect(try remaining(board) == nil)
        try board.goBack("camera")
        #expect(try remaining(board) == .seconds(600))
    }

    @Test func poolRunsOnlyWhileATaskIsHeld() throws {
        var board = active { $0.suspend = false }
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(100))
        _ = board.end("camera")
        _ = board.pass(.seconds(1000))
        #expect(try remaining(board) == .seconds(500))
        #expect(board.begin("camera").last == "reply 0: begun, 500 s")
    }

    @Test func restartKeepsWhatIsLeftAndTheOperatorDoesNot() throws {
        var board = active { $0.start = .background }
        _ = board.begin("camera")
        #expect(try remaining(board) == nil || remaining(board) == .seconds(30))
        _ = board.pass(.seconds(10))
        board.crash("camera")
        _ = board.pass(.milliseconds(100))
        _ = board.spawned("camera")
        #expect(try remaining(board) == .seconds(20))
        let effects = try board.handle(
            .client(.requested(RequestID(rawValue: 2), .terminate(board.id("camera"), force: true))))
        _ = board.obey(effects)
        let launch = try board.handle(
            .client(.requested(RequestID(rawValue: 3), .launch(board.id("camera"), background: true))))
        _ = board.obey(launch)
        #expect(try remaining(board) == .seconds(30))
    }

    // MARK: Expiration

    @Test func expirationHandlersAreCalledNewestFirst_whenThePoolIsLow() throws {
        var board = active()
        _ = board.begin("camera", "old")
        _ = board.begin("camera", "new")
        try board.goBack("camera")
        #expect(board.pass(.milliseconds(594_999)) == [])
        #expect(
            board.pass(.milliseconds(1)) == [
                "task camera new expiring 5 s", "call camera backgroundTaskWillExpire new 5 s",
            ])
        #expect(
            board.begin("camera", "late") == [
                "reply 0: denied, the budget is spent; it is full again when the app becomes active"
            ])
        board.monotonic += .seconds(1)
        #expect(board.end("camera", "new") == ["task camera new ended 4 s", "reply 0: done"])
        #expect(
            board.returned("camera") == [
                "task camera old expiring 4 s", "call camera backgroundTaskWillExpire old 4 s",
            ])
        #expect(board.end("camera", "old") == ["task camera old ended 4 s", "reply 0: done"])
        #expect(board.returned("camera") == ["freeze camera"])
    }

    @Test func appIsKilled_whenItStillHoldsATaskAtTheEnd() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(595))
        #expect(board.returned("camera") == [])
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera backgroundTask: background task \"upload\" was still held when the budget of 10 min was "
                    + "spent",
                "task camera upload expired 0 ms", "clear camera",
            ])
        let end = try #require(try board.view("camera").lastTermination)
        #expect(end.reason.code == 0x2182_bad2)
        #expect(end.allowance == .seconds(600))
        #expect(end.taken == .seconds(600))
        // Not started again before it is wanted in front.
        #expect(board.emptied("camera") == [])
        #expect(board.pass(.seconds(3600)) == [])
        #expect(try board.ask(5, .activate(board.id("camera"))) == ["spawn camera user"])
    }

    @Test func appIsKilled_whenItsExpirationHandlerHangs() throws {
        var board = active { $0.taskBudget = .seconds(40) }
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.pass(.seconds(36)).last == "call camera backgroundTaskWillExpire upload 4 s")
        #expect(board.pass(.seconds(4)) == ["kill camera"])
        _ = board.exited("camera", .signalled(9))
        #expect(try board.view("camera").lastTermination?.handler == .backgroundTaskWillExpire)
    }

    @Test func nobodyIsCalled_whenTheDelegateHasNoSuchHandler() throws {
        var board = active { $0.handlers = HandlerSet(.didEnterBackground) }
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.pass(.seconds(595)) == ["task camera upload expiring 5 s"])
        #expect(board.pass(.seconds(5)) == ["kill camera"])
    }

    @Test func nobodyIsCalledWithoutTime() throws {
        var board = Board([
            app("camera") {
                $0.start = .background
                $0.allowances[.didFinishLaunching] = .seconds(60)
            }
        ])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.begin("camera")
        _ = board.pass(.milliseconds(29_900))
        _ = board.ping("camera")
        // The end of the budget falls into a stall, after which no app is judged at once.
        _ = board.stall(.milliseconds(400))
        board.monotonic += .milliseconds(100)
        #expect(board.returned("camera") == ["task camera upload expiring 0 ms"])
        #expect(board.pass(.milliseconds(150)) == ["kill camera"])
    }

    @Test func ownLimitEndsTheTaskAlone_whenItsHandlerHasReturned() throws {
        var board = active()
        #expect(board.begin("camera", allowed: .seconds(60)).last == "reply 0: begun, 60 s")
        #expect(board.pass(.seconds(59)) == [])
        #expect(
            board.pass(.seconds(1)) == [
                "task camera upload expiring 0 ms", "call camera backgroundTaskWillExpire upload 5 s",
            ])
        #expect(board.returned("camera") == ["task camera upload expired 0 ms"])
        #expect(board.end("camera") == ["reply 0: no such task"])
    }

    @Test func expirationWaitsForTheWayToBackground() throws {
        var board = active()
        _ = board.begin("camera", allowed: .seconds(1))
        _ = try board.ask(1, .background(board.id("camera")))
        #expect(board.pass(.seconds(2)) == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        #expect(board.pass(.seconds(1)) == [])
        #expect(
            board.returned("camera") == [
                "task camera upload expiring 0 ms", "call camera backgroundTaskWillExpire upload 5 s",
            ])
        #expect(
            board.returned("camera") == ["task camera upload expired 0 ms", "freeze camera"])
    }

    // MARK: Time

    @Test func frozenTimeIsNotCharged_overASleep() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(100))
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.seconds(2)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(try remaining(board) == .seconds(498))
        board.monotonic += .seconds(20)
        #expect(board.wake(afterSleeping: .seconds(7200)) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(try remaining(board) == .seconds(498))
    }

    @Test func expirationHandlerIsFrozenWithItsTime_whenASleepComesInItsMiddle() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.milliseconds(595_500))
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.seconds(2)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.wake(afterSleeping: .seconds(60)) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(board.pass(.milliseconds(2499)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func stallIsCreditedToTheBudget() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.stall(.seconds(1200)) == [])
        #expect(try remaining(board) ?? .zero > .seconds(100))
    }

    @Test func timeUntilAKilledAppIsGoneIsNotCharged() throws {
        var board = active {
            $0.start = .background
            $0.restart = .always
            $0.liveness = .seconds(10)
        }
        _ = board.begin("camera")
        #expect(board.pass(.seconds(10)) == ["kill camera"])
        _ = board.pass(.seconds(15))
        board.gone("camera")
        _ = board.pass(.milliseconds(100))
        _ = board.spawned("camera")
        #expect(try remaining(board) == .seconds(20))
    }

    @Test func nobodyIsKilledForATaskThatEndsInTheLastMoment() throws {
        var board = active { $0.taskBudget = .seconds(10) }
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(9))
        _ = board.returned("camera")
        // The loop is a little late, and hears of the end first.
        board.monotonic += .milliseconds(1100)
        #expect(board.end("camera") == ["task camera upload ended 0 ms", "reply 0: done", "freeze camera"])
    }

    @Test func launchByAnOperatorThatFailsOnceHasAFullPool() throws {
        var board = active {
            $0.start = .background
            $0.restart = .always
        }
        _ = board.begin("camera")
        _ = board.pass(.seconds(20))
        let id = try board.id("camera")
        let ended = board.handle(.client(.requested(RequestID(rawValue: 2), .terminate(id, force: true))))
        _ = board.obey(ended)
        _ = board.ask(3, .launch(id, background: true))
        _ = board.tell(
            .process(.spawnFailed(board.last("camera"), code: 2, explanation: "exec: No such file or directory")))
        _ = board.pass(.milliseconds(100))
        _ = board.spawned("camera")
        #expect(try remaining(board) == .seconds(30))
    }

    @Test func poolIsSetAsTheAppEntersBackground_evenIfItIsToEndThere() throws {
        var board = active { $0.taskBudget = .seconds(100) }
        _ = board.begin("camera")
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.returned("camera")
        _ = board.shutdownSignal(true)
        #expect(board.returned("camera").last?.hasPrefix("call camera willTerminate shutdown") == true)
        board.gone("camera", .exited(0))
        _ = board.shutdownSignal(false)
        _ = board.spawned("camera")
        #expect(try remaining(board) == .seconds(100))
    }

    // MARK: Bad input

    @Test func strangeWishesAreRefused() throws {
        var board = active()
        _ = board.begin("camera")
        _ = board.end("camera")
        #expect(board.end("camera") == ["reply 0: no such task"])
        #expect(
            board.begin("camera", keepAwake: true) == [
                "reply 0: denied, the app is not configured with task-policy = \"keep-awake\""
            ])
        for number in 1...64 { #expect(board.begin("camera", "\(number)").count == 2) }
        #expect(board.begin("camera", "65") == ["reply 0: more than 64 tasks"])
        let stranger = InstanceID(rawValue: 977)
        #expect(board.ask(1, .endBackgroundTask(stranger, BackgroundTaskID(rawValue: 2))) == ["reply 1: no such task"])
        #expect(
            board.ask(2, .beginBackgroundTask(stranger, TaskParameters(name: "x"))) == [
                "reply 2: denied, the app is being ended"
            ]
        )
        #expect(
            try board.ask(3, .terminate(board.id("camera"), force: false)) == ["call camera willTerminate user 5 s"])
        #expect(board.begin("camera") == ["reply 0: denied, the app is being ended"])
    }

    @Test func tasksDieWithTheirApp() throws {
        var board = active()
        _ = board.begin("camera", "a")
        _ = board.begin("camera", "b")
        let effects = board.exited("camera", .exited(0))
        #expect(effects.filter { $0.hasPrefix("task") } == ["task camera a died", "task camera b died"])
        #expect(try board.core.tasks(of: board.id("camera"), at: board.monotonic).isEmpty)
    }

    @Test func handlerThatBeginsTasksForEverIsStoppedByTheBudget() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.pass(.seconds(595))
        for _ in 0..<100 { #expect(board.begin("camera")[0].hasPrefix("reply 0: denied")) }
        #expect(board.pass(.seconds(5)) == ["kill camera"])
    }

    @Test func lastTaskIsHeardToEnd_beforeTheBudgetIsJudged() throws {
        var board = active()
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.pass(.milliseconds(599_999)).last == "call camera backgroundTaskWillExpire upload 5 s")
        _ = board.returned("camera")
        // Both are there when the daemon wakes.
        board.monotonic += .milliseconds(10)
        #expect(board.end("camera") == ["task camera upload ended 0 ms", "reply 0: done", "freeze camera"])
    }

    @Test func reportNamesThreeTasksAndCountsTheRest_whenTheBudgetIsSpent() throws {
        var board = startedBoard([app("camera")])
        for name in ["a", "b", "c", "d", "e"] { _ = board.begin("camera", name) }
        try board.goBack("camera")
        _ = board.pass(.seconds(700))
        _ = board.exited("camera", .signalled(9))
        let reason = try #require(board.view("camera").lastTermination).reason
        #expect(reason == .taskBudgetSpent(budget: .seconds(600), held: ["a", "b", "c"], more: 2))
    }
}
