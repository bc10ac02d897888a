import Lifecycle
import Testing

@Suite struct FreezeTests {
    private func idle(_ change: (inout AppPolicy) -> Void = { _ in }) -> Board {
        var board = Board([
            app("camera") {
                $0.start = .background; change(&$0)
            }
        ])
        board.login()
        board.start()
        return board
    }

    @Test func appIsNeverFrozen_whenItIsExempt() throws {
        var board = idle { $0.suspend = false }
        #expect(try board.view("camera").taskState == .running)
        // It gets its handlers all the same, and the lock waits for them only.
        try board.follow(1, .activate(board.id("camera")))
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "call camera willEnterForeground 10 s"])
    }

    @Test func appsOnlyHearOfTheSleep_whereNothingCanBeFrozen() throws {
        var board = Board([app("camera")])
        _ = board.tell(.freezing(available: false))
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        #expect(board.returned("camera") == ["sleep is handled", "release sleep"])
        #expect(try board.view("camera").taskState == .running)
    }

    @Test func everybodyThaws_whenFreezingBecomesImpossible() throws {
        var board = idle()
        #expect(board.tell(.freezing(available: false)) == ["thaw camera"])
        #expect(board.tell(.freezing(available: true)) == ["freeze camera"])
    }

    @Test func appIsKilled_whenItCannotBeFrozenAtTwoSleepsInARow() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        func sleepOnce() -> [String] {
            _ = board.sleepSignal(true)
            _ = board.returned("camera")
            _ = board.returned("camera")
            _ = board.ask(9, .sleep(start: true, logical: false))
            return board.pass(.seconds(2))
        }
        #expect(sleepOnce().dropLast() == ["unfreezable camera", "sleep is handled", "release sleep"])
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.returned("camera")
        _ = board.returned("camera")
        let effects = sleepOnce()
        #expect(effects.starts(with: ["unfreezable camera", "kill camera"]), "\(effects)")
        let ending = board.exited("camera", .signalled(9)) + board.emptied("camera")
        #expect(ending.contains("report camera watchdog: suspension: it could not be frozen at sleep after sleep"))
        #expect(ending.contains("reply 9: sleep 2 ready, killed [\"camera\"]"), "\(ending)")
        // The next instance has no sleep to waste either.
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.pass(.seconds(2))
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(sleepOnce().contains("kill camera"))
    }

    /// Not against it: a board's card may be slow. But no sleep waits for that again.
    @Test func appThatIsFrozenLateButInTimeIsNotWaitedForAtTheNextTenSleeps_andNotKilled() {
        var board = Board([app("camera")])
        board.login()
        board.start()
        for sleep in 1...13 {
            _ = board.sleepSignal(true)
            _ = board.returned("camera")
            #expect(board.returned("camera") == ["freeze camera"])
            if 3...12 ~= sleep {
                #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
            } else {
                let release = ["sleep is handled", "release sleep"]
                let isWaitedFor = sleep != 2
                #expect(board.pass(.milliseconds(499)) == [])
                let left = ["sleep is handled", "unfreezable camera", "release sleep"]
                #expect(board.pass(.milliseconds(1)) == (isWaitedFor ? [] : left))
                #expect(board.pass(.milliseconds(1400)) + board.frozen("camera") == (isWaitedFor ? release : []))
            }
            _ = board.sleepSignal(false)
            _ = board.tell(.login(.lockTaken(.sleep)))
            _ = board.returned("camera")
            _ = board.returned("camera")
        }
    }

    @Test func freezingHasLessTime_atEachSleepInARowThatItHasTakenTooLong() throws {
        var board = Board([app("camera") { $0.restartLimit = 100 }])
        board.login()
        board.start()
        for (sleep, bound) in [2000, 1000, 500, 500].enumerated() {
            _ = board.sleepSignal(true)
            _ = board.returned("camera")
            #expect(board.returned("camera") == ["freeze camera"])
            #expect(board.pass(.milliseconds(Int64(bound - 1))) == [])
            #expect(board.pass(.milliseconds(1)).starts(with: ["unfreezable camera"]))
            if sleep > 0 { _ = board.gone("camera", .signalled(9)) }
            _ = board.sleepSignal(false)
            _ = board.tell(.login(.lockTaken(.sleep)))
            if sleep > 0 {
                _ = board.pass(.seconds(2))
                _ = board.spawned("camera")
            }
            _ = board.returned("camera")
            _ = board.returned("camera")
        }
        // That it freezes at nine sleeps is not enough to be believed again.
        for _ in 0..<10 {
            _ = board.sleepSignal(true)
            _ = board.returned("camera")
            #expect(board.returned("camera") == ["freeze camera"])
            #expect(board.core.nextDeadline?.at == board.monotonic + .milliseconds(500))
            _ = board.frozen("camera")
            _ = board.sleepSignal(false)
            _ = board.tell(.login(.lockTaken(.sleep)))
            _ = board.returned("camera")
            _ = board.returned("camera")
        }
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.pass(.milliseconds(1999)) == [])
        #expect(
            board.pass(.milliseconds(1)) == ["unfreezable camera", "sleep is handled", "release sleep"])
    }

    /// Two apps that take turns would hold up every sleep.
    @Test func appIsKilled_whenItFreezesAtTheSleepsBetween() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        for bound in [2000, nil, 1000, nil, 500] as [Int64?] {
            _ = board.sleepSignal(true)
            _ = board.returned("camera")
            _ = board.returned("camera")
            let effects = bound.map { board.pass(.milliseconds($0)) } ?? board.frozen("camera")
            #expect(effects.contains("unfreezable camera") == (bound != nil))
            #expect(effects.contains("kill camera") == (bound == 500))
            if bound == 500 { break }
            _ = board.sleepSignal(false)
            _ = board.tell(.login(.lockTaken(.sleep)))
            _ = board.returned("camera")
            _ = board.returned("camera")
        }
    }

    @Test func culpritsAreNamedOnce_whenFreezingTakesTooLong() throws {
        var board = idle()
        try board.follow(1, .activate(board.id("camera")))
        _ = try board.ask(2, .background(board.id("camera")))
        _ = board.returned("camera")
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.pass(.milliseconds(1999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["unfreezable camera", "reply 2: done"])
        #expect(board.pass(.seconds(60)) == [])
        #expect(try board.view("camera").taskState == .running)
        // It may still freeze late.
        #expect(board.frozen("camera") == [])
        #expect(try board.view("camera").taskState == .suspended)
        #expect(
            try board.ask(3, .activate(board.id("camera"))) == ["thaw camera", "call camera willEnterForeground 10 s"])
    }

    @Test func appThatHoldsALockIsThawedForIt_beforeTheBoardHasSlept() throws {
        var board = idle()
        let camera = try board.instance("camera")
        let word = Event.login(.appHoldsLock(camera))
        // Of no sleep that is to come.
        #expect(board.tell(word) == [])
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
        // Our lock is gone, and logind waits for the app's.
        #expect(board.tell(word) == ["thaw camera", "freeze camera"])
        #expect(board.tell(word) == [])
        #expect(board.frozen("camera") == [])
        #expect(try board.view("camera").taskState == .suspended)
        board.slept = .seconds(10)
        _ = board.tell(.timePassed)
        #expect(board.tell(word) == [])
    }

    /// A property alone may be from before our time.
    @Test func appIsNotThawedForALock_whenTheSleepIsDoubtful() throws {
        var board = idle()
        _ = board.tell(.login(.unavailable))
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false)))
        _ = board.tell(.login(.preparingForSleep(true)))
        #expect(board.core.device.sleepState != .awake)
        #expect(try board.tell(.login(.appHoldsLock(board.instance("camera")))) == [])
    }

    @Test func appThatDoesNotLetGoIsKilled_atTheSecondSleep() throws {
        var board = idle()
        func sleepOnce(_ bound: Int64) throws -> [String] {
            _ = board.sleepSignal(true)
            _ = try board.tell(.login(.appHoldsLock(board.instance("camera"))))
            #expect(board.pass(.milliseconds(bound - 1)) == [])
            return board.pass(.milliseconds(1))
        }
        #expect(try sleepOnce(2000) == ["unfreezable camera"])
        _ = board.frozen("camera")
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(try sleepOnce(1000) == ["unfreezable camera", "kill camera"])
    }

    @Test func lateNewsIsIgnored_whenThawedMeanwhile() throws {
        var board = idle()
        _ = try board.ask(1, .activate(board.id("camera")))
        #expect(board.frozen("camera") == [])
        #expect(try board.view("camera").taskState == .running)
    }

    @Test func appThawsOnlyWhenTheLastReasonGoes_whenItSleptInBackground() throws {
        var board = idle()
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
        #expect(try board.view("camera").taskState == .suspended)
    }

    @Test func replyInFlightCountsButNothingIsCalled_whenFrozenWithACallOutstanding() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.returned("camera") == [])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(
            board.sleepSignal(false) == [
                "sleep is over", "take sleep", "thaw camera", "call camera didBecomeActive 10 s",
            ])
    }
}
