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
        #expect(
            try board.ask(2, .launch(board.id("radio"), background: true)).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        #expect(try !board.view("radio").restartPending)
        board.follow(.spawned(board.last("server")))
        board.settle()
        #expect(try board.view("radio").launches == 0)
        #expect(board.phase("radio") == "-")
        #expect(board.phase("map") == "active")
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatALidDenies() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("phone"))).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.tell(.lid(closed: true)).contains("reply 2: denied, the lid is closed"))
        board.answerAll()
        board.follow(.spawned(board.last("server")))
        board.settle()
        #expect(try board.view("radio").launches == 0)
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatASleepDenies() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("phone"))).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        board.follow(.spawned(board.last("server")))
        board.answerAll()
        #expect(board.phase("map") == "active")
        #expect(try board.view("radio").launches == 0)
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatCameAbout() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        try board.follow(2, .activate(board.id("phone")))
        board.answerAll()
        #expect(board.phase("phone") == "active")
        board.follow(.spawned(board.last("server")))
        board.answerAll()
        #expect(try board.view("radio").launches == 0)
    }

    @Test func launchOfAnAppThatMadeWayIsCalledOff() throws {
        var board = startedBoard(
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
        #expect(board.gone("camera") == ["reply 91: done"])
        #expect(try !board.view("camera").restartPending)
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
        #expect(["map", "radio", "phone"].map { board.phase($0) } == ["background", "background", "active"])
    }

    // MARK: What an operator has ended

    @Test func appIsBackInFront_whenAnOperatorEndsTheOneWhoseLaunchTookItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .terminate(board.id("radio"), force: true))
        _ = try board.ask(2, .launch(board.id("radio"), background: false))
        #expect(
            try board.ask(3, .terminate(board.id("radio"), force: true)).contains(
                "reply 2: denied, another request ended it"))
        board.gone("radio")
        board.answerAll()
        #expect(board.phase("map") == "active")
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
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepAMinute().contains("reply 3: denied, sleeping"))
        // Without force it has been asked to end, and is killed, in the sleep.
        #expect(board.phase("camera") == (force ? "background" : "-"))
        if force {
            #expect(board.gone("camera") == ["reply 2: done"])
        }
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
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
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
        _ = board.tell(.lid(closed: true))
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
        #expect(board.tell(.lid(closed: true)) == ["reply 1: denied, the lid is closed"])
        #expect(board.sleepSignal(true).contains("reply 3: denied, sleeping"))
        #expect(board.spawned("modem") == ["kill modem"])
        board.gone("modem")
        #expect(!board.wake(afterSleeping: .seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(try !board.view("modem").restartPending)
    }

    @Test func appStaysDown_whenAnOperatorEndsItBetweenALaunchAndAnActivationThatIsDenied() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .seconds(5) }])
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.pass(.seconds(10))
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        _ = board.exited("camera", .signalled(9))
        _ = try board.ask(3, .terminate(board.id("camera"), force: false))
        _ = try board.ask(4, .activate(board.id("camera")))
        #expect(board.sleepSignal(true).contains("reply 4: denied, sleeping"))
        #expect(board.emptied("camera").contains("reply 3: done"))
        #expect(!board.wake(afterSleeping: .seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }
}
