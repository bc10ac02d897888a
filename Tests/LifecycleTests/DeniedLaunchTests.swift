import Lifecycle
import Testing

/// A launch that is denied does not happen, and leaves an app that is down as it was. Launches that are wished in the
/// middle of an end: RestartAfterDenialTests.
@Suite struct DeniedLaunchTests {
    @Test func launchThatTheSleepDeniedDoesNotHappenLater() throws {
        var board = startedBoard([manual("server"), manual("camera") { $0.after = ["server"] }])
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        #expect(try board.ask(2, .launch(board.id("camera"), background: false)) == [])
        // The server's has begun.
        #expect(board.sleepSignal(true) == ["reply 2: denied, sleeping"])
        _ = board.spawned("server")
        _ = board.returned("server")
        _ = board.pass(.seconds(5))
        #expect(!board.wake(afterSleeping: .seconds(60)).contains { $0.hasPrefix("spawn") })
        #expect(!board.pass(.seconds(25)).contains { $0.hasPrefix("spawn") })
        #expect(try !board.view("camera").restartPending)
    }

    @Test func appIsStillLeftDown_whenALaunchOfItIsDenied() throws {
        var board = startedBoard([
            manual("server"),
            app("camera") {
                $0.after = ["server"]
                $0.restartLimit = 1
            },
        ])
        board.gone("camera", .exited(1))
        #expect(try board.view("camera").isLeftDown)
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        _ = try board.ask(2, .launch(board.id("camera"), background: false))
        #expect(try !board.view("camera").isLeftDown)
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        #expect(try board.view("camera").isLeftDown)
        #expect(try !board.view("camera").restartPending)
    }

    @Test func appThatHeatEndedStaysDown_whenAnActivationInItsPlaceIsDenied() throws {
        var board = startedBoard([
            manual("server") { $0.priorityBand = 900 }, app("camera") { $0.after = ["server"] },
        ])
        _ = board.tell(zone(99_000))
        board.gone("camera")
        _ = board.pass(.seconds(5))
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        #expect(try board.ask(2, .activate(board.id("camera"))) == [])
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.spawned("server")
        _ = board.returned("server")
        _ = board.pass(.seconds(5))
        #expect(!board.wake(afterSleeping: .seconds(60)).contains { $0.hasPrefix("spawn camera") })
        #expect(!board.pass(.seconds(20)).contains { $0.hasPrefix("spawn camera") })
        #expect(board.tell(zone(40_000)).contains("spawn camera restart"))
    }

    @Test func restartThatWasDueStaysDue_whenALaunchInItsPlaceIsDenied() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .seconds(20) }])
        _ = board.exited("camera", .exited(1))
        #expect(try board.ask(1, .launch(board.id("camera"), background: false)) == [])
        #expect(board.sleepSignal(true) == ["reply 1: denied, sleeping"])
        _ = board.emptied("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) == ["sleep is over", "take sleep"])
        #expect(board.pass(.seconds(20)) == ["spawn camera restart"])
    }
}
