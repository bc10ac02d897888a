import Lifecycle
import Testing

/// Only what happened counts: ends, sleeps, time that the board gave, requests that were granted.
@Suite struct CountedTests {
    private func board(_ apps: [AppPolicy] = [app("kiosk")], _ device: DevicePolicy = DevicePolicy()) -> Board {
        var board = Board(apps, device: device)
        board.login()
        board.start()
        return board
    }

    private func obeyAll(_ board: inout Board, _ event: Event) { _ = board.obey(board.handle(event)) }

    // MARK: Ends for want of memory

    @Test func appThatNeedsMoreMemoryThanThereIsIsLeftDown_afterItsLimit() throws {
        var board = board([app("kiosk") { $0.restartLimit = 3 }, app("other") { $0.priorityBand = 900 }])
        var kills = 0
        for _ in 0..<20 {
            guard try board.view("kiosk").taskState == .running else { break }
            _ = board.tell(.memory(.pressure(.critical)))
            let uses = [MemoryUse(instance: board.last("kiosk"), bytes: 400 << 20)]
            let effects = board.handle(.memory(.read(available: 10 << 20, total: 512 << 20, uses)))
            if board.lines(effects).contains("kill kiosk") { kills += 1 }
            _ = board.obey(effects)
            _ = board.obey(board.wait(.seconds(20)))
        }
        #expect(kills == 3)
        #expect(try board.view("kiosk").isLeftDown)
        #expect(board.pass(.seconds(86_400)) == [])
        // The next activation brings it back.
        #expect(try board.ask(1, .activate(board.id("kiosk"))) == ["spawn kiosk user"])
    }

    @Test func delayGrows_whenMemoryEndsAnAppAgainAndAgain() throws {
        var board = board([app("kiosk") { $0.restartDelay = .seconds(11) }])
        for delay in [Nanoseconds.seconds(11), .seconds(22), .seconds(30)] {
            _ = board.tell(.memory(.pressure(.critical)))
            let uses = [MemoryUse(instance: board.last("kiosk"), bytes: 400 << 20)]
            obeyAll(&board, .memory(.read(available: 10 << 20, total: 512 << 20, uses)))
            #expect(board.pass(delay - .milliseconds(1)) == [])
            let back = board.wait(.milliseconds(1))
            #expect(board.lines(back) == ["spawn kiosk restart"])
            _ = board.obey(back)
        }
    }

    @Test func crashedAppIsNotStartedAgain_whileMemoryIsCriticallyShort() throws {
        var board = board([app("kiosk"), app("logger") { $0.priorityBand = 900 }])
        _ = board.tell(.memory(.pressure(.critical)))
        let uses = [MemoryUse(instance: board.last("kiosk"), bytes: 400 << 20)]
        obeyAll(&board, .memory(.read(available: 10 << 20, total: 512 << 20, uses)))
        board.crash("logger")
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["spawn logger restart", "spawn kiosk restart"])
    }

    @Test func appsThatGiveNothingBackAreLeftAlone_andThatIsSaidOnce() throws {
        var board = board([app("kiosk"), app("logger") { $0.priorityBand = 900 }])
        let uses = [("kiosk", Int64(0)), ("logger", 116 << 10)].map {
            MemoryUse(instance: board.last($0.0), bytes: $0.1)
        }
        var notes = 0
        for _ in 0..<10 {
            _ = board.tell(.memory(.pressure(.critical)))
            let effects = board.handleAll(.memory(.read(available: 10 << 20, total: 512 << 20, uses)))
            #expect(!board.lines(effects).contains { $0.hasPrefix("kill") })
            notes += effects.filter { $0 == .note(.board(.memoryExhausted)) }.count
            _ = board.pass(.seconds(2))
        }
        #expect(notes == 1)
    }

    @Test(arguments: [
        (512, 4 << 20, true), (512, (4 << 20) - 1, false), (128, 1_342_177, true), (128, 1_342_176, false),
    ])
    func leastThatAnEndGivesBack(_ total: Int, _ bytes: Int, _ isEnded: Bool) throws {
        var board = board()
        _ = board.tell(.memory(.pressure(.critical)))
        let uses = [MemoryUse(instance: board.last("kiosk"), bytes: Int64(bytes))]
        let effects = board.tell(.memory(.read(available: 0, total: Int64(total) << 20, uses)))
        #expect(effects.contains("kill kiosk") == isEnded)
    }

    @Test func appWhoseMemoryIsNotCountedMayBeEnded() throws {
        var board = board()
        _ = board.tell(.memory(.pressure(.critical)))
        let uses = [MemoryUse(instance: board.last("kiosk"), bytes: nil)]
        #expect(board.tell(.memory(.read(available: 0, total: 512 << 20, uses))).contains("kill kiosk"))
    }

    // MARK: Time

    @Test func frozenTimeIsNoStableUptime() throws {
        var board = board([app("kiosk") { $0.restartLimit = 2 }])
        board.gone("kiosk", .exited(1))
        _ = board.obey(board.wait(.milliseconds(100)))
        _ = board.pass(.seconds(40))
        try board.goBack("kiosk")
        _ = board.pass(.seconds(120))
        _ = board.exited("kiosk", .signalled(9))
        #expect(try board.view("kiosk").isLeftDown)
    }

    private func watched(_ liveness: Nanoseconds) -> Board {
        board([
            app("kiosk") {
                $0.suspend = false; $0.liveness = liveness
            }
        ])
    }

    @Test func livenessIsArmedInFullAfterASleep_thoughMonotonicRanOn() throws {
        var board = watched(.seconds(30))
        obeyAll(&board, .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        // s2idle: nothing runs, and MONOTONIC goes on.
        #expect(board.stall(.milliseconds(29_700)) == [])
        board.follow(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.tell(.login(.preparingForSleep(false)))
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill kiosk"])
    }

    @Test func livenessIsArmedInFullAfterASleep_whereMonotonicStoodStill() throws {
        var board = watched(.seconds(30))
        _ = board.pass(.seconds(29))
        obeyAll(&board, .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        board.slept = .seconds(600)
        obeyAll(&board, .login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.tell(.login(.preparingForSleep(false)))
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill kiosk"])
    }

    @Test func livenessIsArmedInFullAfterAnUnannouncedSleep() throws {
        var board = watched(.seconds(30))
        _ = board.pass(.seconds(29))
        board.slept = .seconds(600)
        _ = board.tell(.timePassed)
        #expect(board.pass(.milliseconds(29_999)) == [])
        // logind may still be at a sleep that it never told of.
        #expect(board.pass(.milliseconds(1)) == ["kill kiosk", "read PreparingForSleep"])
    }

    @Test func stallShorterThanTheIntervalIsNotCharged_toLiveness() throws {
        var board = watched(.seconds(30))
        _ = board.pass(.seconds(3))
        // A virtual machine is stopped.
        #expect(board.stall(.seconds(25)) == [])
        #expect(board.pass(.seconds(26)) == [])
        #expect(board.pass(.seconds(5)) == ["kill kiosk"])
    }

    @Test func stallIsNotCharged_toABudget() throws {
        var board = board([app("kiosk") { $0.taskBudget = .seconds(20) }])
        _ = board.begin("kiosk")
        try board.goBack("kiosk")
        _ = board.pass(.seconds(1))
        #expect(board.stall(.seconds(14)) == [])
        let left = try #require(try board.core.backgroundTimeRemaining(of: board.id("kiosk"), at: board.monotonic))
        #expect(left >= .seconds(17))
        #expect(left <= .seconds(20))
    }

    @Test func stallIsNotCharged_toATasksOwnLimit() throws {
        var board = board()
        _ = board.begin("kiosk", allowed: .seconds(20))
        _ = board.pass(.seconds(1))
        #expect(board.stall(.seconds(19)) == [])
        #expect(board.pass(.seconds(15)) == [])
    }

    @Test func longTimesAreLookedAtRarely_andShortOnesNotAtAll() throws {
        var board = board([app("kiosk") { $0.taskBudget = .seconds(600) }])
        #expect(board.core.nextDeadline == nil)
        _ = board.begin("kiosk")
        try board.goBack("kiosk")
        #expect(board.core.nextDeadline?.at == board.monotonic + .seconds(30))
    }

    // MARK: Sleeps

    private func outcomes(_ effects: [Effect]) -> [SleepOutcome] {
        effects.compactMap { if case .note(.sleep(.ended(_, let outcome))) = $0 { outcome } else { nil } }
    }

    @Test func sleepThatTheKernelRefusedIsNone() throws {
        var board = board([
            app("kiosk") {
                $0.keepsAwake = true; $0.taskBudget = .seconds(40)
            }
        ])
        _ = board.begin("kiosk")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(board.pass(.seconds(40)) == ["release keepAwake"])
        obeyAll(&board, .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        _ = board.obey(board.wait(.seconds(5)))
        let effects = board.handleAll(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        #expect(outcomes(effects) == [.failed])
        #expect(
            board.begin("kiosk", keepAwake: true)
                == ["reply 0: denied, the time to keep the board awake is spent until it has slept"])
        // The next one is real.
        _ = board.tell(.login(.lockTaken(.sleep)))
        obeyAll(&board, .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        _ = board.obey(board.wait(.seconds(5)))
        board.slept = .seconds(2)
        let woken = board.handleAll(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        #expect(outcomes(woken) == [.slept])
        #expect(woken.contains(.login(.takeLock(.keepAwake))))
    }

    @Test func sleepInWhichMonotonicRanOnIsOne() throws {
        var board = board()
        obeyAll(&board, .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        _ = board.stall(.seconds(20))
        #expect(
            outcomes(board.handleAll(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))) == [
                .slept
            ])
    }

    @Test func sleepInWhichMonotonicRanOnIsOne_thoughLogindIsAskedFirst() throws {
        var board = board()
        obeyAll(&board, .login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        #expect(board.stall(.seconds(60)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        let effects = board.handleAll(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        #expect(outcomes(effects) == [.slept])
    }

    @Test func sleepThatIsCalledOffBeforeItsReleaseIsCancelled() throws {
        var board = board()
        _ = board.sleepSignal(true)
        #expect(
            outcomes(board.handleAll(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))) == [
                .cancelled
            ])
    }

    // MARK: Essential apps

    @Test(arguments: [true, false])
    func essentialAppThatIsNotMeantToRunDoesNotStarveTheWatchdog(_ isRemovedFirst: Bool) throws {
        var kiosk = app("kiosk") {
            $0.isEssential = true; $0.restartLimit = 1
        }
        var board = board([kiosk])
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(15))))
        board.crash("kiosk")
        #expect(board.pass(.seconds(10)) == [])
        if isRemovedFirst { _ = board.tell(.configured([], DevicePolicy())) }
        kiosk.launch = .manual
        _ = board.tell(.configured([kiosk], DevicePolicy()))
        #expect(board.pass(.seconds(20)).contains("feed"))
    }

    @Test func essentialAppThatAnOperatorEndedIsNotMissed() throws {
        var board = board([app("kiosk") { $0.isEssential = true }])
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(15))))
        obeyAll(&board, .client(.requested(RequestID(rawValue: 1), .terminate(try board.id("kiosk"), force: true))))
        #expect(board.pass(.seconds(10)).contains("feed"))
    }
}
