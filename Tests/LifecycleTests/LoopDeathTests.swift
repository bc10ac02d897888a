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
}
