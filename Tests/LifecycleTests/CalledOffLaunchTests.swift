import Lifecycle
import Testing

/// A launch that is denied does not happen, and what would have started the app without it does.
@Suite struct CalledOffLaunchTests {
    @Test(arguments: [FrontPolicy.one, .many])
    func appIsNeverStarted_whenItsActivationGaveWayToABackgroundLaunchThatIsDenied(_ front: FrontPolicy) throws {
        var board = try waitingBoard(front)
        #expect(try !board.ask(1, .activate(board.id("radio"))).contains { $0.hasPrefix("reply") })
        #expect(
            try board.ask(2, .launch(board.id("radio"), background: true)).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        #expect(try !board.view("radio").restartPending)
        _ = board.obey(board.handle(.spawned(board.last("server"))))
        _ = board.obey(board.wait(.seconds(5)))
        #expect(try board.view("radio").launches == 0)
        #expect(board.phase("radio") == "-")
        #expect(board.phase("map") == "active")
    }

    @Test func restartComesInBackground_whenTheActivationThatOverranGaveWayToALaunchThatIsDenied() throws {
        var board = startedBoard([app("radio") { $0.restartDelay = .seconds(5) }])
        try board.goBack("radio")
        let radio = try board.id("radio")
        _ = board.ask(1, .activate(radio))
        #expect(board.pass(.seconds(10)).contains("kill radio"))
        #expect(
            board.ask(2, .launch(radio, background: true)).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.exited("radio", .signalled(9))
        _ = board.emptied("radio")
        board.slept += .seconds(60)
        _ = board.sleepSignal(false)
        #expect(board.pass(.seconds(5)) == ["spawn radio restart background"])
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatALidDenies() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("phone"))).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.tell(.lid(closed: true)).contains("reply 2: denied, the lid is closed"))
        board.answerAll()
        _ = board.obey(board.handle(.spawned(board.last("server"))))
        _ = board.obey(board.wait(.seconds(5)))
        #expect(try board.view("radio").launches == 0)
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatASleepDenies() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(
            try board.ask(2, .activate(board.id("phone"))).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.sleepAMinute().contains("reply 2: denied, sleeping"))
        _ = board.obey(board.handle(.spawned(board.last("server"))))
        board.answerAll()
        #expect(board.phase("map") == "active")
        #expect(try board.view("radio").launches == 0)
    }

    @Test func appIsNeverStarted_whenItsActivationGaveWayToAnothersThatCameAbout() throws {
        var board = try waitingBoard()
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = try board.obey(board.handle(.requested(RequestID(rawValue: 2), .activate(board.id("phone")))))
        board.answerAll()
        #expect(board.phase("phone") == "active")
        _ = board.obey(board.handle(.spawned(board.last("server"))))
        board.answerAll()
        #expect(try board.view("radio").launches == 0)
    }

    @Test func appIsBackInFront_whenAnOperatorEndsTheOneWhoseLaunchTookItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .terminate(board.id("radio"), force: true))
        _ = try board.ask(2, .launch(board.id("radio"), background: false))
        #expect(
            try board.ask(3, .terminate(board.id("radio"), force: true)).contains(
                "reply 2: denied, another request ended it"))
        _ = board.exited("radio", .signalled(9))
        _ = board.emptied("radio")
        board.answerAll()
        #expect(board.phase("map") == "active")
    }

    @Test func restartComesInBackground_whenTheActivationThatOverranAndALaunchAfterItAreDenied() throws {
        var board = startedBoard([app("radio") { $0.restartDelay = .seconds(20) }])
        try board.goBack("radio")
        let radio = try board.id("radio")
        _ = board.ask(1, .activate(radio))
        #expect(board.pass(.seconds(10)).contains("kill radio"))
        _ = board.ask(2, .launch(radio, background: false))
        #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.exited("radio", .signalled(9))
        _ = board.emptied("radio")
        board.slept += .seconds(60)
        #expect(!board.sleepSignal(false).contains { $0.hasPrefix("spawn") })
        #expect(board.pass(.seconds(20)) == ["spawn radio restart background"])
    }

    @Test(arguments: [false, true])
    func leftDownAppThatAnActivationStartedIsRestarted_whenALaunchInItsEndIsDenied(_ isLidClosed: Bool) throws {
        var board = startedBoard([
            app("radio") {
                $0.restartLimit = 2; $0.restartDelay = .seconds(1)
            }
        ])
        _ = board.exited("radio", .exited(1))
        _ = board.emptied("radio")
        _ = board.pass(.seconds(1))
        _ = board.spawned("radio")
        _ = board.exited("radio", .exited(1))
        _ = board.emptied("radio")
        #expect(try board.view("radio").isLeftDown)
        let radio = try board.id("radio")
        #expect(board.ask(1, .activate(radio)) == ["spawn radio user"])
        _ = board.spawned("radio")
        #expect(board.pass(.seconds(20)).contains("kill radio"))
        _ = board.ask(2, .launch(radio, background: false))
        if isLidClosed { #expect(board.tell(.lid(closed: true)).contains("reply 1: denied, the lid is closed")) }
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.exited("radio", .signalled(9))
        _ = board.emptied("radio")
        board.slept += .seconds(60)
        _ = board.sleepSignal(false)
        #expect(try !board.view("radio").isLeftDown)
        #expect(board.pass(.seconds(10)) == [isLidClosed ? "spawn radio restart background" : "spawn radio restart"])
    }

    @Test(arguments: [false, true])
    func appThatHeatEndedWaitsForTheBoardToBeWell_whenACancelledShutdownWasToBringItBack(_ isLaunched: Bool) throws {
        var board = startedBoard([app("camera")])
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 4.5 s"])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.tell(zone(99_000)) == ["kill camera"])
        if isLaunched { _ = try board.ask(1, .launch(board.id("camera"), background: false)) }
        _ = board.exited("camera", .signalled(9))
        #expect(try board.view("camera").lastTermination?.reason.namespace == .thermal)
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping") == isLaunched)
        _ = board.emptied("camera")
        board.slept += .seconds(60)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
        #expect(board.pass(.seconds(20)) == [])
        #expect(board.tell(zone(40_000)) == ["spawn camera restart"])
    }

    @Test func launchComesAboutAfterTheSleep_whenItsClientIsGone() throws {
        var board = startedBoard([app("camera")])
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.pass(.seconds(10))
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        _ = board.tell(.requestAbandoned(RequestID(rawValue: 2)))
        _ = board.exited("camera", .signalled(9))
        _ = board.sleepSignal(true)
        _ = board.emptied("camera")
        board.slept += .seconds(60)
        #expect(board.sleepSignal(false).contains("spawn camera user"))
    }

    @Test func endIsCountedOnce_whenSeveralWishesInItAreDenied() throws {
        var board = startedBoard([
            app("camera") {
                $0.restartLimit = 2; $0.restartDelay = .seconds(5)
            }
        ])
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.pass(.seconds(10))
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        _ = try board.ask(3, .activate(board.id("camera")))
        _ = try board.ask(4, .launch(board.id("camera"), background: false))
        board.reborn()
        _ = board.exited("camera", .signalled(9))
        board.reborn()
        #expect(board.tell(.lid(closed: true)) == ["reply 3: denied, the lid is closed"])
        board.reborn()
        _ = board.sleepSignal(true)
        #expect(try !board.view("camera").isLeftDown)
        _ = board.emptied("camera")
        board.slept += .seconds(60)
        _ = board.sleepSignal(false)
        #expect(board.pass(.seconds(5)) == ["spawn camera restart background"])
    }

    @Test func appIsRestarted_whenACancelledShutdownDeniedALaunchInItsEnd() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .seconds(5) }])
        _ = try board.ask(1, .background(board.id("camera")))
        _ = board.pass(.seconds(10))
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        _ = board.exited("camera", .signalled(9))
        #expect(board.shutdownSignal(true).contains("reply 2: denied, shutting down"))
        _ = board.shutdownSignal(false)
        _ = board.emptied("camera")
        _ = board.pass(.seconds(5))
        #expect(try board.view("camera").launches == 2)
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
        board.slept += .seconds(60)
        #expect(!board.sleepSignal(false).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }

    @Test func watchdogIsFed_whenAReloadMakesTheEssentialAppManualWhileALaunchWaitsThatIsDenied() throws {
        func essential(_ policy: inout AppPolicy) {
            policy.after = ["server"]
            policy.restartLimit = 1
            policy.isEssential = true
        }
        var board = startedBoard([manual("server"), app("modem", essential)])
        _ = board.tell(.hardwareWatchdog(timeout: .seconds(30)))
        _ = board.exited("modem", .signalled(11))
        _ = board.emptied("modem")
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        _ = try board.ask(2, .launch(board.id("modem"), background: true))
        _ = board.tell(.configured([manual("server"), manual("modem", essential)], DevicePolicy()))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.obey(board.wait(.seconds(5)))
        board.slept += .seconds(60)
        _ = board.sleepSignal(false)
        #expect(board.pass(.seconds(20)).contains("feed"))
    }

    @Test func watchdogIsFed_whenAReloadMakesTheEssentialAppManualBeforeOrAfterALaunchThatIsDenied() throws {
        func essential(_ policy: inout AppPolicy) {
            policy.after = ["server"]
            policy.restartLimit = 1
            policy.isEssential = true
        }
        for isFirst in [true, false] {
            var board = startedBoard([manual("server"), app("modem", essential)])
            _ = board.tell(.hardwareWatchdog(timeout: .seconds(30)))
            _ = board.exited("modem", .signalled(11))
            _ = board.emptied("modem")
            let reload = Event.configured([manual("server"), manual("modem", essential)], DevicePolicy())
            if isFirst { _ = board.tell(reload) }
            _ = try board.ask(1, .launch(board.id("server"), background: true))
            _ = try board.ask(2, .launch(board.id("modem"), background: true))
            _ = board.sleepSignal(true)
            _ = board.obey(board.wait(.seconds(5)))
            board.slept += .seconds(60)
            _ = board.sleepSignal(false)
            if !isFirst { _ = board.tell(reload) }
            #expect(board.pass(.seconds(20)).contains("feed"), "\(isFirst)")
        }
    }
}
