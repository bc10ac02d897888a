import Lifecycle
import Testing

/// Several wishes for one app or for two, of which some are denied: each that is denied is as if it had never come.
@Suite struct DeniedWishTests {
    private func board(_ apps: [AppPolicy], front: FrontPolicy = .many) -> Board {
        var policy = DevicePolicy()
        policy.front = front
        var board = Board(apps, device: policy)
        board.login()
        board.start()
        return board
    }

    /// It is being killed for a handler that overran.
    private func killing(_ change: (inout AppPolicy) -> Void = { _ in }) throws -> Board {
        var board = board([app("camera", change)])
        _ = try board.ask(90, .background(board.id("camera")))
        #expect(board.pass(.seconds(10)) == ["kill camera"])
        return board
    }

    /// It is killed, the board sleeps for a minute, and is awake for a while.
    private func endSleepAndWake(_ board: inout Board) -> [String] {
        _ = board.exited("camera", .signalled(9))
        _ = board.emptied("camera")
        board.slept += .seconds(60)
        return board.sleepSignal(false) + board.pass(.seconds(25))
    }

    private let awake = ["sleep is over", "take sleep"]

    // MARK: Launches

    @Test(arguments: [false, true])
    func appStaysDown_whenAnOperatorEndedItBetweenAnActivationAndALaunchThatAreDenied(_ force: Bool) throws {
        var board = board([app("camera"), app("map")])
        let camera = try board.id("camera")
        try board.goBack("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .terminate(camera, force: force))
        _ = board.ask(3, .launch(camera, background: false))
        // Each is denied for another reason.
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepAMinute().contains("reply 3: denied, sleeping"))
        // Without force it has been asked to end, and is killed, in the sleep.
        #expect(board.phase("camera") == (force ? "background" : "-"))
        if force {
            _ = board.exited("camera", .signalled(9))
            #expect(board.emptied("camera") == ["reply 2: done"])
        }
        #expect(board.pass(.seconds(60)) == [])
        #expect(try board.view("camera").launches == 1)
        #expect(try !board.view("camera").restartPending)
        #expect(board.phase("camera") == "-")
    }

    @Test func appStaysDown_whenWhatAnOperatorEndedIsGoneInTheSleepThatDeniedItsLaunch() throws {
        var board = board([app("camera") { $0.restart = .never }])
        let camera = try board.id("camera")
        try board.goBack("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .terminate(camera, force: false))
        _ = board.ask(3, .launch(camera, background: false))
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        #expect(endSleepAndWake(&board) == awake)
    }

    @Test func appStaysDown_whenAnOperatorEndedItBetweenTwoWishesThatAreDenied() throws {
        var board = try killing()
        let camera = try board.id("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.exited("camera", .signalled(9))
        #expect(board.emptied("camera") == ["spawn camera user"])
        _ = board.ask(2, .terminate(camera, force: false))
        _ = board.spawned("camera")
        _ = board.ask(3, .launch(camera, background: false))
        _ = board.tell(.lid(closed: true))
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        #expect(endSleepAndWake(&board) == awake)
    }

    @Test func launchStands_whenTheClientOfOneOfThreeIsGone() throws {
        var board = try killing { $0.restart = .never }
        let camera = try board.id("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .launch(camera, background: false))
        _ = board.ask(3, .launch(camera, background: false))
        _ = board.tell(.lid(closed: true))
        _ = board.tell(.requestAbandoned(RequestID(rawValue: 2)))
        #expect(board.sleepSignal(true) == ["reply 3: denied, sleeping"])
        #expect(endSleepAndWake(&board).contains("spawn camera user background"))
    }

    @Test func launchIsCalledOff_whenAnEarlierOneThatStoodHasBegunAndEnded() throws {
        var board = try killing { $0.restart = .never }
        let camera = try board.id("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .activate(camera))
        _ = board.tell(.requestAbandoned(RequestID(rawValue: 2)))
        _ = board.exited("camera", .signalled(9))
        #expect(board.emptied("camera") == ["spawn camera user"])
        _ = board.spawned("camera")
        #expect(board.pass(.seconds(20)) == ["kill camera"])
        _ = board.ask(3, .launch(camera, background: false))
        _ = board.tell(.lid(closed: true))
        _ = board.sleepSignal(true)
        #expect(endSleepAndWake(&board) == awake)
    }

    @Test func appStaysInFront_whenTheLaterOfTwoLaunchesThatWishedItHasBegun() throws {
        var board = try killing()
        let camera = try board.id("camera")
        _ = board.ask(1, .launch(camera, background: true))
        _ = board.ask(2, .launch(camera, background: false))
        _ = board.exited("camera", .signalled(9))
        #expect(board.emptied("camera") == ["spawn camera user"])
        _ = board.spawned("camera")
        #expect(board.sleepSignal(true) == ["reply 1: denied, sleeping", "reply 2: denied, sleeping"])
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        board.slept += .seconds(60)
        #expect(board.sleepSignal(false).contains("call camera willEnterForeground 10 s"))
    }

    @Test func restartIsOwedOnce_whenTwoLaunchesAreDenied() throws {
        var board = try killing { $0.restartDelay = .seconds(20) }
        let camera = try board.id("camera")
        _ = board.ask(1, .launch(camera, background: false))
        _ = board.ask(2, .launch(camera, background: false))
        _ = board.exited("camera", .signalled(9))
        let asleep = Event.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)
        let restart = Effect.note(.restartScheduled(camera, delay: .seconds(20)))
        #expect(board.handleAll(asleep).filter { $0 == restart } == [restart])
    }

    @Test func restartIsOwed_thoughAShutdownWasCancelledInTheEnd() throws {
        var board = try killing { $0.restartDelay = .seconds(20) }
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        _ = board.exited("camera", .signalled(9))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        _ = board.emptied("camera")
        board.slept += .seconds(60)
        #expect(board.sleepSignal(false) == awake)
        #expect(board.pass(.seconds(20)) == ["spawn camera restart background"])
    }

    @Test func noRestartIsOwed_whenAReloadForbidsItAsTheAppIsClearedAway() throws {
        var board = try killing()
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        _ = board.exited("camera", .signalled(9))
        _ = board.tell(.configured([app("camera") { $0.restart = .never }], DevicePolicy()))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        _ = board.emptied("camera")
        board.slept += .seconds(60)
        #expect(board.sleepSignal(false) + board.pass(.seconds(25)) == awake)
        #expect(try !board.view("camera").restartPending)
    }

    // MARK: The front

    @Test func appThatWasSentBackStaysThere_whenTheOneInItsPlaceIsDenied() throws {
        var board = board([app("camera"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = board.exited("camera", .signalled(9))
        _ = try board.ask(2, .launch(board.id("camera"), background: true))
        #expect(board.emptied("camera") == ["spawn camera user background"])
        _ = board.spawned("camera")
        #expect(board.returned("camera").contains("reply 2: done"))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        #expect(try phaseAfterTheSleep(&board, "camera") == .background)
    }

    @Test func launchOfAnAppThatMadeWayIsCalledOff() throws {
        var board = board(
            [
                app("camera") {
                    $0.launch = .manual; $0.restart = .never
                }, app("radio"),
            ], front: .one)
        // It waits for the end of what ran before.
        _ = try board.ask(90, .launch(board.id("camera"), background: true))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = try board.ask(91, .terminate(board.id("camera"), force: true))
        #expect(try board.ask(1, .activate(board.id("camera"))).contains("call radio willResignActive 10 s"))
        #expect(
            try board.ask(2, .activate(board.id("radio"))).contains(
                "reply 1: denied, another request changed its phase"))
        _ = board.exited("camera", .signalled(9))
        #expect(board.emptied("camera") == ["reply 91: done"])
        #expect(try !board.view("camera").restartPending)
    }

    private func phaseAfterTheSleep(_ board: inout Board, _ name: String) throws -> ScenePhase? {
        // What is not awaited is dropped.
        for app in ["camera", "radio", "camera", "radio", "camera", "radio"] { _ = board.returned(app) }
        _ = board.pass(.seconds(5))
        board.slept += .seconds(60)
        _ = board.obey(board.prepareForSleep(false))
        return try board.view(name).phase
    }

    // MARK: Processes that are taken over

    @Test func noTaskBegins_whenAReloadConfiguresWhatNoClientWaitsForAnyMore() throws {
        var board = board([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync", timeAllowed: .seconds(60))))
        _ = board.tell(.requestAbandoned(RequestID(rawValue: 1)))
        _ = board.tell(.configured([app("task-sync") { $0.launch = .manual }], DevicePolicy()))
        _ = board.tell(.spawnFailed(board.last("task-sync"), code: 2, explanation: "no such file"))
        #expect(board.pass(.seconds(1)) == ["spawn task-sync restart background"])
        #expect(board.spawned("task-sync") == ["call task-sync didFinishLaunching restart 20 s"])
    }
}
