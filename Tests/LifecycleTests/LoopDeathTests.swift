import Lifecycle
import Testing

/// A signal has ended the daemon's loop, and its apps with it; the loop after it has read the state.
@Suite struct LoopDeathTests {
    private static let end = Lifecycle.ExitStatus.withLoop(signal: 11)

    private func board(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        startedBoard([app("camera", change)])
    }

    @Test func appGoesOnAtOnce_andNoEndIsCounted() throws {
        var board = board { $0.restartLimit = 2 }
        for _ in 0..<3 {
            board.reborn()
            #expect(
                board.exited("camera", Self.end) == [
                    "report camera unknown: signal 11 ended curfewd's loop, and the app was ended with it",
                    "clear camera",
                ])
            let effects = board.handle(.process(.groupEmptied(board.last("camera"))))
            #expect(board.lines(effects) == ["spawn camera restart"])
            _ = board.obey(effects)
            board.answerAll()
            #expect(board.phase("camera") == "active")
        }
        let camera = try board.view("camera")
        #expect(camera.launches == 4 && !camera.isLeftDown && camera.lastTermination?.reason.isFailure == false)
    }

    @Test(arguments: [RestartPolicy.never, .onFailure, .always])
    func appThatWasLaunchedByHandGoesOn_whereItWas(_ policy: RestartPolicy) throws {
        var board = board {
            $0.restart = policy
            $0.launch = .onDemand
        }
        #expect(board.phase("camera") == "-")
        try board.follow(1, .launch(board.id("camera"), background: true))
        board.answerAll()
        #expect(board.phase("camera") == "background")
        board.reborn()
        let effects = board.gone("camera", Self.end)
        #expect(effects == ["spawn camera restart background"])
    }

    @Test func appThatAnOperatorEndsStaysEnded() throws {
        var board = board()
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        board.reborn()
        #expect(
            board.exited("camera", Self.end) == [
                "report camera user: ended by an operator", "clear camera",
            ])
        #expect(board.emptied("camera") == ["reply 1: done"])
        #expect(try board.view("camera").taskState == .notRunning)
    }

    @Test func appThatWasKilledHasTheReasonOfThat() throws {
        var board = try overrunBoard()
        board.reborn()
        let lines = board.exited("camera", Self.end)
        #expect(lines.first?.hasPrefix("report camera watchdog: ") == true)
    }

    @Test func appThatHadNotBegunIsStartedAgain() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.handle(.started)
        board.reborn()
        let instance = try board.instance("camera")
        _ = board.handle(.process(.exited(instance, Self.end)))
        let effects = board.handle(.process(.groupEmptied(instance)))
        #expect(board.lines(effects) == ["spawn camera restart"])
    }

    // MARK: What the next loop has in hand

    /// What was asked of its processes, and may have gone with the loop, is asked again; nothing else.
    @Test func whatIsRegainedIsAskedAgain() throws {
        var board = board { $0.liveness = .seconds(10) }
        let camera = try board.instance("camera")
        func regained() -> [String] {
            board.reborn()
            return board.lines(board.handle(.process(.regained([camera]))))
        }
        #expect(regained() == ["thaw camera"])
        _ = try board.ask(1, .background(board.id("camera")))
        for _ in 0..<2 { _ = board.handle(.app(.handlerReturned(camera, try #require(board.calls[camera])))) }
        #expect(regained() == ["freeze camera"])
        _ = board.handle(.process(.frozen(camera)))
        #expect(regained() == [])
        _ = try board.ask(2, .terminate(board.id("camera"), force: true))
        #expect(regained() == ["kill camera"])
        _ = board.handle(.process(.exited(camera, .signalled(9))))
        #expect(regained() == ["clear camera"])
        _ = board.handle(.process(.groupEmptied(camera)))
        #expect(regained() == [])
    }

    /// Its WATCHDOG=1 may have gone with that loop.
    @Test func whatIsRegainedHasItsIntervalAgain() throws {
        var board = board { $0.liveness = .seconds(10) }
        let camera = try board.instance("camera")
        _ = board.wait(.seconds(9))
        board.reborn()
        _ = board.handle(.process(.regained([camera])))
        _ = board.wait(.seconds(9))
        #expect(board.phase("camera") == "active")
        _ = board.wait(.seconds(2))
        #expect(board.lines(board.handle(.timePassed)).isEmpty)
        #expect(try board.view("camera").taskState == .terminating)
    }

    /// Whatever is overdue by then, for two seconds: the loop reads its files first.
    @Test func whatIsRegainedIsNotJudged_beforeTheLoopHasReadWhatItSaid() throws {
        var board = board()
        let camera = try board.instance("camera")
        _ = try board.ask(1, .background(board.id("camera")))
        #expect(board.lines(board.wait(.milliseconds(9_900))).isEmpty)
        board.monotonic += .milliseconds(200)
        board.reborn()
        #expect(board.lines(board.handle(.process(.regained([camera])))) == ["thaw camera"])
        #expect(board.lines(board.wait(.milliseconds(1_800))).isEmpty)
        #expect(board.lines(board.wait(.milliseconds(300))) == ["kill camera"])
    }
}
