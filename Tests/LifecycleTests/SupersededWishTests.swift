import Lifecycle
import Testing

/// Wishes whose place later ones have taken: nothing is left of them, whatever becomes of the later ones.
@Suite struct SupersededWishTests {
    private let awake = ["sleep is over", "take sleep"]

    // MARK: Activations that gave way

    @Test(arguments: [FrontPolicy.one, .many])
    func appIsNeverStarted_whenItsActivationGaveWayToABackgroundLaunchThatIsDenied(_ front: FrontPolicy) throws {
        var board = try waitingBoard(front)
        #expect(try !board.ask(1, .activate(board.id("radio"))).contains { $0.hasPrefix("reply") })
        let gaveWay = try board.ask(2, .launch(board.id("radio"), background: true))
        #expect(gaveWay.contains("reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        #expect(try !board.view("radio").restartPending)
        board.follow(.process(.spawned(board.last("server"))))
        board.settle()
        #expect(try board.view("radio").launches == 0)
        #expect(board.phases("map", "radio") == ["active", "-"])
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatALidDenies() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        let gaveWay = try board.ask(2, .activate(board.id("phone")))
        #expect(gaveWay.contains("reply 1: denied, another request changed its phase"))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 2: denied, the lid is closed"))
        #expect(try !board.view("radio").restartPending)
        board.answerAll()
        board.follow(.process(.spawned(board.last("server"))))
        board.settle()
        board.openLid()
        #expect(try board.view("radio").launches == 0)
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatASleepDenies() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        let gaveWay = try board.ask(2, .activate(board.id("phone")))
        #expect(gaveWay.contains("reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        board.follow(.process(.spawned(board.last("server"))))
        board.settle()
        #expect(try board.view("radio").launches == 0)
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatCameAbout() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        let gaveWay = try board.handle(.client(.requested(RequestID(rawValue: 2), .activate(board.id("phone")))))
        #expect(board.lines(gaveWay).contains("reply 1: denied, another request changed its phase"))
        _ = board.obey(gaveWay)
        board.answerAll()
        #expect(board.phase("phone") == "active")
        board.follow(.process(.spawned(board.last("server"))))
        board.settle()
        #expect(try board.view("radio").launches == 0)
        #expect(board.phases("map", "radio", "phone") == ["background", "-", "active"])
    }

    @Test func launchOfAnAppThatMadeWayIsCalledOff() throws {
        var board = startedBoard([manual("camera") { $0.restart = .never }, app("radio")], front: .one)
        try board.follow(90, .launch(board.id("camera"), background: true))
        // It waits for the end of what ran before.
        _ = try board.ask(91, .terminate(board.id("camera"), force: true))
        #expect(try board.ask(1, .activate(board.id("camera"))).contains("call radio willResignActive 10 s"))
        let gaveWay = try board.ask(2, .activate(board.id("radio")))
        #expect(gaveWay.contains("reply 1: denied, another request changed its phase"))
        #expect(board.gone("camera") == ["reply 91: done"])
        #expect(try !board.view("camera").restartPending)
        board.settle()
        #expect(board.phases("camera", "radio") == ["-", "active"])
    }

    @Test func onlyTheLastActivationIsLeft_whenAReloadAllowsOneInFront() throws {
        var board = startedBoard([app("map"), app("radio"), app("phone")])
        try board.goBack("radio")
        try board.goBack("phone")
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = try board.ask(2, .activate(board.id("phone")))
        let effects = board.tell(.configured([app("map"), app("radio"), app("phone")], oneInFront()))
        #expect(effects.contains("reply 1: denied, another request changed its phase"))
        #expect(!effects.contains { $0.hasPrefix("reply 2") })
        board.answerAll()
        board.answerAll()
        #expect(board.phases("map", "radio", "phone") == ["background", "background", "active"])
    }

    // MARK: What an operator has ended

    @Test func appIsBackInFront_whenAnOperatorEndsTheOneWhoseLaunchTookItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .terminate(board.id("radio"), force: true))
        #expect(try board.ask(2, .launch(board.id("radio"), background: false)) == ["call map willResignActive 10 s"])
        let ended = try board.ask(3, .terminate(board.id("radio"), force: true))
        #expect(ended.contains("reply 2: denied, another request ended it"))
        #expect(board.gone("radio") == ["reply 1: done", "reply 3: done"])
        board.answerAll()
        board.settle()
        #expect(board.phases("map", "radio") == ["active", "-"])
    }

    @Test(arguments: [false, true])
    func appStaysDown_whenAnOperatorEndedItBetweenAnActivationAndALaunchThatAreDenied(_ force: Bool) throws {
        var board = startedBoard([app("camera"), app("map")])
        let camera = try board.id("camera")
        try board.goBack("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .terminate(camera, force: force))
        _ = board.ask(3, .launch(camera, background: false))
        // Each is denied for another reason.
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepAMinute().contains("reply 3: denied, sleeping"))
        // Without force it has been asked to end, and is killed, in the sleep.
        #expect(board.phase("camera") == (force ? "background" : "-"))
        if force { #expect(board.gone("camera") == ["reply 2: done"]) }
        #expect(board.pass(.seconds(60)) == [])
        #expect(try board.view("camera").launches == 1)
        #expect(try !board.view("camera").restartPending)
        #expect(board.phase("camera") == "-")
    }

    @Test func appStaysDown_whenWhatAnOperatorEndedIsGoneInTheSleepThatDeniedItsLaunch() throws {
        var board = startedBoard([app("camera") { $0.restart = .never }])
        let camera = try board.id("camera")
        try board.goBack("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .terminate(camera, force: false))
        _ = board.ask(3, .launch(camera, background: false))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        board.gone("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) + board.pass(.seconds(25)) == awake)
    }

    @Test func appStaysDown_whenAnOperatorEndedItBetweenTwoWishesThatAreDenied() throws {
        var board = try overrunBoard()
        let camera = try board.id("camera")
        _ = board.ask(1, .activate(camera))
        #expect(board.gone("camera") == ["spawn camera user"])
        _ = board.ask(2, .terminate(camera, force: false))
        _ = board.spawned("camera")
        _ = board.ask(3, .launch(camera, background: false))
        _ = board.tell(.board(.lid(closed: true)))
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        board.gone("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) + board.pass(.seconds(25)) == awake)
    }

    @Test func restartThatAnOperatorHasEndedStaysOff_whenAllThatWasWishedAfterItIsDenied() throws {
        var board = startedBoard([app("modem") { $0.restartDelay = .seconds(20) }])
        board.crash("modem")
        let modem = try board.id("modem")
        // In place of the restart that is due.
        #expect(board.ask(1, .activate(modem)) == ["spawn modem user"])
        #expect(board.ask(2, .terminate(modem, force: true)) == [])
        #expect(board.ask(3, .launch(modem, background: false)) == [])
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 1: denied, the lid is closed"])
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        #expect(board.spawned("modem") == ["kill modem"])
        board.gone("modem")
        #expect(!board.wake(afterSleeping: .seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(try !board.view("modem").restartPending)
    }

    @Test func appStaysDown_whenAnOperatorEndsItBetweenALaunchAndAnActivationThatIsDenied() throws {
        var board = try overrunBoard { $0.restartDelay = .seconds(5) }
        let camera = try board.id("camera")
        _ = board.ask(2, .launch(camera, background: false))
        _ = board.exited("camera", .signalled(9))
        #expect(board.ask(3, .terminate(camera, force: false)) == ["reply 2: denied, another request ended it"])
        _ = board.ask(4, .activate(camera))
        #expect(board.sleepSignal(true).contains("reply 4: denied, sleeping"))
        #expect(board.emptied("camera").contains("reply 3: done"))
        #expect(board.wake(afterSleeping: .seconds(60)) + board.pass(.seconds(25)) == awake)
        #expect(try !board.view("camera").restartPending)
    }

    // MARK: Wishes for background

    @Test func appIsBackInFront_whenAWishForBackgroundGaveWayToOneThatIsDenied() throws {
        var board = startedBoard([app("camera")])
        let camera = try board.id("camera")
        #expect(board.ask(1, .background(camera)) == ["call camera willResignActive 10 s"])
        #expect(board.ask(2, .activate(camera)) == ["reply 1: denied, another request changed its phase"])
        #expect(board.sleepAMinute() == ["reply 2: denied, sleeping"])
        #expect(board.phase("camera") == "active")
    }

    @Test func nothingIsLaunched_whenAllThatWishedItIsDenied() throws {
        var board = try waitingBoard(.many)
        let radio = try board.id("radio")
        _ = board.ask(1, .launch(radio, background: false))
        _ = board.ask(2, .background(radio))
        #expect(board.ask(3, .activate(radio)) == ["reply 2: denied, another request changed its phase"])
        let denied = board.sleepAMinute()
        #expect(denied.contains("reply 1: denied, sleeping"))
        #expect(denied.contains("reply 3: denied, sleeping"))
        board.follow(.process(.spawned(board.last("server"))))
        board.settle()
        #expect(try board.view("radio").launches == 0)
        #expect(try !board.view("radio").restartPending)
    }

    @Test func launchThatGoesOnToBackgroundIsCompletedAfterTheSleep() throws {
        var board = try waitingBoard(.many)
        let radio = try board.id("radio")
        _ = board.ask(1, .launch(radio, background: false))
        _ = board.ask(2, .background(radio))
        #expect(!board.sleepAMinute().contains { $0.hasPrefix("reply 1") || $0.hasPrefix("reply 2") })
        board.follow(.process(.spawned(board.last("server"))))
        board.settle()
        #expect(board.phase("radio") == "background")
    }
}
