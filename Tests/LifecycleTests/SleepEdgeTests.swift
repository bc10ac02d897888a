import Lifecycle
import Testing

/// Edges from all sources, doubled, lost and late, and the bounds of a handshake.
@Suite struct SleepEdgeTests {
    private func running(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([app("camera", change)])
        board.login()
        board.start()
        return board
    }

    @Test func secondTrueEdgeJoins_whenPreparingAndAsleep() throws {
        var board = running()
        _ = board.sleepSignal(true)
        #expect(board.sleepSignal(true) == [])
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(true) == [])
        #expect(board.core.device.sleep == 1)
        #expect(
            board.sleepSignal(false) == [
                "sleep is over", "take sleep", "thaw camera", "call camera willEnterForeground 10 s",
            ])
        #expect(board.sleepSignal(false) == [])
    }

    @Test func falseEdgeChangesNothing_whenNoSleepHasBegun() throws {
        var board = running()
        #expect(board.sleepSignal(false) == [])
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func everybodyComesBack_whenCalledOffHalfWay() throws {
        var board = running()
        _ = board.sleepSignal(true)
        #expect(board.sleepSignal(false) == ["read PreparingForSleep"])
        // It is told the rest of the way back once its handler has returned.
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.returned("camera") == [])
        // The lock was held all the time, and is good for the next sleep.
        board.fallAsleep()
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func wakeByHandIsDenied_untilTheKernelHasSlept_whereLogindBeganTheSleep() throws {
        var board = running()
        board.fallAsleep()
        board.monotonic += .milliseconds(500)
        #expect(
            board.ask(1, .sleep(start: false, logical: true)) == ["reply 1: denied, logind prepares a sleep"])
        #expect(board.core.device.sleepState == .asleep)
        // The hook speaks for the kernel, which may have refused.
        _ = board.ask(2, .sleep(start: true, logical: false))
        #expect(board.ask(3, .sleep(start: false, logical: false)).contains("thaw camera"))
    }

    @Test func wakeByHandIsGranted_onceTheKernelHasSlept() throws {
        var board = running()
        board.fallAsleep()
        board.slept += .seconds(60)
        #expect(board.ask(1, .sleep(start: false, logical: true)).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func sleepEndsByTheClocks_whenTheFalseEdgeIsLost() throws {
        var board = running()
        board.fallAsleep()
        board.slept = .milliseconds(501)
        #expect(board.tell(.timePassed) == ["sleep is over", "thaw camera", "call camera willEnterForeground 10 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == [])
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["take sleep"])
    }

    @Test func sleepEndsAsCancelled_whenNothingHappensForThirtySeconds() throws {
        var board = running()
        board.fallAsleep()
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(
            board.tell(.login(.preparingForSleep(false))) == [
                "sleep is over", "take sleep", "thaw camera", "call camera willEnterForeground 10 s",
            ])
    }

    @Test func logicalSleepLasts_whenNothingHappens() throws {
        var board = running()
        #expect(board.ask(1, .sleep(start: true, logical: true)) == ["call camera willResignActive 2.25 s"])
        _ = board.returned("camera")
        _ = board.returned("camera")
        // The lock is logind's business, and logind knows nothing of it.
        #expect(board.frozen("camera") == ["reply 1: sleep 1 ready, killed []"])
        board.slept = .seconds(60)
        #expect(board.pass(.seconds(3600)) == [])
        #expect(
            board.ask(2, .sleep(start: false, logical: true)) == [
                "thaw camera", "reply 2: sleep 1 ready, killed []", "call camera willEnterForeground 10 s",
            ])
    }

    @Test func hookIsAnswered_andEndsTheSleep_whenTheBoardSleepsInALogicalOne() throws {
        var board = running()
        board.follow(1, .sleep(start: true, logical: true))
        #expect(
            board.ask(2, .sleep(start: true, logical: false)) == [
                "sleep is handled", "reply 2: sleep 1 ready, killed []",
            ])
        let over = board.ask(3, .sleep(start: false, logical: false))
        #expect(over.contains("sleep is over"))
        #expect(over.contains("thaw camera"))
    }

    @Test func lockIsReleased_whenLogindSleepsDuringALogicalSleep() throws {
        var board = running()
        board.follow(1, .sleep(start: true, logical: true))
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
        board.slept = .seconds(60)
        #expect(board.tell(.timePassed).first == "sleep is over")
    }

    @Test func hookWaitsAndHearsWhoWasKilled_whenAllAreReady() throws {
        var board = running()
        _ = board.sleepSignal(true)
        #expect(board.ask(1, .sleep(start: true, logical: false)) == [])
        #expect(board.pass(.milliseconds(2250)) == ["kill camera"])
        #expect(
            board.gone("camera") == [
                "sleep is handled", "release sleep", "reply 1: sleep 1 ready, killed [\"camera\"]",
            ])
        #expect(
            board.ask(2, .sleep(start: true, logical: false)) == [
                "reply 2: sleep 1 ready, killed [\"camera\"]"
            ])
    }

    @Test func boardSleepsAtOnce_whenThereAreNoApps() throws {
        var board = Board([])
        board.login()
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
    }

    @Test func appWithoutDelegateIsFrozenAtOnce_whenASleepIsPrepared() throws {
        var board = running { $0.handlers = [] }
        #expect(board.sleepSignal(true) == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(try board.view("camera").phase == .active)
    }

    @Test func nobodyIsCalledAndAllAreFrozen_whenTheAllowanceIsUnderASecond() throws {
        var board = running()
        #expect(board.sleepSignal(true, delayMax: .milliseconds(1499)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(try board.view("camera").phase == .active)
    }

    @Test func allowanceIsThirtySecondsAtMost_whenLogindWouldWaitLonger() throws {
        var board = running { $0.allowances[.willResignActive] = .seconds(60) }
        #expect(
            board.sleepSignal(true, delayMax: .seconds(600)) == ["call camera willResignActive 14.75 s"])
    }

    @Test func allowanceCountsFromTheSignal_whenItIsHeardLate() throws {
        var board = running()
        let effects = board.handle(
            .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic - .seconds(3))))
        #expect(board.lines(effects) == ["call camera willResignActive 1.5 s"])
        #expect(board.pass(.milliseconds(1500)) == ["kill camera"])
    }

    @Test func allowanceCountsFromTheSignal_whenThePropertyToldOfTheSleepFirst() throws {
        var board = running()
        #expect(board.tell(.login(.preparingForSleep(true))) == ["call camera willResignActive 2.25 s"])
        #expect(
            board.handle(
                .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic - .seconds(2)))) == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 2.5 s"])
    }

    @Test func lockIsReleasedAtOnce_whenTheSignalIsHeardTooLate() throws {
        var board = running()
        let effects = board.handle(
            .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic - .seconds(6))))
        // Freezing has only just been tried: whether it does not freeze is not known yet.
        #expect(board.lines(effects) == ["freeze camera", "sleep is handled", "release sleep"])
        #expect(board.pass(.milliseconds(1999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["unfreezable camera"])
    }

    @Test func limitIsTightened_whenLogindAnnouncesWhatTheHookBegan() throws {
        var board = running()
        _ = board.ask(1, .sleep(start: true, logical: false))
        _ = board.pass(.seconds(1))
        #expect(board.sleepSignal(true, delayMax: .seconds(2)) == [])
        #expect(board.pass(.milliseconds(1250)) == ["kill camera"])
        #expect(
            board.pass(.milliseconds(650)) == [
                "sleep is handled", "unkillable camera", "release sleep", "reply 1: sleep 1 ready, killed [\"camera\"]",
            ])
    }

    @Test func lockIsReleasedAllTheSame_whenAKilledAppDoesNotDie() throws {
        var board = running()
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(2250)) == ["kill camera"])
        #expect(board.pass(.milliseconds(2649)) == [])
        #expect(board.pass(.milliseconds(1)) == ["sleep is handled", "unkillable camera", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
    }

    @Test func exemptAppIsNotWaitedFor_whenTheAllowanceIsOver() throws {
        var board = running { $0.suspend = false }
        _ = try board.ask(1, .background(board.id("camera")))
        // A call from before the sleep has its own time.
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(4500)) == ["sleep is handled", "release sleep"])
        #expect(board.pass(.milliseconds(5500)) == ["kill camera"])
    }

    @Test func sleepIsNotBegun_whenTheClocksJumpWhilePreparing() throws {
        var board = running()
        _ = board.sleepSignal(true)
        board.slept = .seconds(60)
        #expect(board.tell(.timePassed) == [])
        #expect(board.core.device.sleepState == .preparing)
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
    }

    @Test func nextSleepHasItsOwnNumber_whenTheLastOneIsOver() throws {
        var board = running()
        board.fallAsleep()
        _ = board.obey(board.prepareForSleep(false))
        _ = board.handle(.login(.lockTaken(.sleep)))
        board.fallAsleep()
        #expect(board.core.device.sleep == 2)
    }

    @Test func sleepWhileAnotherIsPreparedCountsForLiveness() throws {
        var board = Board([
            app("camera") {
                $0.suspend = false; $0.liveness = .seconds(10); $0.handlers = []
            },
            app("slow"),
        ])
        board.login()
        board.start()
        _ = board.pass(.seconds(8))
        _ = board.sleepSignal(true)
        board.slept += .seconds(7200)
        _ = board.pass(.seconds(1))
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .preparing)
        #expect(!board.pass(.seconds(3)).contains("kill camera"))
    }

    enum End: CaseIterable { case wake, shutdown, stop }

    @Test(arguments: End.allCases)
    func operatorIsToldThatASleepWasCalledOff_beforeItsAppsWereReady(_ end: End) {
        var board = startedBoard([app("camera")])
        #expect(board.ask(1, .sleep(start: true, logical: true)) == ["call camera willResignActive 2.25 s"])
        let ended =
            switch end {
            case .wake: board.ask(2, .sleep(start: false, logical: true))
            case .shutdown: board.shutdownSignal(true)
            case .stop: board.tell(.stopRequested)
            }
        #expect(ended.contains("reply 1: denied, the sleep was called off"))
    }

    @Test func hookIsToldTheSleepsNumber_thoughItWasCalledOff() {
        var board = startedBoard([app("camera")])
        #expect(board.ask(1, .sleep(start: true, logical: false)) == ["call camera willResignActive 2.25 s"])
        #expect(board.ask(2, .sleep(start: false, logical: false)).contains { $0.hasPrefix("reply 1: sleep 1 ready") })
    }

    @Test func hookEndsItsOwnSleep_withoutItsNumber_soonAfterTheOneBefore() {
        var board = startedBoard([app("camera")])
        for second in [false, true] {
            board.follow(second ? 3 : 1, .sleep(start: true, logical: false))
            board.settle()
            #expect(board.core.device.sleepState == .asleep)
            let over = board.ask(second ? 4 : 2, .sleep(start: false, logical: false))
            #expect(over.contains("thaw camera"), "second: \(second)")
            board.settle()
        }
    }
}
