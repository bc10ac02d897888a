import Lifecycle
import Testing

/// What is wished comes about, at once or when it can; what has begun or whose client is gone is not denied any more.
@Suite struct WishTests {
    // MARK: In the middle of an end

    @Test(arguments: [true, false])
    func appIsLaunched_whenItIsAskedForDuringItsEnd(_ isActivated: Bool) throws {
        var board = startedBoard([app("camera")])
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
        var board = startedBoard([app("camera")])
        let camera = try board.id("camera")
        _ = board.ask(1, .background(camera))
        #expect(board.ask(2, .terminate(camera, force: false)) == [])
        #expect(board.ask(3, .launch(camera, background: true)) == [])
        #expect(board.returned("camera") == ["call camera willTerminate user 5 s"])
        _ = board.returned("camera")
        #expect(board.gone("camera", .exited(0)).contains("spawn camera user background"))
    }

    @Test func backgroundIsRefused_whenTheAppIsLeavingForGood() throws {
        var board = startedBoard([app("camera")])
        let camera = try board.id("camera")
        _ = board.ask(1, .terminate(camera, force: false))
        #expect(board.ask(2, .background(camera)) == ["reply 2: not running"])
    }

    // MARK: What has begun

    @Test func launchThatIsUnderWayIsCompleted_whenASleepComesInItsMiddle() throws {
        var board = startedBoard([app("camera") { $0.launch = .manual }])
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        _ = board.spawned("camera")
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 1: done"])
    }

    @Test func launchThatIsUnderWayIsCompleted_whenAShutdownIsCancelledInItsMiddle() throws {
        var board = startedBoard([app("camera") { $0.launch = .manual }])
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(board.shutdownSignal(true) == [])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching user 20 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 1: done"])
    }

    @Test func clientIsToldOfTheEnd_whenAShutdownComesInTheMiddleOfALaunch() throws {
        var board = startedBoard([app("camera") { $0.launch = .manual }])
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        _ = board.spawned("camera")
        _ = board.shutdownSignal(true)
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.exited("camera", .signalled(15)).contains("reply 1: ended by shutdown"))
    }

    @Test func appStaysInFront_whenTheLaterOfTwoLaunchesThatWishedItHasBegun() throws {
        var board = try overrunBoard()
        let camera = try board.id("camera")
        _ = board.ask(1, .launch(camera, background: true))
        _ = board.ask(2, .launch(camera, background: false))
        #expect(board.gone("camera") == ["spawn camera user"])
        _ = board.spawned("camera")
        #expect(board.sleepSignal(true) == [])
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        #expect(board.wake(afterSleeping: .seconds(60)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func appStaysInBackground_whenItIsSentThereDuringPreparing() throws {
        var board = startedBoard([app("camera")])
        _ = board.sleepSignal(true)
        #expect(try board.ask(1, .background(board.id("camera"))) == [])
        board.answerAll()
        board.wakePromptly(afterSleeping: .seconds(60))
        board.settle()
        #expect(board.phase("camera") == "background")
    }

    // MARK: Clients that are gone

    @Test func launchComesAboutAfterTheSleep_whenItsClientIsGone() throws {
        var board = try overrunBoard()
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(board.tell(.client(.abandoned(RequestID(rawValue: 1)))) == [])
        _ = board.exited("camera", .signalled(9))
        #expect(board.sleepSignal(true) == [])
        #expect(board.emptied("camera") == ["sleep is handled", "release sleep"])
        #expect(board.wake(afterSleeping: .seconds(60)) == ["sleep is over", "take sleep", "spawn camera user"])
    }

    @Test func launchStands_whenTheClientOfOneOfThreeIsGone() throws {
        var board = try overrunBoard { $0.restart = .never }
        let camera = try board.id("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .launch(camera, background: false))
        _ = board.ask(3, .launch(camera, background: false))
        _ = board.tell(.board(.lid(closed: true)))
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 2))))
        #expect(board.sleepSignal(true) == [])
        board.gone("camera")
        let awake = board.wake(afterSleeping: .seconds(60)) + board.pass(.seconds(25))
        #expect(awake.contains("spawn camera user background"))
    }

    @Test func activationWhoseClientIsGoneStands_whenALaterOneOfAnotherAppIsDenied() throws {
        var board = startedBoard([app("map"), app("radio"), app("phone")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(.client(.abandoned(RequestID(rawValue: 1)))) == [])
        _ = try board.ask(2, .activate(board.id("phone")))
        #expect(board.sleepAMinute() == ["reply 2: denied, sleeping"])
        #expect(board.phases("map", "radio", "phone") == ["background", "active", "background"])
    }

    @Test func appStaysDown_whenItsLaunchHadBegunBeforeItsEndAndALaterWishIsDenied() throws {
        var board = startedBoard([manual("camera")])
        let camera = try board.id("camera")
        #expect(board.ask(1, .launch(camera, background: true)) == ["spawn camera user background"])
        _ = board.ask(2, .terminate(camera, force: false))
        _ = board.ask(3, .activate(camera))
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 3: denied, the lid is closed"])
        #expect(board.spawned("camera") == ["kill camera"])
        let end = board.exited("camera", .signalled(9)) + board.emptied("camera")
        #expect(end.contains("reply 1: ended by user"))
        #expect(end.contains("reply 2: done"))
        #expect(!end.contains { $0.hasPrefix("spawn") })
    }

    @Test func everyClientIsAnswered_whenTheDaemonStops() throws {
        var board = startedBoard([manual("server"), manual("radio") { $0.after = ["server"] }])
        let radio = try board.id("radio")
        _ = try board.ask(90, .launch(board.id("server"), background: true))
        _ = board.ask(1, .launch(radio, background: false))
        _ = board.ask(2, .launch(radio, background: false))
        // So the launch stands, and what waits for it is not denied by a shutdown.
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 2))))
        _ = board.tell(.stopRequested)
        #expect(board.ask(3, .background(radio)) == ["reply 3: denied, shutting down"])
        _ = board.spawned("server")
        let end = board.exited("server", .signalled(9)) + board.emptied("server")
        #expect(end.contains("reply 90: ended by shutdown"))
        #expect(end.suffix(2) == ["reply 1: denied, shutting down", "stop daemon"])
    }
}
