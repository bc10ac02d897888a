import Lifecycle
import Testing

/// A launch that is wished in the middle of an app's end, or in place of what would start it again, and is denied: the
/// app is as it would be without.
@Suite struct DeniedLaunchTests {
    private func board(_ apps: [AppPolicy]) -> Board {
        var board = Board(apps)
        board.login()
        board.start()
        return board
    }

    private func zone(_ temperature: Int) -> Event {
        .temperatures([ThermalReading(temperature: temperature, fair: nil, serious: nil, critical: 90_000)])
    }

    /// Heat has ended it, and request 1 for a launch of it is denied by a sleep: what the end of that brings.
    private func afterCoolingAndASleep(_ board: inout Board) -> [String] {
        _ = board.exited("camera", .signalled(9))
        _ = board.tell(zone(40_000))
        _ = board.pass(.seconds(5))
        #expect(board.sleepSignal(true).contains("reply 1: denied, sleeping"))
        _ = board.emptied("camera")
        board.slept = .seconds(60)
        return board.sleepSignal(false)
    }

    /// It is being killed for a handler that overran, and a launch of it is wished meanwhile.
    private func wishedInItsEnd(_ change: (inout AppPolicy) -> Void) throws -> Board {
        var board = board([app("camera", change)])
        _ = try board.ask(1, .background(board.id("camera")))
        #expect(board.pass(.seconds(10)) == ["kill camera"])
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        return board
    }

    @Test func restartIsOwed_whenALaunchThatWasWishedInTheEndIsDenied() throws {
        var board = try wishedInItsEnd { $0.restartDelay = .seconds(20) }
        let camera = try board.id("camera")
        let restart = Effect.note(.restartScheduled(camera, delay: .seconds(20)))
        #expect(!board.handleAll(.exited(board.last("camera"), .signalled(9))).contains(restart))
        // It is owed, and said, from then on.
        let asleep = Event.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)
        #expect(board.handleAll(asleep).contains(restart))
        _ = board.emptied("camera")
        board.slept = .seconds(60)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
        #expect(board.pass(.seconds(20)) == ["spawn camera restart background"])
    }

    @Test func appIsLeftDown_whenALaunchThatWasWishedInItsLastEndIsDenied() throws {
        var board = try wishedInItsEnd { $0.restartLimit = 1 }
        _ = board.exited("camera", .signalled(9))
        #expect(try !board.view("camera").isLeftDown)
        _ = board.sleepSignal(true)
        #expect(try board.view("camera").isLeftDown)
    }

    @Test func appComesBackWhenTheBoardIsWell_whenALaunchThatWasWishedInItsEndIsDenied() throws {
        var board = board([app("camera") { $0.restartDelay = .zero }])
        _ = board.tell(zone(99_000))
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(afterCoolingAndASleep(&board) == ["sleep is over", "take sleep", "spawn camera restart"])
    }

    @Test func appInBackgroundStaysDown_whenALaunchThatWasWishedInItsEndForHeatIsDenied() throws {
        var board = board([app("camera") { $0.restartDelay = .zero }])
        _ = try board.ask(7, .background(board.id("camera")))
        _ = board.returned("camera")
        _ = board.tell(zone(99_000))
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(afterCoolingAndASleep(&board) == ["sleep is over", "take sleep"])
    }

    @Test func appThatHeatEndedStaysDown_whenAnActivationInItsPlaceIsDenied() throws {
        var board = board([
            app("server") {
                $0.launch = .manual
                $0.priorityBand = 900
            }, app("camera") { $0.after = ["server"] },
        ])
        _ = board.tell(zone(99_000))
        _ = board.exited("camera", .signalled(9))
        _ = board.emptied("camera")
        _ = board.pass(.seconds(5))
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        #expect(try board.ask(2, .activate(board.id("camera"))) == [])
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.spawned("server")
        _ = board.returned("server")
        _ = board.pass(.seconds(5))
        board.slept = .seconds(60)
        #expect(!board.sleepSignal(false).contains { $0.hasPrefix("spawn camera") })
        #expect(!board.pass(.seconds(20)).contains { $0.hasPrefix("spawn camera") })
        #expect(board.tell(zone(40_000)).contains("spawn camera restart"))
    }
}
