import Lifecycle
import Testing

@Suite struct RequestTests {
    private func manual(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([
            app("camera") {
                $0.launch = .manual; change(&$0)
            }
        ])
        board.start()
        return board
    }

    @Test func launchIsAnsweredInFront_whenEverythingHasReturned() throws {
        var board = manual()
        #expect(try board.ask(1, .launch(board.id("camera"), background: false)) == ["spawn camera user"])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching user 20 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 1: done"])
        // Launching what runs is no error.
        #expect(try board.ask(2, .launch(board.id("camera"), background: true)) == ["reply 2: done"])
    }

    @Test func backgroundLaunchIsSuspended_whenLaunched() throws {
        var board = manual()
        #expect(try board.ask(1, .launch(board.id("camera"), background: true)) == ["spawn camera user background"])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching user 20 s"])
        #expect(board.returned("camera") == ["freeze camera", "reply 1: done"])
    }

    @Test func activateThawsAndBackgroundFreezes_whenAsked() throws {
        var board = manual()
        let id = try board.id("camera")
        board.follow(1, .launch(id, background: true))
        #expect(board.ask(2, .activate(id)) == ["thaw camera", "call camera willEnterForeground 10 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 2: done"])
        #expect(board.ask(3, .background(id)) == ["call camera willResignActive 10 s"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.frozen("camera") == ["reply 3: done"])
        #expect(board.ask(4, .background(id)) == ["reply 4: done"])
    }

    @Test func laterWishWins_whenTwoContradict() throws {
        var board = manual()
        let id = try board.id("camera")
        board.follow(1, .launch(id, background: false))
        #expect(board.ask(2, .background(id)) == ["call camera willResignActive 10 s"])
        #expect(board.ask(3, .activate(id)) == ["reply 2: denied, another request changed its phase"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 3: done"])
    }

    @Test func waitingRequestHearsOfTheEnd_whenTheAppCrashes() throws {
        var board = manual { $0.restart = .never }
        let id = try board.id("camera")
        _ = board.ask(1, .activate(id))
        _ = board.spawned("camera")
        _ = board.ask(2, .terminate(id, force: false))
        #expect(
            board.exited("camera", .signalled(11)) == [
                "report camera user: ended by an operator", "reply 1: ended by user", "clear camera",
            ])
        #expect(board.emptied("camera") == ["reply 2: done"])
    }

    @Test func launchWaitsForTheEnd_whenTheLastInstanceIsBeingKilled() throws {
        var board = manual()
        let id = try board.id("camera")
        board.follow(1, .launch(id, background: false))
        #expect(board.ask(2, .terminate(id, force: true)) == ["kill camera"])
        #expect(board.ask(3, .launch(id, background: false)) == [])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera user: ended by an operator, at once", "clear camera",
            ])
        #expect(board.emptied("camera") == ["spawn camera user", "reply 2: done"])
        _ = board.spawned("camera")
        _ = board.returned("camera")
        #expect(board.returned("camera") == ["reply 3: done"])
    }

    @Test func nothingRuns_whenBackgroundOrTerminateIsAsked() throws {
        var board = manual()
        let id = try board.id("camera")
        #expect(board.ask(1, .background(id)) == ["reply 1: not running"])
        #expect(board.ask(2, .terminate(id, force: true)) == ["reply 2: not running"])
        #expect(board.ask(3, .activate(AppID(rawValue: 7))) == ["reply 3: denied, no such app"])
    }

    @Test func queuedLaunchIsAnswered_whenAnotherRequestEndsIt() throws {
        var board = Board([
            app("storage"),
            app("camera") {
                $0.after = ["storage"]; $0.launch = .manual
            },
        ])
        let id = try board.id("camera")
        _ = board.tell(.started)
        #expect(board.ask(1, .launch(id, background: false)) == [])
        #expect(
            board.ask(2, .terminate(id, force: false)) == [
                "reply 1: denied, another request ended it", "reply 2: done",
            ])
    }

    @Test func queuedLaunchIsAnswered_whenAnotherRequestEndsItBehindAKill() throws {
        var board = manual()
        let id = try board.id("camera")
        board.follow(1, .launch(id, background: false))
        _ = board.ask(2, .terminate(id, force: true))
        _ = board.ask(3, .activate(id))
        #expect(board.ask(4, .terminate(id, force: false)) == ["reply 3: denied, another request ended it"])
        #expect(board.gone("camera") == ["reply 2: done", "reply 4: done"])
    }

    @Test func callsThatWouldLaunchAreDenied_whileSleeping() throws {
        var board = Board([app("camera"), app("tool") { $0.launch = .manual }])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        #expect(try board.ask(1, .launch(board.id("tool"), background: true)) == ["reply 1: denied, sleeping"])
        #expect(try board.ask(2, .activate(board.id("camera"))) == ["reply 2: denied, sleeping"])
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        #expect(try board.ask(3, .activate(board.id("camera"))) == ["reply 3: denied, sleeping"])
        // Ending needs no app awake.
        #expect(try board.ask(4, .terminate(board.id("camera"), force: false)) == ["kill camera"])
        #expect(board.gone("camera") == ["reply 4: done"])
    }

    @Test func launchThatHasBegunIsAnsweredAtItsEnd_whenASleepBegins() throws {
        var board = manual()
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(board.sleepSignal(true) == [])
        #expect(
            board.tell(.process(.spawnFailed(board.last("camera"), code: 2, explanation: "no such file"))).contains {
                $0.hasPrefix("reply 1: ended by launchFailure")
            })
    }

    @Test func nobodyIsAnswered_whenTheClientIsGone() throws {
        var board = manual()
        _ = try board.ask(1, .launch(board.id("camera"), background: true))
        _ = board.ask(2, .sleep(start: true, logical: true))
        #expect(board.tell(.client(.abandoned(RequestID(rawValue: 2)))) == [])
        _ = board.spawned("camera")
        #expect(board.tell(.client(.abandoned(RequestID(rawValue: 1)))) == [])
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.frozen("camera") == [])
    }

    @Test func othersMakeWay_whereOneAppIsInFrontAtATime() throws {
        var device = DevicePolicy()
        device.front = .one
        var board = Board([app("a"), app("b") { $0.launch = .manual }], device: device)
        board.start()
        #expect(try board.ask(1, .activate(board.id("b"))) == ["spawn b user", "call a willResignActive 10 s"])
    }

    @Test func launchGoesOnToBackground_whenTheClientThatWishedItThereIsGone() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.exited("camera", .signalled(9))
        let camera = try board.id("camera")
        _ = board.ask(1, .launch(camera, background: false))
        _ = board.ask(2, .background(camera))
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 2))))
        #expect(!board.sleepSignal(true).contains { $0.hasPrefix("reply") })
        _ = board.sleepSignal(false)
        #expect(board.emptied("camera") == ["spawn camera user background"])
        _ = board.spawned("camera")
        #expect(board.returned("camera").contains("reply 1: done"))
    }

    @Test func appIsLeftDown_whenAShutdownThatIsCancelledDeniedAllThatWishedIt() throws {
        var board = Board([app("camera") { $0.restartLimit = 1 }])
        board.start()
        let camera = try board.id("camera")
        _ = board.tell(.memory(.pressure(.critical)))
        let use = MemoryUse(instance: board.last("camera"), bytes: 100 << 20)
        #expect(board.tell(.memory(.read(available: 0, total: 1 << 30, [use]))).contains("kill camera"))
        _ = board.ask(1, .launch(camera, background: false))
        _ = board.ask(2, .background(camera))
        _ = board.tell(.board(.power(PowerReading(isExternal: false, level: 1))))
        let ending = board.pass(.seconds(5))
        #expect(ending.contains("reply 1: denied, shutting down"))
        #expect(ending.contains("reply 2: denied, shutting down"))
        _ = board.tell(.board(.power(PowerReading(isExternal: true, level: 100))))
        #expect(board.gone("camera") == [])
        #expect(try board.view("camera").isLeftDown)
        #expect(board.pass(.seconds(600)) == [])
    }

    @Test func appThatWaitsForItsServerIsSentToBackground() throws {
        var board = Board([app("server"), app("camera") { $0.after = ["server"] }])
        _ = board.tell(.started)
        #expect(try board.ask(1, .background(board.id("camera"))) == [])
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn camera boot background"))
    }

    @Test func memoryWarningIsToldOnceTheAppCanHearIt() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        let id = try board.id("camera")
        #expect(board.ask(1, .warnOfMemory(id, .warning)) == ["reply 1: done", "inform camera memory warning"])
        try board.goBack("camera")
        #expect(board.ask(2, .warnOfMemory(id, .warning)) == ["reply 2: done"])
        #expect(board.ask(3, .warnOfMemory(id, .critical)) == ["reply 3: done"])
        #expect(
            board.ask(4, .activate(id)) == [
                "thaw camera", "call camera willEnterForeground 10 s", "inform camera memory critical",
            ])
        _ = board.handle(.process(.exited(board.last("camera"), .exited(0))))
        #expect(board.ask(5, .warnOfMemory(id, .warning)) == ["reply 5: not running"])
    }
}
