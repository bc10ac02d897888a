import Lifecycle
import Testing

/// STOPPING=1 on the way to sleep: an app that ends by itself costs one sleep the time of that, not every one.
@Suite struct OwnEndTests {
    private func stop(_ board: inout Board) throws {
        _ = try board.tell(.app(.stopping(board.instance("camera"))))
        // It asks for a minute, again and again.
        _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
    }

    private func start(delayMax: Nanoseconds = .seconds(30)) -> Board {
        var board = Board([app("camera") { $0.restartLimit = 100 }])
        board.login(delayMax: delayMax)
        board.start()
        return board
    }

    private func again(_ board: inout Board) {
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.pass(.seconds(30))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
    }

    /// By an operator, after the sleep.
    private func launchAgain(_ board: inout Board, _ client: Int64) throws {
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = try board.ask(client, .launch(board.id("camera"), background: false))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
    }

    @Test func moreTimeIsNotHadForIt_whileASleepWaits() throws {
        var board = start()
        _ = board.sleepSignal(true, delayMax: .seconds(30))
        try stop(&board)
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        #expect(board.gone("camera", .signalled(9)).contains("release sleep"))
        // The next one does not wait.
        again(&board)
        _ = board.sleepSignal(true, delayMax: .seconds(30))
        #expect(try board.tell(.app(.stopping(board.instance("camera")))) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func nextSleepsFreezeItAtOnce_whenItWasEndingAllTheTimeOfOne() throws {
        var board = start(delayMax: .seconds(5))
        try stop(&board)
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.sleepSignal(true) == ["freeze camera"])
    }

    /// An operator's order before each sleep, with an app that has more time for it than is configured.
    @Test func nextSleepsFreezeItAtOnce_whenItHadAskedForMoreTimeThanIsConfigured() throws {
        var board = start()
        func end(_ client: Int64) throws {
            _ = try board.ask(client, .terminate(board.id("camera"), force: false))
            _ = board.returned("camera")
            _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
        }
        try end(1)
        _ = board.sleepSignal(true, delayMax: .seconds(30))
        #expect(board.pass(.seconds(14)) == [])
        #expect(board.gone("camera", .exited(0)).contains("release sleep"))
        try launchAgain(&board, 2)
        try end(3)
        #expect(board.sleepSignal(true, delayMax: .seconds(30)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    /// Its main process exits and leaves another behind, or the handler hangs: killed, it has cost the sleep as much.
    @Test(arguments: [true, false])
    func nextSleepsFreezeItAtOnce_whenItWasKilledAfterMoreTimeThanIsConfigured(_ leavesOthers: Bool) throws {
        var board = start()
        func end(_ client: Int64) throws {
            _ = try board.ask(client, .terminate(board.id("camera"), force: false))
            if leavesOthers { _ = board.returned("camera") }
            _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(8))))
            if leavesOthers { _ = board.leavesOthers("camera") }
        }
        try end(1)
        _ = board.sleepSignal(true, delayMax: .seconds(30))
        #expect(board.pass(.milliseconds(7999)) == [])
        #expect(board.pass(.milliseconds(1)).contains("kill camera"))
        #expect(board.gone("camera").contains("release sleep"))
        try launchAgain(&board, 2)
        try end(3)
        #expect(board.sleepSignal(true, delayMax: .seconds(30)) == ["freeze camera"])
    }

    @Test func nextSleepsFreezeItAtOnce_whenALaunchTookMoreTimeThanIsConfigured() throws {
        var board = Board([
            app("camera") {
                $0.readiness = .notify; $0.restartLimit = 100; $0.handlers = []
            }
        ])
        board.login(delayMax: .seconds(30))
        _ = board.tell(.started)
        func launch() throws {
            _ = board.spawned("camera")
            _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
            #expect(board.pass(.seconds(21)) == [])
        }
        try launch()
        _ = board.sleepSignal(true, delayMax: .seconds(30))
        #expect(board.pass(.seconds(9)) == [])
        _ = board.ready("camera")
        _ = board.frozen("camera")
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.gone("camera", .exited(1))
        _ = board.pass(.seconds(60))
        try launch()
        #expect(board.sleepSignal(true, delayMax: .seconds(30)) == ["freeze camera"])
    }

    /// The lease is let go in time.
    @Test func nextSleepsDoNotWaitForIt_whenItsStartTookAPartOfOne() throws {
        var board = Board([
            app("camera") {
                $0.handlers = []; $0.restartLimit = 100
            }
        ])
        board.login(delayMax: .seconds(5))
        _ = board.tell(.started)
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(3500)) == [])
        _ = board.spawned("camera")
        _ = board.frozen("camera")
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.gone("camera", .exited(1))
        _ = board.pass(.seconds(60))
        #expect(board.sleepSignal(true).contains("release sleep"))
    }

    /// A logical sleep that becomes one of logind's counts, or an app would never be forgiven.
    @Test func itIsForgottenAfterTenSleeps_whateverBeganThem() throws {
        var board = start(delayMax: .seconds(5))
        try stop(&board)
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(4500))
        _ = board.frozen("camera")
        for number: Int64 in 0..<10 {
            _ = board.wake(afterSleeping: .seconds(60))
            _ = board.tell(.login(.lockTaken(.sleep)))
            #expect(board.ask(number, .sleep(start: true, logical: true)) == ["freeze camera"])
            _ = board.sleepSignal(true)
            _ = board.frozen("camera")
        }
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.sleepSignal(true) == [])
    }

    /// Those cost nothing, and are over at once.
    @Test func logicalSleepsOfAnOperatorAreNotWhatItIsForgottenOver() throws {
        var board = start(delayMax: .seconds(5))
        try stop(&board)
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(4500))
        _ = board.frozen("camera")
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        for number: Int64 in 0..<12 {
            #expect(board.ask(2 * number, .sleep(start: true, logical: true)) == ["freeze camera"])
            _ = board.frozen("camera")
            _ = board.ask(2 * number + 1, .sleep(start: false, logical: true))
        }
        #expect(board.sleepSignal(true) == ["freeze camera"])
    }

    @Test func nextSleepsWaitForItsEnd_whenThatTookNoMoreOfOneThanIsConfigured() throws {
        var board = start()
        for client: Int64 in [1, 3] {
            _ = try board.ask(client, .terminate(board.id("camera"), force: false))
            _ = board.returned("camera")
            _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
            #expect(board.sleepSignal(true, delayMax: .seconds(30)) == [])
            #expect(board.pass(.seconds(3)) == [])
            #expect(board.gone("camera", .exited(0)).contains("release sleep"))
            try launchAgain(&board, client + 1)
        }
    }

    @Test func nextSleepsFreezeItAtOnce_whenAnOperatorEndedItAllTheTimeOfOne() throws {
        var board = Board([app("camera") { $0.allowances[.willTerminate] = .seconds(20) }])
        board.login(delayMax: .seconds(5))
        board.start()
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        _ = board.returned("camera")
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        _ = board.frozen("camera")
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.sleepSignal(true) == ["freeze camera"])
    }

    /// Its program cannot be executed: a lease of its own, say.
    @Test func nextSleepsDoNotWaitForIt_whenItsStartTookAllTheTimeOfOne() throws {
        var board = Board([app("camera")])
        board.login(delayMax: .seconds(5))
        _ = board.tell(.started)
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4500)) == [])
        #expect(board.pass(.milliseconds(400)).contains("release sleep"))
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.sleepSignal(true).contains("release sleep"))
    }

    @Test func appHasMoreTimeThatItAsksFor_whereNoSleepWaits() throws {
        var board = start()
        try stop(&board)
        #expect(board.pass(.milliseconds(14_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }
}
