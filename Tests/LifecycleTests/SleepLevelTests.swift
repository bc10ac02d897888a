import Lifecycle
import Testing

/// A lid, a key or idleness that ask for a sleep are levels: the board is asked again for as long as they last.
@Suite struct SleepLevelTests {
    private func people(idle: Bool = false) -> Event {
        .board(.session(SessionReading(users: 1, isLocked: false, isIdle: idle)))
    }

    private func closing(_ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        startedBoard([app("camera")]) {
            $0.responses[.lidClosed] = .sleep
            $0.responses[.idle] = .sleep
            change(&$0)
        }
    }

    // MARK: The board is asked again

    @Test func boardIsAskedToSleepAgainEverMoreRarely_whenLogindRefuses() throws {
        var board = closing()
        #expect(board.tell(.board(.lid(closed: true))).contains("suspend"))
        #expect(board.tell(.login(.suspendRefused)) == [])
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
        #expect(board.pass(.milliseconds(59_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
        #expect(board.pass(.seconds(7 * 3600)).filter { $0 == "suspend" }.count < 25)
        _ = board.tell(.board(.lid(closed: false)))
        #expect(!board.pass(.seconds(7200)).contains("suspend"))
    }

    @Test func boardIsAskedToSleepAgain_whenAForeignWakeFindsTheLidClosed() throws {
        var board = closing()
        board.follow(.board(.lid(closed: true)))
        board.follow(.login(.prepareForSleep(true, delayMax: .seconds(5), signalled: board.monotonic)))
        _ = board.wake(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
    }

    @Test func boardIsAskedToSleepAtOnce_whenTheLockThatForbadeItIsGone() throws {
        var board = startedBoard([app("camera") { $0.keepsAwake = true }]) { $0.responses[.lidClosed] = .sleep }
        _ = board.begin("camera")
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        _ = board.tell(.board(.lid(closed: true)))
        _ = board.tell(.login(.suspendRefused))
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.end("camera").suffix(2) == ["release keepAwake", "suspend"])
    }

    @Test func boardIsNotAskedToSleep_whileTheEndOfTheWishIsOnlyHeldBack() throws {
        var board = closing { $0.debounce = .seconds(10) }
        board.follow(.board(.lid(closed: true)))
        _ = board.tell(.login(.suspendRefused))
        _ = board.tell(.board(.lid(closed: false)))
        _ = board.tell(.login(.unavailable))
        let back = Event.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false))
        #expect(board.tell(back) == ["take sleep", "take shutdown"])
    }

    // MARK: Activity ends a logical sleep that idleness began

    @Test func activityEndsALogicalSleepThatIdlenessBegan() throws {
        var board = closing { $0.sleepsLogically = true }
        board.follow(people(idle: true))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.pass(.seconds(60))
        #expect(board.tell(people()).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func activityEndsALogicalSleepThatIdlenessBegan_whenTheAllowanceOfADarkWakeIsOver() throws {
        var board = startedBoard([app("camera"), app("upload")]) {
            $0.responses[.idle] = .sleep
            $0.sleepsLogically = true
            $0.darkWakeInterval = .seconds(900)
            $0.wakeSources = WakeSources(.clock)
        }
        _ = board.begin("upload")
        try board.goBack("upload")
        board.follow(people(idle: true))
        board.settle(.seconds(10))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.pass(try #require(board.core.wakeAlarm) - board.now.boottime)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .darkWake)
        board.settle(.seconds(60))
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.tell(people()).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func activityEndsALogicalSleepThatIdlenessBegan_whenTheWorkOfADarkWakeIsDone() throws {
        var board = startedBoard([app("camera"), app("upload")]) {
            $0.responses[.idle] = .sleep
            $0.sleepsLogically = true
            $0.darkWakeInterval = .seconds(900)
        }
        _ = board.begin("upload")
        try board.goBack("upload")
        board.follow(people(idle: true))
        board.settle()
        board.monotonic = try #require(board.core.wakeAlarm)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .darkWake)
        _ = board.end("upload")
        _ = board.frozen("upload")
        #expect(board.core.device.sleepState == .asleep)
        _ = board.tell(people())
        #expect(board.core.device.sleepState == .awake)
    }

    @Test(arguments: [false, true])
    func activityDoesNotEndALogicalSleepThatIdlenessBegan_whenAnOperatorHasJoinedIt(_ isAsleep: Bool) throws {
        var board = closing { $0.sleepsLogically = true }
        let idle = board.handle(people(idle: true))
        if isAsleep { _ = board.obey(idle) }
        #expect(board.core.device.sleepState == (isAsleep ? .asleep : .preparing))
        _ = board.ask(1, .sleep(start: true, logical: true))
        if !isAsleep { _ = board.obey(idle) }
        _ = board.pass(.seconds(10))
        #expect(board.tell(people()) == [])
        #expect(board.pass(.seconds(10)) == [])
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func activityDoesNotEndALogicalSleep_whenTheLidBeganIt() throws {
        var board = closing { $0.sleepsLogically = true }
        board.follow(people(idle: true))
        _ = board.pass(.seconds(10))
        board.follow(1, .sleep(start: false, logical: true))
        board.follow(.board(.lid(closed: true)))
        _ = board.pass(.seconds(30))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.tell(people())
        _ = board.pass(.seconds(10))
        #expect(board.core.device.sleepState == .asleep)
    }
}
