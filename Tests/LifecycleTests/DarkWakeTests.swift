import Lifecycle
import Testing

/// Our own alarm wakes the board for held background tasks, and no user at the board hears of it.
@Suite struct DarkWakeTests {
    /// "camera" is in front, "upload" holds a task in background; both go to sleep.
    private func asleep(
        logical: Bool = false, with task: Bool = true, camera: AppPolicy = app("camera")
    ) throws -> Board {
        var device = DevicePolicy()
        device.darkWakeInterval = .seconds(900)
        var board = Board([camera, app("upload")], device: device)
        if !logical { board.login() }
        board.start()
        if task { _ = board.begin("upload", "upload") }
        try board.goBack("upload")
        _ = logical ? board.ask(7, .sleep(start: true, logical: true)) : board.sleepSignal(true)
        if camera.launch == .boot {
            _ = board.returned("camera")
            _ = board.returned("camera")
            _ = board.frozen("camera")
        }
        guard task else { return board }
        #expect(board.pass(.seconds(2)) == ["freeze upload"])
        let last = board.frozen("upload")
        #expect(
            last
                == (logical
                    ? ["alarm in 15 min", "reply 7: sleep 1 ready, killed []"]
                    : ["alarm in 15 min", "sleep is handled", "release sleep"]))
        return board
    }

    /// logind has granted the lock for the way back.
    private func inDarkWake() throws -> Board {
        var board = try asleep()
        _ = board.wake(afterSleeping: .seconds(901))
        _ = board.tell(.login(.lockTaken(.sleep)))
        return board
    }

    @Test func onlyTheWorkRunsAndTheBoardSleepsAgain_whenItIsDone() throws {
        var board = try asleep()
        let dark = board.wake(afterSleeping: .seconds(901))
        #expect(dark == ["alarm off", "sleep is over", "take sleep", "thaw upload"])
        #expect(board.core.device.sleepState == .darkWake)
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.pass(.seconds(3)) == [])
        #expect(try board.view("camera").taskState == .suspended)
        #expect(board.end("upload") == ["task upload upload ended 595 s", "reply 0: done", "freeze upload", "suspend"])
        #expect(board.frozen("upload") == [])
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func boardSleepsAgain_whenTheAllowanceIsOver() throws {
        var board = try inDarkWake()
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["suspend"])
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.seconds(2)) == ["freeze upload"])
        #expect(board.frozen("upload") == ["alarm in 15 min", "sleep is handled", "release sleep"])
        // A key this time: all apps come back.
        #expect(
            board.wake(afterSleeping: .seconds(60)) == [
                "sleep is over", "take sleep", "alarm off", "thaw camera", "thaw upload",
                "call camera willEnterForeground 10 s",
            ])
    }

    @Test func clockAloneTells_whenLogindIsLate() throws {
        var board = try asleep()
        board.slept += .seconds(901)
        #expect(board.tell(.timePassed) == ["alarm off", "sleep is over", "thaw upload"])
        #expect(board.sleepSignal(false) == ["take sleep"])
        #expect(board.core.device.sleepState == .darkWake)
    }

    /// A real-time clock counts whole seconds.
    @Test(arguments: [(500, true), (1900, true), (3000, false)])
    func alarmMayWakeTheBoardALittleEarly(_ early: Int64, _ isDark: Bool) throws {
        var board = try asleep()
        board.slept += .seconds(900) - .milliseconds(early)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == (isDark ? .darkWake : .awake))
    }

    @Test func wakeIsFull_whenTheAlarmWasNotWhatWokeTheBoard() throws {
        var board = try asleep()
        #expect(board.wake(afterSleeping: .seconds(800)).contains("call camera willEnterForeground 10 s"))
        board = try asleep()
        #expect(board.wake(afterSleeping: .seconds(5000)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func wakeBecomesFull_whenSomebodyAsksForAnApp() throws {
        var board = try asleep()
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(
            try board.ask(8, .activate(board.id("camera"))) == ["thaw camera", "call camera willEnterForeground 10 s"])
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func wakeBecomesFull_whenTheBoardIsNotPutToSleepAgain() throws {
        var board = try inDarkWake()
        #expect(board.pass(.seconds(30)) == ["suspend"])
        var refused = board
        #expect(refused.tell(.login(.suspendRefused)).contains("call camera willEnterForeground 10 s"))
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func logicalSleepHasDarkWakesToo() throws {
        var board = try asleep(logical: true)
        #expect(board.pass(.seconds(900)) == [])
        #expect(board.tell(.timePassed) == ["alarm off", "thaw upload"])
        #expect(board.end("upload").last == "freeze upload")
        #expect(board.frozen("upload") == [])
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.ask(9, .sleep(start: false, logical: true)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func noAlarmIsSet_withoutWork() throws {
        var board = try asleep(with: false)
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.wake(afterSleeping: .seconds(901)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func nothingIsLaunchedInTheDark() throws {
        var board = try asleep()
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.gone("camera") == [])
        #expect(board.pass(.seconds(5)) == [])
        #expect(board.ask(9, .sleep(start: false, logical: true)).contains("reply 9: sleep 1 ready, killed []"))
        #expect(board.pass(.seconds(1)).contains("spawn camera restart") || board.last("camera").rawValue > 2)
    }

    @Test func taskThatBeginsAsTheLastOneEndsIsPaidFor() throws {
        var board = try inDarkWake()
        #expect(board.end("upload").suffix(2) == ["freeze upload", "suspend"])
        // Both were sent at once: it is read before the app stands still.
        #expect(
            board.begin("upload", "next") == ["task upload next began 598 s", "reply 0: begun, 598 s", "thaw upload"])
        #expect(board.pass(.seconds(10)) == [])
        let left = try board.core.backgroundTimeRemaining(of: board.id("upload"), at: board.monotonic)
        #expect(left == .seconds(588))
    }

    @Test func sleepHookTellsNothingNew() throws {
        var board = try asleep()
        board.slept += .seconds(901)
        #expect(board.tell(.timePassed) == ["alarm off", "sleep is over", "thaw upload"])
        #expect(board.ask(9, .sleep(start: false, logical: false)) == ["reply 9: sleep 1 ready, killed []"])
        #expect(board.core.device.sleepState == .darkWake)
        // An operator who says `curfew wake` is at the board.
        #expect(board.ask(10, .sleep(start: false, logical: true)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func logindIsAskedForTheNextSleep_whenItHasEndedTheLast() throws {
        var board = try asleep()
        board.slept += .seconds(901)
        _ = board.tell(.timePassed)
        #expect(board.end("upload").last == "freeze upload")
        #expect(board.frozen("upload") == [])
        var late = board
        #expect(board.sleepSignal(false) == ["take sleep", "suspend"])
        // It says nothing of the end, and grants the lock by which it is known.
        #expect(late.pass(.milliseconds(29_999)) == [])
        #expect(late.pass(.milliseconds(1)) == ["take sleep"])
        var hooked = late
        #expect(late.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep", "suspend"])
        // logind is still at it, for another package's hook perhaps; but no app sits there frozen for ever.
        for _ in 0..<9 {
            #expect(hooked.tell(.login(.lockRefused(.sleep))) == [])
            #expect(hooked.pass(.milliseconds(29_999)) == [])
            #expect(hooked.pass(.milliseconds(1)) == ["take sleep"])
        }
        #expect(hooked.tell(.login(.lockRefused(.sleep))) == [])
        #expect(hooked.pass(.seconds(30)).contains("call camera willEnterForeground 10 s"))
    }

    @Test func alarmIsOver_whenItsWorkIsGoneByThen() throws {
        var board = try asleep(logical: true)
        #expect(try board.ask(8, .terminate(board.id("upload"), force: true)) == ["kill upload"])
        board.gone("upload")
        #expect(board.core.wakeAlarm != nil)
        #expect(board.pass(.seconds(900)) == [])
        #expect(board.tell(.timePassed) == ["alarm off"])
        #expect(board.core.wakeAlarm == nil)
        #expect(board.core.device.sleepState == .asleep)
        // A deadline that stays in the past would wake the core for ever.
        #expect(board.core.nextDeadline.map { $0.at > board.monotonic } ?? true)
    }

    @Test func wakeBecomesFull_whenTheBoardShutsDown() throws {
        var board = try asleep()
        _ = board.wake(afterSleeping: .seconds(901))
        var stopped = board
        // No sleep is asked for any more, and an app that is ended hears of it.
        #expect(board.shutdownSignal(true).contains("thaw camera"))
        #expect(board.core.device.sleepState == .awake)
        #expect(stopped.tell(.stopRequested).contains("thaw camera"))
        #expect(stopped.core.device.sleepState == .awake)
    }

    @Test func alarmIsForNobody_whenTheBoardShutsDown() throws {
        var board = try asleep(logical: true, camera: app("camera") { $0.after = ["upload"] })
        _ = board.pass(.milliseconds(899_999))
        #expect(board.shutdownSignal(true) == ["kill camera"])
        #expect(board.pass(.milliseconds(1)) == [])
        #expect(board.tell(.timePassed) == ["alarm off"])
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func logicalSleepGoesOn_whenTheBoardSleepsInItsDarkWake() throws {
        var board = try asleep(logical: true)
        _ = board.pass(.seconds(900))
        #expect(board.tell(.timePassed) == ["alarm off", "thaw upload"])
        board.slept += .seconds(60)
        #expect(board.tell(.timePassed) == [])
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func reloadWithoutDarkWakesTakesTheAlarmBack() throws {
        var board = try asleep()
        #expect(board.tell(.configured([app("camera"), app("upload")], DevicePolicy())) == ["alarm off"])
    }

    @Test func reloadWithoutTheClockTakesTheAlarmOfALogicalSleepBack() throws {
        var board = try asleep(logical: true)
        var policy = DevicePolicy()
        policy.darkWakeInterval = .seconds(900)
        policy.wakeSources = WakeSources(.key)
        #expect(board.tell(.configured([app("camera"), app("upload")], policy)) == ["alarm off"])
    }

    @Test func lowPowerModeTakesTheAlarmBack() throws {
        var board = try asleep(logical: true)
        #expect(board.tell(.board(.power(PowerReading(isExternal: false, level: 15)))) == ["alarm off"])
    }

    @Test func alarmIsSetAnew_whenItComesAsTheNextSleepIsAnnounced() throws {
        var board = try asleep(logical: true)
        board.login()
        // A stall: the edge is read before the alarm.
        board.monotonic += .seconds(910)
        #expect(board.sleepSignal(true) == ["sleep is handled", "alarm in 15 min"])
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func boardIsKeptAwakeAfterwards_whenThatWasRefusedInTheDark() throws {
        var board = try asleep(logical: true, camera: app("camera") { $0.keepsAwake = true })
        _ = board.ask(9, .sleep(start: false, logical: true))
        _ = board.returned("camera")
        _ = board.returned("camera")
        board.login()
        #expect(board.begin("camera").contains("take keepAwake"))
        // logind answers when the board has been to sleep and is awake for work.
        _ = board.ask(7, .sleep(start: true, logical: true))
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.pass(.seconds(2))
        _ = board.frozen("camera")
        _ = board.frozen("upload")
        _ = board.pass(.seconds(900))
        #expect(board.tell(.timePassed) == ["alarm off", "thaw camera", "thaw upload"])
        #expect(board.tell(.login(.lockRefused(.keepAwake))) == [])
        #expect(board.ask(9, .sleep(start: false, logical: true)).contains("take keepAwake"))
    }

    @Test func wakeIsDark_whenLogindWasAwayAtTheAlarm() throws {
        var device = DevicePolicy()
        device.darkWakeInterval = .seconds(20)
        var board = Board([app("upload")], device: device)
        board.login()
        board.start()
        _ = board.begin("upload", "upload")
        try board.goBack("upload")
        _ = board.sleepSignal(true)
        _ = board.pass(.seconds(2))
        #expect(board.frozen("upload") == ["alarm in 20 s", "sleep is handled", "release sleep"])
        _ = board.tell(.login(.unavailable))
        #expect(board.pass(.seconds(20)) == [])
        board.monotonic += .milliseconds(1)
        _ = board.tell(.timePassed)
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: true, preparingForShutdown: false)))
        _ = board.sleepSignal(false)
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func wakeIsDark_whenALogindThatComesBackStillSleepsAtTheAlarm() throws {
        var board = try asleep()
        _ = board.end("upload")
        board.monotonic += .seconds(899)
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: true, preparingForShutdown: false)))
        board.monotonic += .seconds(1)
        _ = board.sleepSignal(false)
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func boardThatSleptInADarkWakeIsFullyAwake_andLogindsOldSleepIsNoNewOne() throws {
        var board = try inDarkWake()
        #expect(board.core.device.sleepState == .darkWake)
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .awake)
        _ = board.tell(.login(.preparingForSleep(true)))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func wakeBecomesFull_whenAnAppIsLaunched() throws {
        var board = try asleep(camera: app("camera") { $0.launch = .manual })
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .darkWake)
        #expect(try board.ask(8, .launch(board.id("camera"), background: false)) == ["spawn camera user"])
        #expect(board.core.device.sleepState == .awake)
        _ = board.spawned("camera")
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(board.returned("camera") == ["reply 8: done"])
    }

    @Test func darkWakeGoesOn_whenARefusalComesThatItHasNotAskedFor() throws {
        var board = try inDarkWake()
        #expect(board.tell(.login(.suspendRefused)) == [])
        #expect(board.core.device.sleepState == .darkWake)
    }

    /// What logind said of the sleep before says nothing of the next.
    @Test func lockOfTheSleepBeforeIsNotCounted_whereADarkWakeWasBetween() throws {
        var device = DevicePolicy()
        device.darkWakeInterval = .seconds(900)
        let camera = app("camera") {
            $0.suspend = false
            $0.handlers = []
        }
        var board = Board([camera, app("upload")], device: device)
        board.login()
        board.start()
        _ = board.begin("upload", "upload")
        try board.goBack("upload")
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(1900))
        _ = try board.tell(.login(.appHoldsLock(board.instance("camera"))))
        _ = board.pass(.milliseconds(100))
        _ = board.frozen("upload")
        _ = board.wake(afterSleeping: .seconds(901))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.sleepSignal(true)
        board.monotonic += .milliseconds(1950)
        let said = board.handleAll(.timePassed)
        #expect(!said.contains(.note(.app(.keepsLock(AppID(rawValue: 0), try board.instance("camera"))))))
    }
}
