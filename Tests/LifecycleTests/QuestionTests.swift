import Lifecycle
import Testing

/// Questions to the shell that are never answered.
@Suite struct QuestionTests {
    private func board(_ apps: [AppPolicy] = [app("camera")]) -> Board {
        var board = Board(apps)
        board.login()
        board.start()
        return board
    }

    @Test func launchIsGivenUp_whenTheShellNeverSaysThatItStarted() throws {
        var board = Board([app("server"), app("client") { $0.after = ["server"] }])
        #expect(board.tell(.started) == ["spawn server boot"])
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(
            board.pass(.milliseconds(1)) == [
                "report server launchFailure: its program was not started within 30 s", "kill server", "clear server",
                "spawn client boot",
            ])
        // It starts after all, and is not let live.
        #expect(board.spawned("server") == ["kill server"])
        #expect(board.exited("server", .signalled(9)) == ["clear server"])
        #expect(board.emptied("server") == [])
        #expect(board.pass(.milliseconds(100)) == ["spawn server restart"])
    }

    /// A program on a card that hangs does not hold up the stop for as long as it would its own launch.
    @Test func launchIsGivenUpSooner_whenItIsToBeEndedAnyway() throws {
        var board = Board([app("server") { $0.restart = .never }])
        #expect(board.tell(.started) == ["spawn server boot"])
        #expect(board.pass(.seconds(2)) == [])
        #expect(board.tell(.stopRequested) == [])
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(
            board.pass(.milliseconds(1)) == [
                "report server shutdown: the board shuts down or the supervisor was stopped", "kill server",
                "clear server",
            ])
        #expect(board.emptied("server") == ["stop daemon"])
    }

    @Test func launchThatWasGivenUpAndForgottenIsKilled_whenItStartsAfterAll() throws {
        var board = Board([app("server") { $0.restart = .never }])
        _ = board.tell(.started)
        _ = board.pass(.seconds(50))
        #expect(try board.view("server").taskState == .notRunning)
        let server = board.last("server")
        #expect(board.tell(.process(.spawned(server))) == ["kill server"])
        #expect(board.tell(.process(.exited(server, .signalled(9)))) == ["clear server"])
        #expect(board.tell(.process(.groupEmptied(server))) == [])
    }

    @Test func failureThatIsToldTooLateIsNotReportedTwice() throws {
        var board = Board([app("server") { $0.restart = .never }])
        _ = board.tell(.started)
        _ = board.pass(.seconds(30))
        #expect(board.tell(.process(.spawnFailed(board.last("server"), code: 2, explanation: "exec"))) == [])
    }

    @Test func daemonLeaves_whenTheShellNeverSaysThatAnAppStarted() throws {
        var board = Board([app("server")])
        _ = board.tell(.started)
        #expect(board.tell(.stopRequested) == [])
        let effects = board.pass(.seconds(41))
        #expect(effects.last == "stop daemon")
    }

    @Test func memoryIsAskedForAgain_whenItIsNeverRead() throws {
        var board = board()
        #expect(board.tell(.memory(.pressure(.critical))) == ["read memory and uses"])
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.tell(.memory(.pressure(.critical))) == [])
        #expect(board.pass(.milliseconds(1)) == [])
        #expect(board.tell(.memory(.pressure(.critical))) == ["read memory and uses"])
    }

    @Test func sleepEnds_whenLogindNeverSaysWhetherItIsMeant() throws {
        var board = board()
        board.fallAsleep()
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func timeThatTheBoardDidNotGiveIsNoneOfAStart() throws {
        var board = Board([app("server")])
        _ = board.tell(.started)
        for _ in 0..<3 { #expect(board.stall(.seconds(19)) == []) }
        #expect(board.spawned("server").first == "call server didFinishLaunching boot 20 s")
    }

    @Test func everyLockIsAskedForAgainEverMoreRarely_whenItIsNotAnswered() throws {
        var board = Board([])
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["take sleep", "take shutdown"])
        #expect(board.pass(.milliseconds(59_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["take sleep", "take shutdown"])
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.tell(.login(.lockTaken(.shutdown))) == [])
        #expect(board.pass(.seconds(86_400)) == [])
    }

    @Test func lockThatWasNotAskedForIsReleased() throws {
        var board = Board([])
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: true)))
        // The answer to a question from before.
        #expect(board.tell(.login(.lockTaken(.shutdown))) == ["release shutdown"])
        // What is held is held once.
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.tell(.login(.lockTaken(.sleep))) == [])
    }

    @Test func shutdownLockIsAskedForAgain_whenItWasRefused() throws {
        var board = Board([])
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.tell(.login(.preparingForSleep(false)))
        #expect(board.tell(.login(.lockRefused(.shutdown))) == [])
        #expect(board.pass(.seconds(60)) == ["take shutdown"])
        #expect(board.tell(.login(.lockRefused(.shutdown))) == [])
        for _ in 0..<10 {
            #expect(board.pass(.seconds(120)) == ["take shutdown"])
            #expect(board.tell(.login(.lockRefused(.shutdown))) == [])
        }
    }

    @Test func shutdownLockIsReleased_whenItIsGrantedAfterItsHandshake() throws {
        var board = Board([])
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        #expect(board.shutdownSignal(true) == [])
        #expect(board.tell(.login(.lockTaken(.shutdown))) == ["release shutdown"])
    }

    @Test func sleepLockIsTaken_whenLogindComesBackInADarkWake() throws {
        var device = DevicePolicy()
        device.darkWakeInterval = .seconds(900)
        var board = Board([app("upload")], device: device)
        board.login()
        board.start()
        _ = board.begin("upload")
        try board.goBack("upload")
        _ = board.sleepSignal(true)
        #expect(board.pass(.seconds(2)) == ["freeze upload"])
        _ = board.frozen("upload")
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .darkWake)
        let effects = board.tell(
            .login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        #expect(effects == ["take sleep", "take shutdown"])
    }

    @Test func timeThatAStartWasAwaitedIsNoUptime() throws {
        var board = Board([app("server") { $0.restartReset = .seconds(10) }])
        _ = board.tell(.started)
        for delay in [Nanoseconds.milliseconds(100), .milliseconds(200), .milliseconds(400)] {
            _ = board.pass(.seconds(30))
            board.gone("server")
            #expect(board.pass(delay - .milliseconds(1)) == [])
            #expect(board.pass(.milliseconds(1)) == ["spawn server restart"])
        }
    }

    @Test func sleepLockIsAskedForAgain_whenItWasRefusedAndLogindNeverSaysWhetherItPreparesASleep() throws {
        var board = Board([])
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        _ = board.tell(.login(.lockTaken(.shutdown)))
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        // No answer within 30 s; then the lock is asked for every 30 s.
        #expect(board.pass(.milliseconds(59_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["take sleep"])
        // Nor does an answer that says nothing end that.
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(nil))) == [])
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["take sleep"])
    }
}
