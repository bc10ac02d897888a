import Testing

@testable import Lifecycle

/// A handler that is a command, and the command does not get to run: others can keep it from that.
@Suite struct CommandStartTests {
    private func active() -> Board {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
        return board
    }

    private func tell(_ board: inout Board, isStarting: Bool) throws {
        let (instance, call) = (try board.instance("camera"), try #require(board.calls[board.instance("camera")]))
        let event = isStarting ? AppEvent.handlerStarting(instance, call) : .handlerStarted(instance, call)
        #expect(board.tell(.app(event)) == [])
    }

    private func wake(_ board: inout Board) {
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.returned("camera")
        _ = board.returned("camera")
    }

    @Test func countsAsHandled_andTheSleepGoesOn() throws {
        var board = active()
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
        try tell(&board, isStarting: true)
        #expect(board.pass(.milliseconds(2249)) == [])
        #expect(
            board.pass(.milliseconds(1)) == ["give up the call of camera", "call camera didEnterBackground 1.12 s"])
        try tell(&board, isStarting: true)
        #expect(board.pass(.milliseconds(1125)) == ["give up the call of camera", "freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    /// Each sleep has less for it; once it has run, all of it again.
    @Test func nextSleepsGiveLessTime_untilItRuns() throws {
        var board = active()
        _ = board.sleepSignal(true)
        try tell(&board, isStarting: true)
        _ = board.pass(.milliseconds(2250))
        try tell(&board, isStarting: true)
        _ = board.pass(.milliseconds(1125))
        _ = board.frozen("camera")
        wake(&board)
        #expect(board.sleepSignal(true) == ["call camera willResignActive 563 ms"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 1.12 s"])
        try tell(&board, isStarting: true)
        try tell(&board, isStarting: false)
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        wake(&board)
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
    }

    @Test func commandThatRunsTooLongEndsItsApp() throws {
        var board = active()
        _ = board.sleepSignal(true)
        try tell(&board, isStarting: true)
        _ = board.pass(.seconds(1))
        try tell(&board, isStarting: false)
        #expect(board.pass(.milliseconds(1250)) == ["kill camera"])
    }

    /// What keeps it from being frozen may be that command: no sleep ends it for that, however often.
    @Test func isNotEnded_whereItCannotBeFrozenAtTwoSleepsInARow() throws {
        var board = active()
        for _ in 0..<3 {
            _ = board.sleepSignal(true)
            _ = board.returned("camera")
            try tell(&board, isStarting: true)
            let effects = board.pass(.seconds(5))
            #expect(effects.contains("unfreezable camera") && effects.contains("release sleep"))
            #expect(!effects.contains("kill camera"))
            wake(&board)
        }
        // One that is held up by what runs is.
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.pass(.seconds(5)).contains("kill camera"))
    }

    @Test func readyIsAwaitedAllTheSame_atItsLaunch() throws {
        var board = Board([app("camera") { $0.readiness = .notify }])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        try tell(&board, isStarting: true)
        _ = board.tell(.app(.ready(try board.instance("camera"))))
        #expect(board.pass(.seconds(20)) == ["give up the call of camera", "call camera didBecomeActive 10 s"])
        _ = board.returned("camera")
        #expect(board.pass(.seconds(20)) == [])
    }

    /// One that could not be started has answered all the same: what is late then is the app.
    @Test func readyIsJudged_whereTheCommandFails() throws {
        var board = Board([app("camera") { $0.readiness = .notify }])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        try tell(&board, isStarting: true)
        #expect(board.returned("camera") == [])
        #expect(board.pass(.seconds(20)) == ["kill camera"])
    }

    @Test func appThatIsToEndIsAskedTo() throws {
        var board = active()
        let camera = try board.id("camera")
        #expect(board.ask(1, .terminate(camera, force: false)) == ["call camera willTerminate user 5 s"])
        try tell(&board, isStarting: true)
        #expect(board.pass(.milliseconds(5999)) == ["give up the call of camera", "terminate camera"])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func wordsOfOtherCallsChangeNothing() throws {
        var board = active()
        _ = board.sleepSignal(true)
        let instance = try board.instance("camera")
        #expect(board.tell(.app(.handlerStarting(instance, CallID(rawValue: 99)))) == [])
        #expect(board.pass(.milliseconds(2250)) == ["kill camera"])
        #expect(board.tell(.app(.handlerStarting(instance, CallID(rawValue: 99)))) == [])
    }

    @Test func nextLoopKnowsIt() throws {
        var board = active()
        _ = board.sleepSignal(true)
        try tell(&board, isStarting: true)
        board.core = try #require(DeviceLifecycle(archive: board.core.archived(), changes: []))
        #expect(
            board.pass(.milliseconds(2250)) == ["give up the call of camera", "call camera didEnterBackground 1.12 s"])
        try tell(&board, isStarting: true)
        _ = board.pass(.milliseconds(1125))
        let before = board.core
        board.core = try #require(DeviceLifecycle(archive: before.archived(), changes: []))
        let index = try board.id("camera").rawValue
        #expect(board.core.apps[index].instance?.hasUnstartedCommand == true)
    }
}
