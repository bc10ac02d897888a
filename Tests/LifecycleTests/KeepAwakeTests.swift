import Lifecycle
import Testing

@Suite struct KeepAwakeTests {
    private func awake(_ names: [String] = ["camera"]) -> Board {
        var board = Board(names.map { app($0) { $0.keepsAwake = true } })
        board.login()
        board.start()
        return board
    }

    @Test func lockIsTakenWithTheFirstAndDroppedWithTheLast() throws {
        var board = awake(["camera", "radio"])
        #expect(board.begin("camera", "a") == ["task camera a began", "reply 0: begun, no limit", "take keepAwake"])
        #expect(board.tell(.login(.lockTaken(.keepAwake))) == [])
        #expect(board.begin("radio", "b") == ["task radio b began", "reply 0: begun, no limit"])
        #expect(board.end("camera", "a") == ["task camera a ended", "reply 0: done"])
        #expect(board.end("radio", "b") == ["task radio b ended", "reply 0: done", "release keepAwake"])
    }

    @Test func lockIsNotTaken_forATaskThatDoesNotAskForIt() throws {
        var board = awake()
        #expect(board.begin("camera", keepAwake: false) == ["task camera upload began", "reply 0: begun, no limit"])
    }

    @Test func lockIsDropped_whenItIsGrantedTooLate() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.end("camera")
        #expect(board.tell(.login(.lockTaken(.keepAwake))) == ["release keepAwake"])
    }

    @Test func lockIsDropped_whenItsTimeIsSpentAndOnlyASleepBringsMore() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.pass(.seconds(50))
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(board.pass(.milliseconds(599_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["release keepAwake"])
        // The task goes on; another one is like any other.
        #expect(
            board.begin("camera", "b", keepAwake: true) == [
                "reply 0: denied, the time to keep the board awake is spent until it has slept"
            ])
        #expect(board.begin("camera", "c") == ["task camera c began", "reply 0: begun, no limit"])
        board.fallAsleep()
        _ = board.pass(.seconds(2))
        _ = board.frozen("camera")
        board.slept = .seconds(60)
        #expect(board.sleepSignal(false).contains("take keepAwake"))
    }

    @Test func timeForTheLockOutlivesTheInstance() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        _ = board.pass(.seconds(400))
        #expect(board.exited("camera", .signalled(11)).contains("release keepAwake"))
        _ = board.emptied("camera")
        _ = board.pass(.milliseconds(100))
        let up = board.handle(.process(.spawned(board.last("camera"))))
        _ = board.obey(up)
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(board.pass(.milliseconds(199_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["release keepAwake"])
    }

    @Test func forcedSleepTreatsTheTaskAsAnyOther() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s", "release keepAwake"])
        _ = board.returned("camera")
        #expect(board.returned("camera") == [])
        #expect(board.pass(.milliseconds(1999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(
            board.wake(afterSleeping: .seconds(60)) == [
                "sleep is over", "take sleep", "thaw camera", "call camera willEnterForeground 10 s", "take keepAwake",
            ])
    }

    @Test func lockIsNotAskedForAgainAndAgain_whenLogindRefuses() throws {
        var board = awake()
        _ = board.begin("camera", "a")
        #expect(board.tell(.login(.lockRefused(.keepAwake))) == [])
        #expect(board.pass(.seconds(600)) == [])
        #expect(board.begin("camera", "b").last == "take keepAwake")
    }

    @Test func lockIsAskedForAgain_whenItWasRefusedForASleepThatEndsForLogindOnlyNow() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.pass(.seconds(2))
        _ = board.frozen("camera")
        // The hook comes before logind's signal.
        #expect(board.ask(1, .sleep(start: false, logical: false)).contains("take keepAwake"))
        _ = board.tell(.login(.lockRefused(.sleep)))
        #expect(board.tell(.login(.lockRefused(.keepAwake))) == [])
        #expect(board.sleepSignal(false) == ["take sleep", "take keepAwake"])
    }

    @Test func lockIsTakenAgain_whenLogindComesBack() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(board.tell(.login(.unavailable)) == [])
        let back = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        #expect(back == ["take sleep", "take shutdown", "take keepAwake"])
    }

    @Test func timeIsFullAgain_whenALogicalSleepBecomesOneThatTheKernelRefuses() throws {
        var board = awake()
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        _ = board.pass(.seconds(400))
        try board.follow(1, .sleep(start: true, logical: true))
        _ = board.pass(.seconds(2))
        _ = board.frozen("camera")
        #expect(board.sleepSignal(true).contains("release sleep"))
        board.follow(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(!board.pass(.milliseconds(599_999)).contains("release keepAwake"))
        #expect(board.pass(.milliseconds(1)) == ["release keepAwake"])
    }

    @Test func timeIsLookedAtTenTimes_howeverLittleOfItThereIs() throws {
        var board = awake()
        _ = board.ask(1, .setLowPower(true))
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        // An interval in which time may be stolen unseen.
        let deadline = try #require(board.core.nextDeadline)
        #expect(deadline.at - board.monotonic == .seconds(3))
    }

    @Test func lockIsKept_whenAnEarlierQuestionForItIsRefusedFirst() throws {
        var board = awake()
        _ = board.begin("camera")
        #expect(board.pass(.seconds(30)) == ["take keepAwake"])
        #expect(board.tell(.login(.lockRefused(.keepAwake))) == [])
        #expect(board.tell(.login(.lockTaken(.keepAwake))) == [])
        #expect(board.end("camera").last == "release keepAwake")
    }

    @Test func idleBoardStaysIdle_whenALockComesTooLate() throws {
        var device = DevicePolicy()
        device.responses[.idle] = .background
        var board = Board([app("camera") { $0.keepsAwake = true }], device: device)
        board.login()
        board.start()
        _ = board.tell(.board(.session(SessionReading(users: 1, isLocked: false, isIdle: true))))
        _ = board.returned("camera")
        _ = board.begin("camera")
        _ = board.returned("camera")
        _ = board.end("camera")
        _ = board.frozen("camera")
        _ = board.pass(.seconds(10))
        #expect(board.tell(.login(.lockTaken(.keepAwake))) == ["release keepAwake"])
    }
}
