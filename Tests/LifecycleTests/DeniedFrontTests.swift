import Lifecycle
import Testing

/// One app in front at a time: who is there when wishes for the front are denied.
@Suite struct DeniedFrontTests {
    // MARK: Another's wish is denied

    @Test func appIsBackInFront_whenASleepDeniesTheActivationInItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        #expect(board.phases("map", "radio") == ["active", "background"])
        #expect(try board.ask(1, .activate(board.id("radio"))).contains("call map willResignActive 10 s"))
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func appIsBackInFront_whenALockDeniesTheActivationInItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(people(locked: true)).contains("reply 1: denied, the session is locked"))
        board.answerAll()
        board.unlock()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test(arguments: [false, true])
    func appIsBackInFront_whenALidDeniesTheActivationInItsPlace_reloadedOrNot(_ isReloaded: Bool) throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        if isReloaded { _ = board.tell(.configured([app("map"), app("radio")], oneInFront())) }
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        board.answerAll()
        board.openLid()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func appIsBackInFront_whenACancelledShutdownDeniedTheActivationInItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.shutdownSignal(true).contains("reply 1: denied, shutting down"))
        _ = board.shutdownSignal(false)
        board.answerAll()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func appIsBackInFront_whenTheActivationThatStartsAnotherIsDenied() throws {
        var board = startedBoard([app("map"), manual("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        board.answerAll()
        board.follow(.process(.spawned(board.last("radio"))))
        board.answerAll()
        board.openLid()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test(arguments: [false, true])
    func appIsBackInFront_whenASleepDeniesTheLaunchInItsPlace_reloadedOrNot(_ isReloaded: Bool) throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        let apps = [app("map"), manual("server"), manual("radio") { $0.after = ["server"] }, app("phone")]
        if isReloaded { _ = board.tell(.configured(apps, oneInFront())) }
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
    }

    @Test func appIsBackInFront_whenALaunchInItsPlaceAndOneInBackgroundAreDenied() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .launch(board.id("radio"), background: true))
        let denied = board.sleepAMinute()
        #expect(denied.contains("reply 1: denied, sleeping"))
        #expect(denied.contains("reply 2: denied, sleeping"))
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
    }

    @Test func appIsBackInFrontAndNothingIsLaunched_whenACancelledShutdownDeniedTheLaunchInItsPlace() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        let ending = board.shutdownSignal(true)
        #expect(ending.first == "reply 1: denied, shutting down")
        _ = board.shutdownSignal(false)
        board.answerAll()
        board.follow(.process(.spawned(board.last("server"))))
        board.follow(.process(.exited(board.last("server"), .signalled(9))))
        board.settle()
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
        #expect(try !board.view("radio").restartPending)
        #expect(try board.view("radio").launches == 0)
        #expect(try board.view("map").launches == 1)
    }

    @Test func appIsBackInFront_whenAReloadRemovesTheOneThatWasToTakeItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        let reloaded = board.tell(.configured([app("map")], oneInFront()))
        #expect(reloaded.contains("reply 1: denied, its configuration was removed"))
        board.answerAll()
        board.gone("radio", .exited(0))
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    @Test func appStaysInFront_whenTheLaunchOfATaskThatHasEndedIsDenied() throws {
        var board = startedBoard([app("map")], front: .one)
        _ = board.ask(1, .adopt(app: "task-sync", TaskParameters(name: "sync")))
        _ = board.spawned("task-sync")
        let task = try board.id("task-sync")
        _ = board.exited("task-sync", .unknown)
        _ = board.ask(2, .launch(task, background: false))
        #expect(
            board.emptied("task-sync").contains(
                "reply 2: denied, it has ended, and only who started it can start it again"))
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    // MARK: Its own wish is denied too

    @Test func appIsBackInFront_whenALockDeniesItsOwnActivationAfterAnothers() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("map"))).contains("reply 1: denied, another request changed its phase"))
        #expect(board.tell(people(locked: true)).contains("reply 2: denied, the session is locked"))
        board.answerAll()
        board.unlock()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func appIsBackInFront_whenASleepDeniesItsOwnActivationAfterAnothers() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("map"))).contains("reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func appIsBackInFront_whenALaunchInItsPlaceAndItsOwnActivationAreDenied() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .activate(board.id("map")))
        let denied = board.sleepAMinute()
        #expect(denied.contains("reply 2: denied, sleeping"))
        #expect(denied.contains("reply 1: denied, sleeping"))
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
    }

    @Test func appIsBackInFrontAndNothingIsLaunched_whenALidAndASleepDenyAllThatWasWished() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .activate(board.id("map")))
        #expect(
            try board.ask(3, .activate(board.id("radio"))).contains(
                "reply 2: denied, another request changed its phase"))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 3: denied, the lid is closed"))
        board.answerAll()
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        board.openLid()
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
    }

    @Test func appComesUpInFront_whenOnlyTheActivationsAfterItsLaunchAreDenied() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .activate(board.id("map")))
        #expect(
            try board.ask(3, .activate(board.id("radio"))) == ["reply 2: denied, another request changed its phase"])
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 3: denied, the lid is closed"])
        board.answerAll()
        board.openLid()
        // Only the launch in front is still wished.
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn radio user"))
        _ = board.spawned("radio")
        _ = board.returned("radio")
        #expect(board.returned("radio").contains("reply 1: done"))
        board.answerAll()
        #expect(board.phases("map", "radio", "phone") == ["background", "active", "background"])
    }

    // MARK: It was sent back, or another is there

    @Test func appThatAnOperatorSentBackStaysThere_whenTheOneThatTookItsPlaceIsDenied() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = try board.ask(2, .background(board.id("map")))
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phases("map", "radio") == ["background", "background"])
    }

    @Test func appThatWasLaunchedInBackgroundStaysThere_whenTheOneInItsPlaceIsDenied() throws {
        var board = startedBoard([app("camera"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = board.exited("camera", .signalled(9))
        _ = try board.ask(2, .launch(board.id("camera"), background: true))
        #expect(board.emptied("camera") == ["spawn camera user background"])
        _ = board.spawned("camera")
        #expect(board.returned("camera").contains("reply 2: done"))
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phases("camera", "radio") == ["background", "background"])
    }

    @Test func appThatIsActiveByThenStaysInFront_whenALaunchThatWaitsIsDenied() throws {
        var board = try waitingBoard()
        try board.follow(1, .launch(board.id("radio"), background: false))
        board.answerAll()
        try board.follow(2, .activate(board.id("phone")))
        board.answerAll()
        #expect(board.phases("map", "radio", "phone") == ["background", "-", "active"])
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phases("map", "radio", "phone") == ["background", "-", "active"])
    }

    @Test func restartComesInBackground_whenAnotherIsInFrontAsTheLaunchInItsPlaceIsDenied() throws {
        var board = startedBoard([app("map") { $0.restartDelay = .seconds(20) }, app("phone")], front: .one)
        _ = board.exited("map", .signalled(11))
        _ = try board.ask(1, .launch(board.id("map"), background: true))
        try board.follow(2, .activate(board.id("phone")))
        #expect(board.phase("phone") == "active")
        // Its group is emptied in the sleep.
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        board.settle(.seconds(25))
        #expect(board.phases("map", "phone") == ["background", "active"])
    }

    // MARK: It has ended

    @Test func crashedAppIsRestartedInFront_whenTheActivationInItsPlaceIsDenied() throws {
        var board = startedBoard([app("map") { $0.restartDelay = .seconds(20) }, app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        board.crash("map")
        #expect(board.sleepAMinute() == ["reply 1: denied, sleeping"])
        #expect(board.phases("map", "radio") == ["-", "background"])
        #expect(try board.view("map").restartPending)
        #expect(board.pass(.seconds(20)) == ["spawn map restart"])
        _ = board.spawned("map")
        board.answerAll()
        board.answerAll()
        #expect(board.phases("map", "radio") == ["active", "background"])
        #expect(try board.view("map").launches == 2)
        #expect(try board.view("radio").launches == 1)
    }

    @Test func crashedAppIsRestartedInFront_whenAnothersActivationAndItsOwnBackgroundLaunchAreDenied() throws {
        var board = startedBoard([app("map") { $0.restartDelay = .seconds(30) }, app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = board.exited("map", .signalled(11))
        // Until its group is empty.
        _ = try board.ask(2, .launch(board.id("map"), background: true))
        let asleep = board.sleepSignal(true)
        #expect(asleep.contains("reply 1: denied, sleeping"))
        #expect(asleep.contains("reply 2: denied, sleeping"))
        _ = board.emptied("map")
        board.answerAll()
        board.wakePromptly(afterSleeping: .seconds(60))
        board.settle(.seconds(31))
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test(arguments: [false, true])
    func appThatHeatEndedIsBackInFront_whetherOrNotAnActivationInItsPlaceIsDenied(_ isActivated: Bool) throws {
        var board = startedBoard([app("map"), app("radio") { $0.priorityBand = 950 }], front: .one)
        #expect(board.tell(zone(99_000)).contains("kill map"))
        if isActivated { _ = try board.ask(1, .activate(board.id("radio"))) }
        board.gone("map")
        let lid = board.tell(.board(.lid(closed: true)))
        if isActivated { #expect(lid.contains("reply 1: denied, the lid is closed")) }
        board.answerAll()
        board.openLid()
        board.follow(zone(40_000))
        board.settle(.seconds(10))
        #expect(board.phases("map", "radio") == ["active", "background"])
    }
}
