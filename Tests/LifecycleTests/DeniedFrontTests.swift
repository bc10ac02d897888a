import Lifecycle
import Testing

/// Where apps stand when wishes for the front are denied, one app in front or many.
@Suite struct DeniedFrontTests {
    @Test func appIsBackInFront_whenALockDeniesItsOwnActivationAfterAnothers() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("map"))).contains("reply 1: denied, another request changed its phase"))
        #expect(board.tell(people(locked: true)).contains("reply 2: denied, the session is locked"))
        board.answerAll()
        _ = board.obey(board.handle(people(locked: false)))
        _ = board.obey(board.wait(.seconds(5)))
        board.answerAll()
        #expect(board.phase("map") == "active")
        #expect(board.phase("radio") == "background")
    }

    @Test func appIsBackInFront_whenASleepDeniesItsOwnActivationAfterAnothers() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("map"))).contains("reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        #expect(board.phase("map") == "active")
        #expect(board.phase("radio") == "background")
    }

    @Test func appIsBackInFront_whenALaunchInItsPlaceAndItsOwnActivationAreDenied() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .activate(board.id("map")))
        let denied = board.sleepAMinute()
        #expect(denied.contains("reply 2: denied, sleeping"))
        #expect(denied.contains("reply 1: denied, sleeping"))
        #expect(board.phase("map") == "active")
    }

    @Test func appThatIsActiveByThenStaysInFront_whenALaunchThatWaitsIsDenied() throws {
        var board = try waitingBoard()
        _ = try board.obey(
            board.handle(.requested(RequestID(rawValue: 1), .launch(board.id("radio"), background: false))))
        board.answerAll()
        _ = try board.obey(board.handle(.requested(RequestID(rawValue: 2), .activate(board.id("phone")))))
        board.answerAll()
        #expect(board.phase("phone") == "active")
        #expect(board.phase("map") == "background")
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phase("phone") == "active")
        #expect(board.phase("map") == "background")
    }

    @Test func restartComesInBackground_whenAnotherIsInFrontAsTheLaunchInItsPlaceIsDenied() throws {
        var board = startedBoard([app("map") { $0.restartDelay = .seconds(20) }, app("phone")], front: .one)
        _ = board.exited("map", .signalled(11))
        _ = try board.ask(1, .launch(board.id("map"), background: true))
        _ = try board.obey(board.handle(.requested(RequestID(rawValue: 2), .activate(board.id("phone")))))
        #expect(board.phase("phone") == "active")
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        _ = board.emptied("map")
        _ = board.obey(board.wait(.seconds(25)))
        board.answerAll()
        #expect(board.phase("phone") == "active")
        #expect(board.phase("map") == "background")
    }

    @Test func appIsBackInFront_whenAReloadRemovesTheOneThatWasToTakeItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        var device = DevicePolicy()
        device.front = .one
        #expect(
            board.tell(.configured([app("map")], device)).contains("reply 1: denied, its configuration was removed"))
        board.answerAll()
        _ = board.exited("radio")
        _ = board.emptied("radio")
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    @Test func appStaysInFront_whenTheLaunchOfATaskThatHasEndedIsDenied() throws {
        var board = startedBoard([app("map")], front: .one)
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
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

    @Test func appStaysInBackground_whenAnActivationIsDeniedAfterItsBackgroundLaunchHasBegun() throws {
        var board = try waitingBoard(.many)
        _ = try board.ask(1, .launch(board.id("radio"), background: true))
        _ = try board.ask(2, .activate(board.id("radio")))
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn radio user"))
        #expect(board.tell(.lid(closed: true)).contains("reply 2: denied, the lid is closed"))
        board.answerAll()
        _ = board.obey(board.handle(.spawned(board.last("radio"))))
        board.answerAll()
        #expect(board.phase("radio") == "background")
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        #expect(board.phase("map") == "active")
        #expect(board.phase("radio") == "background")
    }

    @Test func appStaysInBackground_whenAnActivationInPlaceOfItsRestartIsDeniedAfterItHasBegun() throws {
        var board = startedBoard([app("radio") { $0.restartDelay = .seconds(20) }])
        try board.goBack("radio")
        _ = board.exited("radio", .signalled(11))
        _ = board.emptied("radio")
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        _ = board.obey(board.handle(.spawned(board.last("radio"))))
        board.answerAll()
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        #expect(board.phase("radio") == "background")
    }

    @Test func appIsBackInFront_whenTheActivationThatStartsAnotherIsDenied() throws {
        var board = startedBoard([app("map"), manual("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        board.answerAll()
        _ = board.obey(board.handle(.spawned(board.last("radio"))))
        board.answerAll()
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    @Test func appIsBackInFrontAndNothingIsLaunched_whenALidAndASleepDenyAllThatWasWished() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .activate(board.id("map")))
        #expect(
            try board.ask(3, .activate(board.id("radio"))).contains(
                "reply 2: denied, another request changed its phase"))
        #expect(board.tell(.lid(closed: true)).contains("reply 3: denied, the lid is closed"))
        board.answerAll()
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        board.answerAll()
        #expect(board.phase("map") == "active")
        #expect(board.phase("radio") == "-")
    }

    @Test func appComesUpInFront_whenOnlyTheActivationsAfterItsLaunchAreDenied() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .activate(board.id("map")))
        #expect(
            try board.ask(3, .activate(board.id("radio"))) == ["reply 2: denied, another request changed its phase"])
        #expect(board.tell(.lid(closed: true)) == ["reply 3: denied, the lid is closed"])
        board.answerAll()
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        // Only the launch in front is still wished.
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn radio user"))
        _ = board.spawned("radio")
        _ = board.returned("radio")
        #expect(board.returned("radio").contains("reply 1: done"))
        board.answerAll()
        #expect(board.phases("map", "radio", "phone") == ["background", "active", "background"])
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
        board.slept += .seconds(60)
        _ = board.obey(board.handle(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        _ = board.obey(board.wait(.seconds(31)))
        board.answerAll()
        #expect(board.phase("map") == "active")
        #expect(board.phase("radio") == "background")
    }

    @Test func crashedAppIsRestartedInFront_whenTheActivationInItsPlaceIsDenied() throws {
        var board = startedBoard([app("map") { $0.restartDelay = .seconds(20) }, app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = board.exited("map", .signalled(11))
        _ = board.emptied("map")
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

    @Test func appIsBackInFront_whenACancelledShutdownDeniedTheActivationInItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.shutdownSignal(true).contains("reply 1: denied, shutting down"))
        _ = board.shutdownSignal(false)
        board.answerAll()
        #expect(board.phase("map") == "active")
        #expect(board.phase("radio") == "background")
    }

    @Test func appIsBackInFrontAndNothingIsLaunched_whenACancelledShutdownDeniedTheLaunchInItsPlace() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        let ending = board.shutdownSignal(true)
        #expect(ending.prefix(2) == ["reply 90: denied, shutting down", "reply 1: denied, shutting down"])
        _ = board.shutdownSignal(false)
        board.answerAll()
        _ = board.obey(board.handle(.spawned(board.last("server"))))
        _ = board.obey(board.handle(.exited(board.last("server"), .signalled(9))))
        _ = board.obey(board.wait(.seconds(5)))
        #expect(board.phases("map", "radio", "phone") == ["active", "-", "background"])
        #expect(try !board.view("radio").restartPending)
        #expect(try board.view("radio").launches == 0)
        #expect(try board.view("map").launches == 1)
    }

    @Test(arguments: [false, true])
    func appThatHeatEndedIsBackInFront_whetherOrNotAnActivationInItsPlaceIsDenied(_ isActivated: Bool) throws {
        var board = startedBoard([app("map"), app("radio") { $0.priorityBand = 950 }], front: .one)
        #expect(board.tell(zone(99_000)).contains("kill map"))
        if isActivated { _ = try board.ask(1, .activate(board.id("radio"))) }
        _ = board.exited("map", .signalled(9))
        _ = board.emptied("map")
        let lid = board.tell(.lid(closed: true))
        if isActivated { #expect(lid.contains("reply 1: denied, the lid is closed")) }
        board.answerAll()
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        _ = board.obey(board.handle(zone(40_000)))
        _ = board.obey(board.wait(.seconds(10)))
        #expect(board.phase("map") == "active")
    }

    @Test func appIsBackInFront_whenALockDeniesTheActivationInItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(people(locked: true)).contains("reply 1: denied, the session is locked"))
        board.answerAll()
        _ = board.obey(board.handle(people(locked: false)))
        _ = board.obey(board.wait(.seconds(5)))
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    @Test func appIsBackInFront_whenALaunchInItsPlaceAndOneInBackgroundAreDenied() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        _ = try board.ask(2, .launch(board.id("radio"), background: true))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        #expect(board.phase("map") == "active")
    }

    @Test func activationWhoseClientIsGoneStands_whenALaterOneOfAnotherAppIsDenied() throws {
        var board = startedBoard([app("map"), app("radio"), app("phone")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(.requestAbandoned(RequestID(rawValue: 1))) == [])
        _ = try board.ask(2, .activate(board.id("phone")))
        #expect(board.sleepAMinute() == ["reply 2: denied, sleeping"])
        #expect(board.phases("map", "radio", "phone") == ["background", "active", "background"])
    }

    @Test func appStaysInBackground_whenItIsSentThereDuringPreparing() throws {
        var board = startedBoard([app("camera")])
        _ = board.sleepSignal(true)
        _ = try board.ask(1, .background(board.id("camera")))
        board.answerAll()
        board.slept += .seconds(60)
        _ = board.obey(board.handle(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        #expect(board.phase("camera") == "background")
    }

    @Test(arguments: [false, true])
    func appIsBackInFront_whenALidDeniesTheActivationInItsPlace_reloadedOrNot(_ isReloaded: Bool) throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        if isReloaded { _ = board.tell(.configured([app("map"), app("radio")], oneInFront)) }
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        board.answerAll()
        _ = board.obey(board.handle(.lid(closed: false)))
        _ = board.obey(board.wait(.seconds(5)))
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    @Test(arguments: [false, true])
    func appIsBackInFront_whenASleepDeniesTheLaunchInItsPlace_reloadedOrNot(_ isReloaded: Bool) throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .launch(board.id("radio"), background: false))
        let apps = [app("map"), manual("server"), manual("radio") { $0.after = ["server"] }, app("phone")]
        if isReloaded { _ = board.tell(.configured(apps, oneInFront)) }
        #expect(board.sleepAMinute().contains("reply 1: denied, sleeping"))
        #expect(board.phase("map") == "active")
    }

    @Test func onlyTheLastActivationIsLeft_whenAReloadAllowsOneInFront() throws {
        var board = startedBoard([app("map"), app("radio"), app("phone")])
        try board.goBack("radio")
        try board.goBack("phone")
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = try board.ask(2, .activate(board.id("phone")))
        let effects = board.tell(.configured([app("map"), app("radio"), app("phone")], oneInFront))
        #expect(effects.contains("reply 1: denied, another request changed its phase"))
        #expect(!effects.contains { $0.hasPrefix("reply 2") })
        board.answerAll()
        board.answerAll()
        #expect(["map", "radio", "phone"].map { board.phase($0) } == ["background", "background", "active"])
    }

    private var oneInFront: DevicePolicy {
        var policy = DevicePolicy()
        policy.front = .one
        return policy
    }
}
