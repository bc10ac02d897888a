import Lifecycle
import Testing

/// What is wished comes about when it can, what is denied does not come about later, and levels are asked for again.
@Suite struct WishTests {
    private func board(_ apps: [AppPolicy] = [app("camera")], _ device: DevicePolicy = DevicePolicy()) -> Board {
        var board = Board(apps, device: device)
        board.login()
        board.start()
        return board
    }

    private func people(idle: Bool = false, locked: Bool = false) -> Event {
        .session(SessionReading(users: 1, isLocked: locked, isIdle: idle))
    }

    @Test(arguments: [true, false])
    func appIsLaunched_whenItIsAskedForDuringItsEnd(_ isActivated: Bool) throws {
        var board = board()
        let camera = try board.id("camera")
        #expect(board.ask(1, .terminate(camera, force: false)) == ["call camera willTerminate user 5 s"])
        #expect(board.ask(2, isActivated ? .activate(camera) : .launch(camera, background: false)) == [])
        #expect(board.returned("camera") == ["terminate camera"])
        let end = board.exited("camera")
        #expect(end == ["report camera user: ended by an operator", "clear camera"])
        #expect(board.emptied("camera") == ["spawn camera user", "reply 1: done"])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching user 20 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 2: done"])
    }

    @Test func appIsLaunched_whenItIsAskedForWhileTheEndWaitsForAHandler() throws {
        var board = board()
        let camera = try board.id("camera")
        _ = board.ask(1, .background(camera))
        #expect(board.ask(2, .terminate(camera, force: false)) == [])
        #expect(board.ask(3, .launch(camera, background: true)) == [])
        #expect(board.returned("camera") == ["call camera willTerminate user 5 s"])
        _ = board.returned("camera")
        _ = board.exited("camera")
        #expect(board.emptied("camera").contains("spawn camera user background"))
    }

    @Test func backgroundIsRefused_whenTheAppIsLeavingForGood() throws {
        var board = board()
        let camera = try board.id("camera")
        _ = board.ask(1, .terminate(camera, force: false))
        #expect(board.ask(2, .background(camera)) == ["reply 2: not running"])
    }

    @Test func activationThatTheSleepDeniedIsUndone() throws {
        var board = board()
        let camera = try board.id("camera")
        try board.goBack("camera")
        #expect(board.ask(1, .activate(camera)) == ["thaw camera", "call camera willEnterForeground 10 s"])
        #expect(board.sleepSignal(true) == ["reply 1: denied, sleeping"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        board.slept = .seconds(60)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
        #expect(try board.view("camera").phase == .background)
    }

    @Test func appsThatMadeWayComeBack_whenTheActivationIsDenied() throws {
        var device = DevicePolicy()
        device.front = .one
        var board = board([app("camera"), app("player")], device)
        #expect(try board.view("camera").phase == .active)
        #expect(try board.ask(1, .activate(board.id("player"))).contains("call camera willResignActive 10 s"))
        _ = board.obey(board.handle(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        _ = board.returned("camera")
        _ = board.pass(.seconds(5))
        board.slept = .seconds(60)
        _ = board.obey(board.handle(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        #expect(try board.view("player").phase == .background)
        #expect(try board.view("camera").phase != .background)
    }

    @Test func launchThatTheSleepDeniedDoesNotHappenLater() throws {
        var board = board([
            app("server") { $0.launch = .manual },
            app("camera") {
                $0.after = ["server"]; $0.launch = .manual
            },
        ])
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        #expect(try board.ask(2, .launch(board.id("camera"), background: false)) == [])
        let denied = board.sleepSignal(true)
        #expect(denied == ["reply 1: denied, sleeping", "reply 2: denied, sleeping"])
        _ = board.spawned("server")
        _ = board.returned("server")
        _ = board.pass(.seconds(5))
        board.slept = .seconds(60)
        #expect(!board.sleepSignal(false).contains("spawn camera user"))
    }

    @Test func launchThatIsUnderWayComesUp_whenASleepComesInItsMiddle() throws {
        var board = board([app("camera") { $0.launch = .manual }])
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        _ = board.spawned("camera")
        #expect(board.sleepSignal(true) == ["reply 1: denied, sleeping"])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        _ = board.frozen("camera")
        board.slept = .seconds(60)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }

    @Test func restartThatWasDueStaysDue_whenALaunchInItsPlaceIsDenied() throws {
        var board = board([app("camera") { $0.restartDelay = .seconds(20) }])
        _ = board.exited("camera", .exited(1))
        #expect(try board.ask(1, .launch(board.id("camera"), background: false)) == [])
        #expect(board.sleepSignal(true) == ["reply 1: denied, sleeping"])
        _ = board.emptied("camera")
        board.slept = .seconds(60)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
        #expect(board.pass(.seconds(20)) == ["spawn camera restart"])
    }

    @Test func restartThatAnOperatorHasEndedStaysOff_whenAllThatWasWishedAfterItIsDenied() throws {
        var board = board([app("modem") { $0.restartDelay = .seconds(20) }])
        _ = board.exited("modem", .signalled(11))
        _ = board.emptied("modem")
        let modem = try board.id("modem")
        // In place of the restart that is due.
        #expect(board.ask(1, .activate(modem)) == ["spawn modem user"])
        #expect(board.ask(2, .terminate(modem, force: true)) == [])
        #expect(board.ask(3, .launch(modem, background: false)) == [])
        #expect(board.tell(.lid(closed: true)) == ["reply 1: denied, the lid is closed"])
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        #expect(board.spawned("modem") == ["kill modem"])
        _ = board.exited("modem", .signalled(9))
        _ = board.emptied("modem")
        board.slept = .seconds(60)
        #expect(!board.sleepSignal(false).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(try !board.view("modem").restartPending)
    }

    @Test func launchStaysWished_whenOnlyAnActivationBesideItIsDenied() throws {
        var board = board([
            app("server"),
            app("camera") {
                $0.after = ["server"]; $0.launch = .manual
            },
        ])
        _ = board.exited("server", .exited(0))
        _ = board.emptied("server")
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        #expect(try board.ask(2, .activate(board.id("camera"))) == [])
        #expect(try board.ask(3, .launch(board.id("camera"), background: false)) == [])
        #expect(board.tell(.lid(closed: true)) == ["reply 2: denied, the lid is closed"])
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn camera user background"))
        _ = board.spawned("camera")
        #expect(board.returned("camera").contains("reply 3: done"))
    }

    @Test func appThatAnOperatorSentBackStaysThere_whenTheOneThatTookItsPlaceIsDenied() throws {
        var device = DevicePolicy()
        device.front = .one
        var board = board([app("camera"), app("player")], device)
        _ = try board.ask(1, .activate(board.id("player")))
        _ = try board.ask(2, .background(board.id("camera")))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        let first = board.handle(.handlerReturned(board.last("camera"), board.openCall("camera")))
        _ = board.obey(first)
        _ = board.obey(board.wait(.seconds(5)))
        board.slept = .seconds(60)
        _ = board.obey(board.handle(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        #expect(try board.view("camera").phase == .background)
    }

    // MARK: What was before a denied wish

    @Test func appIsStillLeftDown_whenALaunchOfItIsDenied() throws {
        var board = board([
            app("server") { $0.launch = .manual },
            app("camera") {
                $0.after = ["server"]
                $0.restartLimit = 1
            },
        ])
        _ = board.exited("camera", .exited(1))
        _ = board.emptied("camera")
        #expect(try board.view("camera").isLeftDown)
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        _ = board.sleepSignal(true)
        #expect(try board.view("camera").isLeftDown)
    }

    /// "camera" was ended by an operator, and its server is being started.
    private func waitingForItsServer() throws -> Board {
        var device = DevicePolicy()
        device.responses[.lidClosed] = .background
        var board = board([app("server") { $0.launch = .manual }, app("camera") { $0.after = ["server"] }], device)
        _ = try board.ask(1, .terminate(board.id("camera"), force: true))
        _ = board.exited("camera", .signalled(9))
        _ = board.emptied("camera")
        _ = try board.ask(2, .launch(board.id("server"), background: true))
        return board
    }

    @Test func launchInBackgroundStaysThere_whenAnActivationAfterItIsDenied() throws {
        var board = try waitingForItsServer()
        _ = try board.ask(3, .launch(board.id("camera"), background: true))
        _ = try board.ask(4, .activate(board.id("camera")))
        #expect(board.tell(.lid(closed: true)) == ["reply 4: denied, the lid is closed"])
        _ = board.pass(.seconds(5))
        _ = board.tell(.lid(closed: false))
        _ = board.pass(.seconds(5))
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn camera user background"))
    }

    @Test func bothAreUndone_whenTheLaterOfTwoWishesIsDeniedToo() throws {
        var board = try waitingForItsServer()
        _ = try board.ask(3, .activate(board.id("camera")))
        _ = try board.ask(4, .launch(board.id("camera"), background: false))
        #expect(board.tell(.lid(closed: true)) == ["reply 3: denied, the lid is closed"])
        #expect(board.sleepSignal(true).contains("reply 4: denied, sleeping"))
        _ = board.spawned("server")
        _ = board.returned("server")
        _ = board.pass(.seconds(5))
        board.slept = .seconds(60)
        #expect(!board.sleepSignal(false).contains { $0.hasPrefix("spawn camera") })
    }

    // MARK: Sleep as a level

    @Test func boardIsNotAskedToSleep_whileTheEndOfTheWishIsOnlyHeldBack() throws {
        var board = closing { $0.debounce = .seconds(10) }
        _ = board.obey(board.handle(.lid(closed: true)))
        _ = board.tell(.suspendRefused)
        _ = board.tell(.lid(closed: false))
        _ = board.tell(.loginUnavailable)
        let back = Event.loginAvailable(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)
        #expect(board.tell(back) == ["take sleep", "take shutdown"])
    }

    private func closing(_ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        var device = DevicePolicy()
        device.responses[.lidClosed] = .sleep
        device.responses[.idle] = .sleep
        change(&device)
        return board([app("camera")], device)
    }

    @Test func boardIsAskedToSleepAgainEverMoreRarely_whenLogindRefuses() throws {
        var board = closing()
        #expect(board.tell(.lid(closed: true)).contains("suspend"))
        #expect(board.tell(.suspendRefused) == [])
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
        #expect(board.pass(.milliseconds(59_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
        #expect(board.pass(.seconds(7 * 3600)).filter { $0 == "suspend" }.count < 25)
        _ = board.tell(.lid(closed: false))
        #expect(!board.pass(.seconds(7200)).contains("suspend"))
    }

    @Test func boardIsAskedToSleepAgain_whenAForeignWakeFindsTheLidClosed() throws {
        var board = closing()
        _ = board.obey(board.handle(.lid(closed: true)))
        _ = board.obey(board.handle(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        board.slept = .seconds(60)
        _ = board.sleepSignal(false)
        _ = board.tell(.lockTaken(.sleep))
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
    }

    @Test func boardIsAskedToSleepAtOnce_whenTheLockThatForbadeItIsGone() throws {
        var device = DevicePolicy()
        device.responses[.lidClosed] = .sleep
        var keeper = board([app("camera") { $0.keepsAwake = true }], device)
        _ = keeper.begin("camera")
        _ = keeper.tell(.lockTaken(.keepAwake))
        _ = keeper.tell(.lid(closed: true))
        _ = keeper.tell(.suspendRefused)
        _ = keeper.returned("camera")
        _ = keeper.returned("camera")
        #expect(keeper.end("camera").suffix(2) == ["release keepAwake", "suspend"])
    }

    @Test func activityEndsALogicalSleepThatIdlenessBegan() throws {
        var board = closing { $0.sleepsLogically = true }
        _ = board.obey(board.handle(people(idle: true)))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.pass(.seconds(60))
        #expect(board.tell(people()).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func activityEndsALogicalSleepThatIdlenessBegan_whenTheAllowanceOfADarkWakeIsOver() throws {
        var device = DevicePolicy()
        device.responses[.idle] = .sleep
        device.sleepsLogically = true
        device.darkWakeInterval = .seconds(900)
        device.wakeSources = WakeSources(.clock)
        var board = board([app("camera"), app("upload")], device)
        _ = board.begin("upload")
        try board.goBack("upload")
        _ = board.obey(board.handle(people(idle: true)))
        _ = board.obey(board.wait(.seconds(10)))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.pass(try #require(board.core.wakeAlarm) - board.now.boottime)
        _ = board.tell(.woke)
        #expect(board.core.device.sleepState == .darkWake)
        _ = board.obey(board.wait(.seconds(60)))
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.tell(people()).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test(arguments: [false, true])
    func activityDoesNotEndALogicalSleepThatIdlenessBegan_whenAnOperatorHasJoinedIt(_ isAsleep: Bool) throws {
        var board = closing { $0.sleepsLogically = true }
        let idle = board.handle(people(idle: true))
        if isAsleep { _ = board.obey(idle) }
        #expect(board.core.device.sleepState == (isAsleep ? .asleep : .preparing))
        _ = board.ask(1, .sleep(start: true, logical: true))
        if !isAsleep { _ = board.obey(idle) }
        _ = board.pass(.seconds(10))
        #expect(board.tell(people()) == [])
        #expect(board.pass(.seconds(10)) == [])
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func activityDoesNotEndALogicalSleep_whenTheLidBeganIt() throws {
        var board = closing { $0.sleepsLogically = true }
        _ = board.obey(board.handle(people(idle: true)))
        _ = board.pass(.seconds(10))
        _ = board.obey(board.handle(.requested(RequestID(rawValue: 1), .sleep(start: false, logical: true))))
        _ = board.obey(board.handle(.lid(closed: true)))
        _ = board.pass(.seconds(30))
        #expect(board.core.device.sleepState != .awake)
        _ = board.tell(people())
        _ = board.pass(.seconds(10))
        #expect(board.core.device.sleepState != .awake)
    }

    @Test func activityEndsALogicalSleepThatIdlenessBegan_whenTheWorkOfADarkWakeIsDone() throws {
        var device = DevicePolicy()
        device.responses[.idle] = .sleep
        device.sleepsLogically = true
        device.darkWakeInterval = .seconds(900)
        var board = board([app("camera"), app("upload")], device)
        _ = board.begin("upload")
        try board.goBack("upload")
        _ = board.obey(board.handle(people(idle: true)))
        _ = board.obey(board.wait(.seconds(5)))
        board.monotonic = try #require(board.core.wakeAlarm)
        _ = board.tell(.woke)
        #expect(board.core.device.sleepState == .darkWake)
        _ = board.end("upload")
        _ = board.frozen("upload")
        #expect(board.core.device.sleepState == .asleep)
        _ = board.tell(people())
        #expect(board.core.device.sleepState == .awake)
    }
}
