import Lifecycle
import Testing

@Suite struct ShutdownTests {
    private func board(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([
            app("storage", change),
            app("camera") {
                $0.after = ["storage"]; change(&$0)
            },
        ])
        board.login()
        board.start()
        return board
    }

    @Test func appsEndInWavesAndTheLockIsReleased_whenTheBoardShutsDown() throws {
        var board = board()
        // 4.5 s for two waves.
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 2.25 s"])
        board.monotonic += .milliseconds(500)
        #expect(board.returned("camera") == ["terminate camera"])
        #expect(
            board.exited("camera") == [
                "report camera shutdown: the board shuts down or the supervisor was stopped", "clear camera",
            ])
        #expect(board.emptied("camera") == ["call storage willTerminate shutdown 4 s"])
        #expect(board.returned("storage") == ["terminate storage"])
        #expect(
            board.exited("storage", .signalled(15)) == [
                "report storage shutdown: the board shuts down or the supervisor was stopped", "clear storage",
            ])
        #expect(board.emptied("storage") == ["release shutdown"])
        #expect(board.pass(.seconds(3600)) == [])
    }

    @Test func waveIsKilledAndLeftBehind_whenItsTimeIsOver() throws {
        var board = board()
        _ = board.shutdownSignal(true)
        #expect(board.pass(.milliseconds(2250)) == ["kill camera"])
        #expect(board.pass(.milliseconds(250)) == ["unkillable camera", "call storage willTerminate shutdown 2 s"])
        #expect(board.pass(.milliseconds(2000)) == ["kill storage"])
        #expect(board.pass(.milliseconds(250)) == ["unkillable storage", "release shutdown"])
    }

    @Test func frozenAppsAreKilledWithoutACall_whenTheBoardShutsDown() throws {
        var board = board { $0.start = .background }
        #expect(board.shutdownSignal(true) == ["kill camera"])
        #expect(board.gone("camera") == ["kill storage"])
    }

    @Test func runningHandlerIsAwaited_whenTheBoardShutsDown() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        #expect(board.shutdownSignal(true) == [])
        #expect(board.returned("camera") == ["call camera willTerminate shutdown 4.5 s"])
    }

    @Test func daemonLeaves_whenAllAppsAreGone() throws {
        var board = board()
        // Only the apps' own time is waited for.
        #expect(board.tell(.stopRequested) == ["call camera willTerminate shutdown 5 s"])
        #expect(board.tell(.stopRequested) == [])
        _ = board.returned("camera")
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        #expect(board.gone("camera") == ["call storage willTerminate shutdown 5 s"])
        _ = board.returned("storage")
        #expect(board.gone("storage", .exited(0)) == ["stop daemon"])
    }

    @Test func daemonLeavesAtOnce_whenNothingRuns() throws {
        var board = Board([])
        #expect(board.tell(.stopRequested) == ["stop daemon"])
    }

    @Test func endedAndQueuedAppsComeBack_whenTheShutdownIsCancelled() throws {
        var board = board()
        _ = board.shutdownSignal(true)
        _ = board.returned("camera")
        board.gone("camera", .exited(0))
        #expect(board.shutdownSignal(false) == [])
        // storage was asked to end already: it comes back when it has, and its client after it.
        _ = board.returned("storage")
        #expect(board.gone("storage", .exited(0)) == ["spawn storage restart"])
        _ = board.spawned("storage")
        #expect(board.returned("storage") == ["call storage didBecomeActive 10 s", "spawn camera restart"])
    }

    @Test func appEndedByAnOperatorStaysDown_whenTheShutdownIsCancelled() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        _ = board.shutdownSignal(true)
        _ = board.returned("camera")
        board.gone("camera", .exited(0))
        #expect(board.shutdownSignal(false) == ["take shutdown"])
    }

    @Test func appThatWasNotAskedYetStays_whenTheShutdownIsCancelled() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        #expect(try board.ask(1, .background(board.id("camera"))) == ["call camera willResignActive 10 s"])
        #expect(board.shutdownSignal(true) == [])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.frozen("camera") == ["reply 1: done"])
    }

    @Test func operatorsOrderStands_whenGivenInAShutdownThatIsCancelled() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.shutdownSignal(true)
        #expect(try board.ask(2, .terminate(board.id("camera"), force: false)) == [])
        #expect(board.shutdownSignal(false) == [])
        // The shutdown's limit is gone with it.
        board.monotonic += .seconds(9)
        #expect(board.returned("camera") == ["call camera willTerminate user 5 s"])
        _ = board.returned("camera")
        #expect(
            board.exited("camera") == [
                "report camera user: ended by an operator", "reply 1: ended by user", "clear camera",
            ])
        #expect(board.emptied("camera") == ["reply 2: done"])
    }

    @Test func appStaysDown_whenAnOperatorEndsItInAShutdownThatIsCancelled() throws {
        var board = board()
        _ = board.shutdownSignal(true)
        #expect(try board.ask(1, .terminate(board.id("camera"), force: true)) == ["kill camera"])
        #expect(board.gone("camera") == ["call storage willTerminate shutdown 4.5 s", "reply 1: done"])
        _ = board.returned("storage")
        board.gone("storage", .exited(0))
        #expect(try board.ask(2, .terminate(board.id("storage"), force: false)) == ["reply 2: done"])
        #expect(board.shutdownSignal(false) == ["take shutdown"])
    }

    @Test func appStaysDown_whenAnOperatorEndsItAsItIsClearedAwayAndTheShutdownIsCancelled() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.exited("camera", .signalled(11))
        #expect(try board.ask(1, .terminate(board.id("camera"), force: false)) == [])
        _ = board.shutdownSignal(true)
        #expect(board.shutdownSignal(false) == [])
        #expect(board.emptied("camera") == ["reply 1: done"])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func appThatHeatEndedStaysDownWhileItIsHot_whenTheShutdownIsCancelledAsItIsClearedAway() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        let hot = ThermalReading(temperature: 95_000, fair: nil, serious: nil, critical: 90_000)
        #expect(board.tell(.board(.temperatures([hot]))).contains("kill camera"))
        _ = board.exited("camera", .signalled(9))
        _ = board.shutdownSignal(true)
        #expect(board.shutdownSignal(false) == [])
        #expect(board.emptied("camera") == [])
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func appsStillEndOneAfterTheOther_whenTheConfigurationIsReloadedAfterTheLimit() throws {
        var board = board()
        let apps = ["storage", "camera"].map { name in app(name) { $0.after = name == "camera" ? ["storage"] : [] } }
        #expect(
            board.tell(
                .login(.prepareForShutdown(true, delayMax: .seconds(5), signalled: board.monotonic - .seconds(6))))
                == ["kill camera"])
        #expect(board.tell(.configured(apps, DevicePolicy())) == [])
        #expect(board.gone("camera") == ["kill storage"])
        _ = board.exited("storage", .signalled(9))
        #expect(board.shutdownSignal(false) == [])
        #expect(board.emptied("storage") == ["spawn storage restart"])
    }

    @Test func nothingIsLaunched_whileShuttingDown() throws {
        var board = Board([app("camera") { $0.restartDelay = .seconds(1) }])
        board.login()
        board.start()
        board.crash("camera")
        #expect(board.shutdownSignal(true) == ["release shutdown"])
        #expect(board.pass(.seconds(60)) == [])
        #expect(
            try board.ask(1, .launch(board.id("camera"), background: false)) == ["reply 1: denied, shutting down"])
        #expect(board.shutdownSignal(false) == ["take shutdown", "spawn camera restart"])
    }

    @Test func sleepLockIsReleasedInTime_whenASleepComesDuringTheEnd() throws {
        var board = board()
        _ = board.tell(.stopRequested)
        // camera is busy ending; storage waits for its wave.
        #expect(board.sleepSignal(true) == ["call storage willResignActive 2.25 s"])
        _ = board.returned("storage")
        #expect(board.returned("storage") == [])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["freeze storage"])
        #expect(board.frozen("storage") == ["sleep is handled", "release sleep"])
        #expect(
            board.wake(afterSleeping: .seconds(60)) == [
                "sleep is over", "take sleep", "thaw storage", "thaw camera", "call storage willEnterForeground 10 s",
            ])
        // What is left of its 5 s.
        #expect(board.pass(.milliseconds(499)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func frozenAppsAreEnded_whenTheDaemonStopsDuringASleep() throws {
        var board = board()
        board.fallAsleep()
        #expect(board.tell(.stopRequested) == ["kill camera"])
        #expect(board.gone("camera") == ["kill storage"])
        #expect(board.gone("storage") == ["stop daemon"])
    }

    @Test func everyAppIsReached_whenTheOrderChangesDuringTheEnd() throws {
        var board = Board([app("a"), app("b"), app("c") { $0.after = ["a", "b"] }])
        board.start()
        #expect(board.tell(.stopRequested) == ["call c willTerminate shutdown 5 s"])
        // Now b is above what is being ended.
        let reordered = [app("a"), app("b") { $0.after = ["c"] }, app("c") { $0.after = ["a"] }]
        #expect(board.tell(.configured(reordered, DevicePolicy())) == ["call b willTerminate shutdown 5 s"])
        #expect(board.gone("b", .exited(0)) == [])
        #expect(board.gone("c", .exited(0)) == ["call a willTerminate shutdown 5 s"])
        #expect(board.gone("a", .exited(0)) == ["stop daemon"])
    }

    @Test func orderFromBeforeTheShutdownEndsWithIt() throws {
        var board = board()
        #expect(try board.ask(1, .background(board.id("storage"))) == ["call storage willResignActive 10 s"])
        #expect(try board.ask(2, .terminate(board.id("storage"), force: false)) == [])
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 2.25 s"])
        board.monotonic += .seconds(2)
        #expect(board.returned("storage") == ["call storage willTerminate user 2.5 s"])
    }

    @Test func appsComeBack_whenALogindThatIsStartedAnewKnowsOfNoShutdown() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.shutdownSignal(true)
        _ = board.returned("camera")
        #expect(board.gone("camera", .exited(0)) == ["release shutdown"])
        #expect(board.tell(.login(.unavailable)) == [])
        #expect(board.core.device.isShuttingDown)
        #expect(
            board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false))) == [
                "take sleep", "take shutdown", "spawn camera restart",
            ])
        #expect(!board.core.device.isShuttingDown)
    }
}
