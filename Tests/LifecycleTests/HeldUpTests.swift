import Lifecycle
import Testing

/// Apps that cost a sleep its time cost the next ones less of theirs.
@Suite struct HeldUpTests {
    private func launching(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([
            app("camera") {
                $0.allowances[.didFinishLaunching] = .seconds(60)
                change(&$0)
            }
        ])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        return board
    }

    private func wake(_ board: inout Board) {
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
    }

    // MARK: A launch

    @Test func launchHoldsUpOneSleep_andNoOtherBeforeItIsOver() throws {
        var board = launching()
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
        #expect(board.sleepSignal(true) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        _ = board.tell(.login(.lockTaken(.sleep)))
        // From now on it is awaited like any other.
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        _ = board.returned("camera")
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
    }

    @Test func newLaunchHoldsUpNoSleep_whereTheOneBeforeItDid() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(4500))
        _ = board.frozen("camera")
        wake(&board)
        _ = board.gone("camera", .exited(1))
        _ = board.pass(.seconds(1))
        _ = board.spawned("camera")
        #expect(board.sleepSignal(true) == ["freeze camera"])
    }

    @Test func launchIsNotHeldAgainstAnApp_whereASleepWasTooShort() throws {
        var board = Board([app("camera")])
        board.login(delayMax: .milliseconds(800))
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.tell(.login(.prepareForSleep(true, delayMax: .milliseconds(800), signalled: board.monotonic)))
        _ = board.frozen("camera")
        wake(&board)
        #expect(board.sleepSignal(true) == [])
    }

    /// The board gave no program time, which is no app's doing.
    @Test func startIsNotHeldAgainstAnApp_whereTheBoardStoodStillInASleepThatWasTooShort() throws {
        var board = Board([app("camera")])
        board.login(delayMax: .milliseconds(800))
        _ = board.tell(.started)
        _ = board.tell(.login(.prepareForSleep(true, delayMax: .milliseconds(800), signalled: board.monotonic)))
        board.monotonic += .seconds(2)
        _ = board.spawned("camera")
        _ = board.frozen("camera")
        wake(&board)
        #expect(board.sleepSignal(true) == [])
    }

    @Test func launchHoldsUpOneSleep_ofAnAppThatIsNotFrozenToo() throws {
        var board = launching { $0.suspend = false }
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(4500)).contains("release sleep"))
        wake(&board)
        _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
        #expect(board.sleepSignal(true).contains("release sleep"))
    }

    /// One that launches, ends and launches again would hold up every sleep.
    @Test func appThatHasLaunchedSinceIsNotAwaited_whenItStartsAgainWithinTenSleeps() throws {
        var board = launching {
            $0.restartLimit = 100
            $0.restartDelayMax = .seconds(1)
        }
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(4500))
        _ = board.frozen("camera")
        wake(&board)
        _ = board.returned("camera")
        _ = board.returned("camera")
        for sleep in 2...12 {
            _ = board.gone("camera", .exited(1))
            _ = board.pass(.seconds(1))
            _ = board.spawned("camera")
            #expect(board.sleepSignal(true) == (sleep < 12 ? ["freeze camera"] : []))
            _ = board.frozen("camera")
            wake(&board)
        }
    }

    @Test func launchIsNotHeldAgainstAnApp_whereTheSleepWasHeardOfTooLate() throws {
        var board = launching()
        let effects = board.handle(
            .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic - .seconds(9))))
        #expect(board.lines(effects) == ["freeze camera", "sleep is handled", "release sleep"])
        _ = board.frozen("camera")
        wake(&board)
        #expect(board.sleepSignal(true) == [])
    }

    @Test func launchIsNotHeldAgainstAnApp_whereTheSleepWasDoubtful() throws {
        var board = Board([app("camera") { $0.allowances[.didFinishLaunching] = .seconds(60) }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: true, preparingForShutdown: false)))
        _ = board.pass(.milliseconds(4500))
        wake(&board)
        _ = board.tell(.login(.preparingForSleep(false)))
        _ = try board.tell(.app(.extendTimeout(board.instance("camera"), .seconds(60))))
        #expect(board.sleepSignal(true) == [])
    }

    /// It ends by its own wish at each sleep, in time, and comes back.
    @Test func endByItsOwnWishHoldsUpOneSleep_whereItTakesLongerThanASecond() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        _ = try board.tell(.app(.stopping(board.instance("camera"))))
        _ = board.pass(.milliseconds(1001))
        #expect(board.gone("camera", .exited(1)).contains("release sleep"))
        wake(&board)
        _ = board.pass(.seconds(1))
        _ = board.spawned("camera")
        #expect(board.sleepSignal(true) == ["freeze camera"])
    }

    // MARK: An expiration in front

    private func expiring(_ board: inout Board) {
        _ = board.begin("camera", allowed: .milliseconds(1))
        #expect(board.pass(.milliseconds(1)).contains { $0.contains("backgroundTaskWillExpire") })
    }

    /// Its handler takes longer than a sleep gives.
    @Test func expirationInFrontHoldsUpOneSleep_andNotTheNextTen() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        for sleep in 1...12 {
            expiring(&board)
            let isAwaited = sleep == 1 || sleep == 12
            #expect(board.sleepSignal(true) == (isAwaited ? [] : ["freeze camera"]), "\(sleep)")
            if isAwaited { #expect(board.pass(.milliseconds(4500)) == ["freeze camera"]) }
            #expect(board.frozen("camera").contains("release sleep"))
            wake(&board)
            _ = board.returned("camera")
        }
    }

    /// One that has taken more than a second of it is one too.
    @Test(arguments: [(Int64(1000), []), (Int64(1001), ["freeze camera"])])
    func expirationInFrontThatReturnsLate_isRemembered(milliseconds: Int64, next: [String]) throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        expiring(&board)
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(milliseconds))
        _ = board.obey(
            board.handle(
                .app(
                    .handlerReturned(try board.instance("camera"), try #require(board.calls[board.instance("camera")])))
            ))
        #expect(board.core.device.sleepState == .asleep)
        wake(&board)
        for _ in 1...3 where try board.view("camera").phase != .active { _ = board.returned("camera") }
        expiring(&board)
        #expect(board.sleepSignal(true) == next)
    }

    // MARK: A freeze

    /// What is remembered of sleeps is not forgotten over those that an operator plays.
    @Test func slowFreezeIsRemembered_overTwentySleepsOfAnOperators() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.pass(.milliseconds(700))
        _ = board.frozen("camera")
        _ = board.obey(board.prepareForSleep(false))
        _ = board.tell(.login(.lockTaken(.sleep)))
        for _ in 1...20 {
            board.follow(1, .sleep(start: true, logical: true))
            board.follow(2, .sleep(start: false, logical: true))
        }
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.pass(.milliseconds(499)) == [])
        #expect(board.pass(.milliseconds(1)).contains("release sleep"))
    }

    // MARK: An end

    /// Overruns at a sleep, and does not die of it by its release.
    private func outlivingItsKill() -> Board {
        var board = Board([app("camera") { $0.restartLimit = 100 }])
        board.login()
        board.start()
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
        #expect(board.pass(.milliseconds(2250)) == ["kill camera"])
        #expect(board.pass(.milliseconds(2649)) == [])
        #expect(board.pass(.milliseconds(1)) == ["sleep is handled", "unkillable camera", "release sleep"])
        wake(&board)
        return board
    }

    private func comeBack(_ board: inout Board) {
        _ = board.pass(.seconds(2))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
    }

    @Test func endIsAwaitedInVainAtOneSleep_andAtNoOther() throws {
        var board = outlivingItsKill()
        // Late, so what comes next is not better.
        _ = board.gone("camera", .signalled(9))
        comeBack(&board)
        #expect(board.sleepSignal(true) == ["call camera willResignActive 1.12 s"])
        let effects = board.pass(.milliseconds(1125))
        #expect(effects == ["kill camera", "sleep is handled", "unkillable camera", "release sleep"])
    }

    @Test func endIsNotAwaitedAnew_whenTheMainProcessIsGoneAndNotTheRest() throws {
        var board = outlivingItsKill()
        _ = board.exited("camera", .signalled(9))
        #expect(board.sleepSignal(true) == ["sleep is handled", "unkillable camera", "release sleep"])
    }

    /// However promptly others of it end meanwhile: one that is at it now and then would hold up every other.
    @Test func endIsAwaitedAgain_afterTenSleeps() throws {
        var board = outlivingItsKill()
        _ = board.gone("camera", .signalled(9))
        for sleep in 2...12 {
            _ = try board.ask(Int64(sleep), .launch(board.id("camera"), background: false))
            _ = board.spawned("camera")
            _ = board.returned("camera")
            _ = board.returned("camera")
            _ = board.sleepSignal(true)
            let effects = board.pass(.milliseconds(1125))
            #expect(effects.contains("kill camera") && effects.contains("release sleep") == (sleep < 12), "\(sleep)")
            _ = board.gone("camera", .signalled(9))
            wake(&board)
        }
    }

    @Test func endThatASleepHasAwaitedForLongIsNotAwaitedAtTheNext_inEitherOfItsHalves() {
        for (kill, clear) in [(1000, 0), (0, 1000), (500, 500)] {
            var board = Board([app("camera") { $0.restartLimit = 100 }])
            board.login()
            board.start()
            _ = board.sleepSignal(true)
            _ = board.pass(.milliseconds(2250))
            _ = board.pass(.milliseconds(Int64(kill)))
            _ = board.exited("camera", .signalled(9))
            _ = board.pass(.milliseconds(Int64(clear)))
            #expect(board.emptied("camera").contains("release sleep"))
            wake(&board)
            comeBack(&board)
            _ = board.sleepSignal(true)
            let isLate = kill == 1000 || clear == 1000
            #expect(board.pass(.milliseconds(1125)).contains("release sleep") == isLate)
        }
    }

    // MARK: What is beyond killing

    /// Ends, and leaves something behind that is not gone after 10 s.
    private func leaveSomething(_ board: inout Board) throws -> InstanceID {
        let instance = try board.instance("camera")
        _ = board.exited("camera", .exited(1))
        #expect(board.pass(.milliseconds(9999)) == [])
        return instance
    }

    @Test func appIsStartedOnceBesideWhatItHasLeft_andNotAgainUntilThatIsGone() throws {
        var board = Board([app("camera") { $0.restartLimit = 100 }])
        board.start()
        let first = try leaveSomething(&board)
        #expect(board.pass(.milliseconds(1)) == ["unkillable camera", "spawn camera restart"])
        _ = board.spawned("camera")
        let second = try leaveSomething(&board)
        #expect(board.pass(.milliseconds(1)) == ["unkillable camera"])
        #expect(board.pass(.seconds(3600)) == [])
        #expect(board.tell(.process(.groupEmptied(first))) == ["spawn camera restart"])
        _ = board.spawned("camera")
        // Now the second is the one that may be left.
        _ = try leaveSomething(&board)
        #expect(board.pass(.milliseconds(1)) == ["unkillable camera"])
        #expect(board.tell(.process(.groupEmptied(second))) == ["spawn camera restart"])
    }

    @Test func appIsStarted_whenTheLaterOfTwoThatItHasLeftIsGone() throws {
        var board = Board([app("camera") { $0.restartLimit = 100 }])
        board.start()
        _ = try leaveSomething(&board)
        _ = board.pass(.milliseconds(1))
        _ = board.spawned("camera")
        _ = try leaveSomething(&board)
        _ = board.pass(.milliseconds(1))
        #expect(board.emptied("camera") == ["spawn camera restart"])
    }

    // MARK: A handler

    /// Ends the app at a sleep, and brings it back.
    private func overrun(_ board: inout Board, after time: Nanoseconds) {
        #expect(board.pass(time - .milliseconds(1)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        _ = board.exited("camera", .signalled(9))
        _ = board.emptied("camera")
        wake(&board)
        _ = board.pass(.seconds(2))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
    }

    @Test func timeIsHalved_atEachSleepThatTheAppOverruns() throws {
        var board = Board([app("camera") { $0.restartLimit = 100 }])
        board.login()
        board.start()
        let times: [(String, Int64)] = [("2.25 s", 2250), ("1.12 s", 1125), ("563 ms", 563), ("500 ms", 500)]
        for (told, milliseconds) in times {
            #expect(board.sleepSignal(true) == ["call camera willResignActive \(told)"])
            overrun(&board, after: .milliseconds(milliseconds))
        }
        #expect(board.sleepSignal(true) == ["call camera willResignActive 500 ms"])
        // Its time for the way to background is short as well, and whole again once it has gone there.
        #expect(board.returned("camera") == ["call camera didEnterBackground 500 ms"])
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        wake(&board)
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
    }

    @Test func noAppGetsMoreThanItsOwnTime_becauseItIsShort() throws {
        var board = Board([app("camera") { $0.allowances[.willResignActive] = .milliseconds(300) }])
        board.login()
        board.start()
        #expect(board.sleepSignal(true) == ["call camera willResignActive 300 ms"])
        overrun(&board, after: .milliseconds(300))
        #expect(board.sleepSignal(true) == ["call camera willResignActive 300 ms"])
    }
}
