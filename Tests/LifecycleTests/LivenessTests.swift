import Lifecycle
import Testing

@Suite struct LivenessTests {
    private func watched(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([
            app("camera") {
                $0.liveness = .seconds(10); change(&$0)
            }
        ])
        board.login()
        board.start()
        return board
    }

    @Test func appIsKilledAndRestarted_whenItStopsPinging() throws {
        var board = watched()
        #expect(board.pass(.seconds(9)) == [])
        #expect(board.ping("camera") == [])
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera watchdog: liveness: no WATCHDOG=1 for 10 s", "clear camera",
            ])
        _ = board.emptied("camera")
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
    }

    @Test func appThatSaysThatItStops_isNotKilledForSilence() throws {
        var board = watched()
        #expect(board.stopping("camera") == [])
        // What may end it now is the time that it has to exit.
        let effects = board.pass(.seconds(60))
        #expect(effects == ["kill camera", "unkillable camera"])
        #expect(board.exited("camera", .signalled(9)).first?.contains("liveness") == false)
    }

    @Test func nobodyIsWatched_beforeTheLaunchIsOver() throws {
        var board = Board([app("camera") { $0.liveness = .seconds(1) }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        #expect(board.ping("camera") == [])
        #expect(board.pass(.seconds(19)) == [])
        _ = board.returned("camera")
        #expect(board.pass(.seconds(1)) == ["kill camera"])
    }

    @Test func freezingStopsTheWatchdogAndThawingArmsItInFull_whenAsleep() throws {
        var board = watched()
        _ = board.pass(.seconds(9))
        board.fallAsleep()
        // MONOTONIC may run on (s2idle).
        _ = board.stall(.seconds(3600))
        // A ping from before counts for nothing.
        #expect(board.ping("camera") == [])
        _ = board.obey(board.prepareForSleep(false))
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func endingAppIsNotWatched_whenThawedOnItsWayOut() throws {
        var board = watched { $0.allowances[.willTerminate] = .seconds(30) }
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        // 25.5 s of its 30 are left; it is not expected to ping in them.
        #expect(board.pass(.milliseconds(25_499)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    /// It was told the former one with its launch.
    @Test(arguments: [Nanoseconds.seconds(2), .seconds(60), nil])
    func newIntervalIsForTheNextLaunch_whenChanged(_ interval: Nanoseconds?) throws {
        var board = watched()
        _ = board.pass(.seconds(9))
        _ = board.tell(.configured([app("camera") { $0.liveness = interval }], DevicePolicy()))
        #expect(board.pass(.milliseconds(999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        _ = board.gone("camera")
        _ = board.pass(.seconds(60))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
        guard let interval else { return #expect(board.pass(.seconds(600)) == []) }
        #expect(board.pass(interval - .milliseconds(1)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func thawingArmsTheWatchdogInFull_whenTheAppWasSuspendedWhileTheBoardWasAwake() throws {
        var board = watched()
        _ = board.pass(.seconds(9))
        try board.goBack("camera")
        #expect(board.pass(.seconds(60)) == [])
        try board.follow(1, .activate(board.id("camera")))
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    /// For how long a look at the clocks may be away.
    @Test func itIsStillLookedAt_whenAReloadTakesTheIntervalAway() {
        var board = Board([app("camera") { $0.liveness = .seconds(20) }])
        board.start()
        _ = board.tell(.configured([app("camera")], DevicePolicy()))
        #expect(board.core.nextDeadline?.reason == .stallCheck)
    }

    @Test func appIsNotWatched_whenAReloadBringsTheInterval() throws {
        var board = Board([app("camera")])
        board.start()
        _ = board.pass(.seconds(60))
        #expect(board.tell(.configured([app("camera") { $0.liveness = .seconds(2) }], DevicePolicy())) == [])
        #expect(board.ping("camera") == [])
        #expect(board.pass(.seconds(60)) == [])
    }
}
