import Lifecycle
import Testing

@Suite struct RestartTests {
    private func running(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([app("camera", change)])
        board.login()
        board.start()
        return board
    }

    /// Ends the app, waits for its restart and returns the delay; nil: none comes.
    private func delay(_ board: inout Board, _ status: Lifecycle.ExitStatus = .exited(1)) -> Nanoseconds? {
        _ = board.exited("camera", status)
        let immediate = board.obey(board.handle(.process(.groupEmptied(board.last("camera")))))
        if !immediate.isEmpty { return .zero }
        guard let deadline = board.core.nextDeadline else { return nil }
        let delay = deadline.at - board.monotonic
        _ = board.obey(board.wait(delay))
        return delay
    }

    @Test(arguments: [
        (RestartPolicy.never, Lifecycle.ExitStatus.exited(1), false), (.never, .signalled(11), false),
        (.onFailure, .exited(0), false), (.onFailure, .exited(1), true), (.onFailure, .signalled(11), true),
        (.onFailure, .unknown, true), (.always, .exited(0), true), (.always, .signalled(9), true),
    ])
    func appIsStartedAgain_whenItsPolicySaysSo(
        _ policy: RestartPolicy, _ status: Lifecycle.ExitStatus, _ restarts: Bool
    ) throws {
        var board = running { $0.restart = policy }
        #expect((delay(&board, status) != nil) == restarts)
        #expect(try (board.view("camera").taskState == .running) == restarts)
    }

    @Test func delayDoublesUpToItsLimit_whenItEndsAgainAndAgain() throws {
        var board = running { $0.restartDelayMax = .seconds(1) }
        let delays = (0..<6).map { _ in delay(&board) }
        #expect(delays == [100, 200, 400, 800, 1000, 1000].map { Nanoseconds.milliseconds($0) })
    }

    @Test func delayStartsAnew_whenItWasUpLongEnough() throws {
        var board = running()
        _ = delay(&board)
        _ = delay(&board)
        _ = board.wait(.milliseconds(59_999))
        #expect(delay(&board) == .milliseconds(400))
        _ = board.wait(.seconds(60))
        #expect(delay(&board) == .milliseconds(100))
    }

    @Test func appIsLeftDown_whenItEndsTooOftenInARow() throws {
        var board = running { $0.restartLimit = 3 }
        #expect(delay(&board) != nil)
        #expect(delay(&board) != nil)
        #expect(delay(&board) == nil)
        #expect(try board.view("camera").isLeftDown)
        // An operator's launch never counts against the limit, and forgives.
        try board.follow(1, .launch(board.id("camera"), background: false))
        #expect(try !board.view("camera").isLeftDown)
        #expect(delay(&board) == .milliseconds(100))
    }

    @Test func appIsNotLeftDown_whenItWasUpLongEnoughBetweenItsEnds() throws {
        var board = running { $0.restartLimit = 2 }
        for _ in 0..<4 {
            #expect(delay(&board) == .milliseconds(100))
            _ = board.wait(.seconds(60))
        }
        #expect(try !board.view("camera").isLeftDown)
    }

    @Test func restartIsImmediate_whenTheDelayIsZero() throws {
        var board = running { $0.restartDelay = .zero }
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera crash: killed by signal 9", "clear camera",
            ])
        #expect(board.emptied("camera") == ["spawn camera restart"])
    }

    @Test func appStaysDown_whenAnOperatorEndedIt() throws {
        var board = running { $0.restart = .always }
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        // Its willTerminate hangs: still an operator's end, as far as the restart goes.
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        #expect(board.gone("camera") == ["reply 1: done"])
        #expect(board.pass(.seconds(100)) == [])
    }

    /// A shell that says so at once would be asked again in the same event, without end.
    @Test func launchThatFailsIsNotTriedAgainAtOnce_whateverIsConfigured() throws {
        var board = Board([
            app("camera") {
                $0.restartDelay = .zero
                $0.restartDelayMax = .zero
            }
        ])
        _ = board.tell(.started)
        let failed = board.tell(.process(.spawnFailed(board.last("camera"), code: 2, explanation: "no such user")))
        #expect(!failed.contains { $0.hasPrefix("spawn") }, "\(failed)")
        #expect(board.pass(.milliseconds(99)) == [])
        #expect(board.pass(.milliseconds(1)) == ["spawn camera restart"])
    }

    @Test func pendingRestartIsTakenBack_whenTerminated() throws {
        var board = running()
        board.crash("camera")
        #expect(try board.ask(1, .terminate(board.id("camera"), force: false)) == ["reply 1: done"])
        #expect(board.pass(.seconds(10)) == [])
    }

    @Test func restartKeepsThePhase_whenInBackground() throws {
        var board = running()
        try board.follow(1, .background(board.id("camera")))
        board.gone("camera")
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart background"])
    }

    @Test func restartWaitsForTheWake_whenDueInASleep() throws {
        var board = running()
        board.crash("camera")
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
        #expect(board.pass(.seconds(20)) == [])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "spawn camera restart"])
    }

    @Test func endIsReportedBeforeTheRestartAndOnce_whenLeftoversLinger() throws {
        var board = running { $0.restartDelay = .zero }
        #expect(
            board.exited("camera", .exited(3)) == [
                "report camera exit: exited by itself with status 3", "clear camera",
            ])
        #expect(board.exited("camera", .exited(3)) == [])
        // Its grandchildren do not die (D state): named, and not waited for any longer.
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["unkillable camera", "spawn camera restart"])
    }

    @Test func appIsLeftDown_whenAShutdownIsCancelledBeforeItsEndIsOver() throws {
        var board = running { $0.restartLimit = 1 }
        _ = board.exited("camera", .signalled(11))
        #expect(try board.view("camera").isLeftDown)
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        #expect(board.emptied("camera") == [])
    }

    @Test func appIsLeftDown_whenItEndsForMemoryAndAShutdownIsCancelledMeanwhile() throws {
        var board = running { $0.restartLimit = 1 }
        _ = board.tell(.memory(.pressure(.critical)))
        let use = MemoryUse(instance: board.last("camera"), bytes: 50 << 20)
        #expect(board.tell(.memory(.read(available: 10 << 20, total: 1000 << 20, [use]))).first == "kill camera")
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        _ = board.exited("camera", .signalled(9))
        #expect(try board.view("camera").isLeftDown)
        _ = board.emptied("camera")
        #expect(!board.pass(.seconds(60)).contains { $0.hasPrefix("spawn") })
    }

    @Test func activationForgives_whenTheAppIsLeftDown() throws {
        var board = running { $0.restartLimit = 2 }
        #expect(delay(&board) == .milliseconds(100))
        #expect(delay(&board) == nil)
        #expect(try board.view("camera").isLeftDown)
        try board.follow(1, .activate(board.id("camera")))
        #expect(try !board.view("camera").isLeftDown)
        // The next end is the first in a row, and its delay the first.
        #expect(delay(&board) == .milliseconds(100))
        #expect(try board.view("camera").taskState == .running)
    }

    @Test func longerDelayOfAReloadCountsAtOnce() throws {
        var board = startedBoard([app("camera")])
        board.gone("camera", .exited(1))
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
        _ = board.tell(.configured([app("camera") { $0.restartDelay = .seconds(20) }], DevicePolicy()))
        _ = board.spawned("camera")
        board.gone("camera", .exited(1))
        #expect(board.pass(.milliseconds(19_900)) == [])
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
    }
}
