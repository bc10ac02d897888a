import Lifecycle
import Testing

/// A launch that is wished in the middle of an app's end, and is denied: the app is started again, or stays down, as
/// without it.
@Suite struct RestartAfterDenialTests {
    private let awake = ["sleep is over", "take sleep"]

    /// "camera" is being killed for a handler that overran, and a launch of it is wished meanwhile.
    private func wishedInItsEnd(_ change: (inout AppPolicy) -> Void = { _ in }) throws -> Board {
        var board = try overrunBoard(change)
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        return board
    }

    @Test func restartIsOwed_whenALaunchThatWasWishedInTheEndIsDenied() throws {
        var board = try wishedInItsEnd { $0.restartDelay = .seconds(20) }
        let camera = try board.id("camera")
        let restart = Effect.note(.app(.restartScheduled(camera, delay: .seconds(20))))
        #expect(!board.handleAll(.process(.exited(board.last("camera"), .signalled(9)))).contains(restart))
        // It is owed, and said, from then on.
        let asleep = Event.login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic))
        #expect(board.handleAll(asleep).contains(restart))
        _ = board.emptied("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) == awake)
        #expect(board.pass(.seconds(20)) == ["spawn camera restart background"])
    }

    @Test func restartIsOwedOnce_whenTwoLaunchesAreDenied() throws {
        var board = try wishedInItsEnd { $0.restartDelay = .seconds(20) }
        let camera = try board.id("camera")
        _ = board.ask(2, .launch(camera, background: false))
        _ = board.exited("camera", .signalled(9))
        let asleep = Event.login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic))
        let restart = Effect.note(.app(.restartScheduled(camera, delay: .seconds(20))))
        #expect(board.handleAll(asleep).filter { $0 == restart } == [restart])
    }

    @Test func restartIsOwed_thoughAShutdownWasCancelledInTheEnd() throws {
        var board = try overrunBoard { $0.restartDelay = .seconds(20) }
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        _ = board.exited("camera", .signalled(9))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        _ = board.emptied("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) == awake)
        #expect(board.pass(.seconds(20)) == ["spawn camera restart background"])
    }

    @Test func appIsRestarted_whenACancelledShutdownDeniedALaunchInItsEnd() throws {
        var board = try wishedInItsEnd { $0.restartDelay = .seconds(5) }
        _ = board.exited("camera", .signalled(9))
        #expect(board.shutdownSignal(true) == ["reply 1: denied, shutting down"])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.emptied("camera") == [])
        #expect(board.pass(.seconds(5)) == ["spawn camera restart background"])
        #expect(try board.view("camera").launches == 2)
    }

    /// A reload counts from the next end, whether a launch was wished or not.
    @Test(arguments: [false, true])
    func restartStaysDue_whenAReloadForbidsTheNextOne(_ isLaunchDenied: Bool) throws {
        var board = try isLaunchDenied ? wishedInItsEnd() : overrunBoard()
        _ = board.exited("camera", .signalled(9))
        _ = board.tell(.configured([app("camera") { $0.restart = .never }], DevicePolicy()))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping") == isLaunchDenied)
        _ = board.emptied("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) == awake)
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart background"])
    }

    @Test func launchIsCalledOff_whenAnEarlierOneThatStoodHasBegunAndEnded() throws {
        var board = try overrunBoard { $0.restart = .never }
        let camera = try board.id("camera")
        _ = board.ask(1, .activate(camera))
        _ = board.ask(2, .activate(camera))
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 2))))
        #expect(board.gone("camera") == ["spawn camera user"])
        _ = board.spawned("camera")
        #expect(board.pass(.seconds(20)) == ["kill camera"])
        _ = board.ask(3, .launch(camera, background: false))
        _ = board.tell(.board(.lid(closed: true)))
        _ = board.sleepSignal(true)
        board.gone("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) + board.pass(.seconds(25)) == awake)
    }

    @Test func restartComesInBackground_whenTheActivationThatOverranAndALaunchAfterItAreDenied() throws {
        var board = startedBoard([app("radio") { $0.restartDelay = .seconds(20) }])
        try board.goBack("radio")
        let radio = try board.id("radio")
        _ = board.ask(1, .activate(radio))
        #expect(board.pass(.seconds(10)).contains("kill radio"))
        _ = board.ask(2, .launch(radio, background: false))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        board.gone("radio")
        #expect(board.wake(afterSleeping: .seconds(60)) == awake)
        #expect(board.pass(.seconds(20)) == ["spawn radio restart background"])
    }

    @Test func restartComesInBackground_whenTheActivationThatOverranGaveWayToALaunchThatIsDenied() throws {
        var board = startedBoard([app("radio") { $0.restartDelay = .seconds(5) }])
        try board.goBack("radio")
        let radio = try board.id("radio")
        _ = board.ask(1, .activate(radio))
        #expect(board.pass(.seconds(10)).contains("kill radio"))
        let gaveWay = board.ask(2, .launch(radio, background: true))
        #expect(gaveWay.contains("reply 1: denied, another request changed its phase"))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        board.gone("radio")
        #expect(board.wake(afterSleeping: .seconds(60)) == awake)
        #expect(board.pass(.seconds(5)) == ["spawn radio restart background"])
    }

    // MARK: Ends that count

    @Test func appIsLeftDown_whenALaunchThatWasWishedInItsLastEndIsDenied() throws {
        var board = try wishedInItsEnd { $0.restartLimit = 1 }
        _ = board.exited("camera", .signalled(9))
        #expect(try !board.view("camera").isLeftDown)
        _ = board.sleepSignal(true)
        #expect(try board.view("camera").isLeftDown)
    }

    @Test func endIsCountedOnce_whenSeveralWishesInItAreDenied() throws {
        var board = try overrunBoard {
            $0.restartLimit = 2
            $0.restartDelay = .seconds(5)
        }
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        _ = try board.ask(3, .activate(board.id("camera")))
        _ = try board.ask(4, .launch(board.id("camera"), background: false))
        board.reborn()
        _ = board.exited("camera", .signalled(9))
        board.reborn()
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 3: denied, the lid is closed"])
        board.reborn()
        _ = board.sleepSignal(true)
        #expect(try !board.view("camera").isLeftDown)
        _ = board.emptied("camera")
        _ = board.wake(afterSleeping: .seconds(60))
        #expect(board.pass(.seconds(5)) == ["spawn camera restart background"])
    }

    @Test(arguments: [false, true])
    func leftDownAppThatAnActivationStartedIsRestarted_whenALaunchInItsEndIsDenied(_ isLidClosed: Bool) throws {
        var board = startedBoard([
            app("radio") {
                $0.restartLimit = 2; $0.restartDelay = .seconds(1)
            }
        ])
        board.gone("radio", .exited(1))
        _ = board.pass(.seconds(1))
        _ = board.spawned("radio")
        board.gone("radio", .exited(1))
        #expect(try board.view("radio").isLeftDown)
        let radio = try board.id("radio")
        #expect(board.ask(1, .activate(radio)) == ["spawn radio user"])
        _ = board.spawned("radio")
        #expect(board.pass(.seconds(20)).contains("kill radio"))
        _ = board.ask(2, .launch(radio, background: false))
        if isLidClosed {
            #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        }
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        board.gone("radio")
        _ = board.wake(afterSleeping: .seconds(60))
        #expect(try !board.view("radio").isLeftDown)
        #expect(board.pass(.seconds(10)) == [isLidClosed ? "spawn radio restart background" : "spawn radio restart"])
    }

    // MARK: Heat

    /// Heat has ended it, and request 1 for a launch of it is denied by a sleep: what the end of that brings.
    private func afterCoolingAndASleep(_ board: inout Board) -> [String] {
        _ = board.exited("camera", .signalled(9))
        _ = board.tell(zone(40_000))
        _ = board.pass(.seconds(5))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        _ = board.emptied("camera")
        return board.wake(afterSleeping: .seconds(60))
    }

    @Test func appComesBackWhenTheBoardIsWell_whenALaunchThatWasWishedInItsEndIsDenied() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .zero }])
        _ = board.tell(zone(99_000))
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(afterCoolingAndASleep(&board) == ["sleep is over", "take sleep", "spawn camera restart"])
    }

    @Test func appInBackgroundStaysDown_whenALaunchThatWasWishedInItsEndForHeatIsDenied() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .zero }])
        _ = try board.ask(7, .background(board.id("camera")))
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 7))))
        #expect(board.tell(zone(99_000)) == ["kill camera"])
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(afterCoolingAndASleep(&board) == awake)
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
        #expect(board.wake(afterSleeping: .seconds(60)) == awake)
        #expect(board.pass(.seconds(20)) == [])
        #expect(board.tell(zone(40_000)) == ["spawn camera restart"])
    }
}
