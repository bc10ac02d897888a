import Lifecycle
import Testing

/// What people do at the board, and what that asks of its apps.
@Suite struct ConditionTests {
    private func board(_ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        var policy = DevicePolicy()
        change(&policy)
        var board = Board([app("kiosk")], device: policy)
        board.login()
        board.start()
        return board
    }

    private func people(_ users: Int = 1, locked: Bool = false, idle: Bool = false) -> Event {
        .board(.session(SessionReading(users: users, isLocked: locked, isIdle: idle)))
    }

    @Test func lockTakesTheAppToInactive_andUnlockBringsItBack() throws {
        var board = board()
        #expect(board.tell(people(locked: true)) == ["call kiosk willResignActive 10 s"])
        #expect(board.returned("kiosk") == [])
        #expect(try board.view("kiosk").phase == .inactive)
        #expect(board.pass(.seconds(60)) == [])
        #expect(board.tell(people()) == ["call kiosk didBecomeActive 10 s"])
    }

    @Test func lidTakesTheAppToBackgroundAndFreezesIt() throws {
        var board = board()
        #expect(board.tell(.board(.lid(closed: true))) == ["call kiosk willResignActive 10 s"])
        #expect(board.returned("kiosk") == ["call kiosk didEnterBackground 5 s"])
        #expect(board.returned("kiosk") == ["freeze kiosk"])
        #expect(board.frozen("kiosk") == [])
        #expect(board.core.device.phaseLimit == .background)
        #expect(board.core.device.frontDenial?.explanation == "the lid is closed")
        _ = board.pass(.seconds(2))
        #expect(board.tell(.board(.lid(closed: false))) == ["thaw kiosk", "call kiosk willEnterForeground 10 s"])
    }

    @Test func strongestWins_whenSeveralHold() throws {
        var board = board()
        board.follow(people(locked: true))
        board.follow(.board(.lid(closed: true)))
        #expect(try board.view("kiosk").taskState == .suspended)
        _ = board.pass(.seconds(5))
        // The lid is open again, and the session still locked.
        board.follow(.board(.lid(closed: false)))
        #expect(try board.view("kiosk").phase == .inactive)
    }

    @Test func bouncingConditionMovesTheAppOncePerWindow_andItsLastWordCounts() throws {
        var board = board()
        board.follow(people(locked: true))
        var effects: [String] = []
        for _ in 0..<500 {
            board.monotonic += .milliseconds(1)
            effects += board.tell(people())
            board.monotonic += .milliseconds(1)
            effects += board.tell(people(locked: true))
        }
        #expect(effects == [])
        board.monotonic += .milliseconds(1)
        #expect(board.tell(people()) == [])
        // A window after the first change, not after the last bounce.
        #expect(board.pass(.milliseconds(998)) == [])
        #expect(board.pass(.milliseconds(1)) == ["call kiosk didBecomeActive 10 s"])
    }

    @Test func bouncingLidDoesTheSame() throws {
        var board = board()
        board.follow(.board(.lid(closed: true)))
        #expect(try board.view("kiosk").phase == .background)
        var effects: [String] = []
        for _ in 0..<500 {
            board.monotonic += .milliseconds(1)
            effects += board.tell(.board(.lid(closed: false)))
            board.monotonic += .milliseconds(1)
            effects += board.tell(.board(.lid(closed: true)))
        }
        board.monotonic += .milliseconds(1)
        effects += board.tell(.board(.lid(closed: false)))
        #expect(!effects.contains { $0.hasPrefix("call") }, "\(effects)")
        #expect(board.pass(.seconds(1)).contains("call kiosk willEnterForeground 10 s"))
    }

    @Test func appStaysFrozen_whenTheBoardWakesBehindAClosedLid_andIsNotStartedAnewForIt() throws {
        var board = board()
        board.follow(.board(.lid(closed: true)))
        board.settle()
        board.fallAsleep()
        let woken = board.wake(afterSleeping: .seconds(60))
        #expect(!woken.contains { $0.hasPrefix("call") || $0.hasPrefix("spawn") || $0.hasPrefix("thaw") }, "\(woken)")
        let opened = board.tell(.board(.lid(closed: false))) + board.pass(.seconds(1))
        #expect(opened.contains("call kiosk willEnterForeground 10 s"))
        #expect(!opened.contains { $0.hasPrefix("spawn") }, "\(opened)")
    }

    @Test func appComesToTheFront_whenTheLidHasOpenedInTheSleep() throws {
        var board = board()
        board.follow(.board(.lid(closed: true)))
        board.settle()
        board.fallAsleep()
        #expect(board.tell(.board(.lid(closed: false))) == [])
        board.wakePromptly(afterSleeping: .seconds(60))
        board.settle()
        #expect(try board.view("kiosk").phase == .active)
    }

    @Test func idleCountsOnlyWhileSomebodyIsLoggedIn_andNotWhileWeKeepTheBoardAwake() throws {
        var board = Board(
            [app("kiosk") { $0.keepsAwake = true }],
            device: {
                var policy = DevicePolicy()
                policy.responses[.idle] = .inactive
                return policy
            }())
        board.login()
        board.start()
        #expect(board.tell(people(0, idle: true)) == [])
        #expect(board.begin("kiosk") == ["task kiosk upload began", "reply 0: begun, no limit", "take keepAwake"])
        _ = board.handle(.login(.lockTaken(.keepAwake)))
        #expect(board.tell(people(1, idle: true)) == [])
        #expect(board.end("kiosk").contains("call kiosk willResignActive 10 s"))
    }

    @Test func nothingIsAskedByDefault_whenIdle() throws {
        var board = board()
        #expect(board.tell(people(1, idle: true)) == [])
    }

    @Test func activationIsDeniedWithTheReason_whileAConditionHolds() throws {
        var board = board()
        let kiosk = try board.id("kiosk")
        _ = board.handle(people(locked: true))
        #expect(board.ask(1, .activate(kiosk)) == ["reply 1: denied, the session is locked"])
        _ = board.handle(.board(.lid(closed: true)))
        #expect(board.ask(2, .activate(kiosk)) == ["reply 2: denied, the lid is closed"])
    }

    @Test func waitingActivationIsDenied_whenAConditionComes() throws {
        var board = board()
        let kiosk = try board.id("kiosk")
        try board.goBack("kiosk")
        #expect(board.ask(1, .activate(kiosk)) == ["thaw kiosk", "call kiosk willEnterForeground 10 s"])
        #expect(board.tell(people(locked: true)) == ["reply 1: denied, the session is locked"])
        // What was denied does not come true later.
        #expect(board.returned("kiosk") == ["call kiosk didEnterBackground 5 s"])
        #expect(board.returned("kiosk") == ["freeze kiosk"])
        _ = board.pass(.seconds(2))
        #expect(board.tell(people()) == [])
    }

    @Test func launchUnderAClosedLidIsInBackground() throws {
        var board = Board([app("kiosk")])
        _ = board.handle(.board(.lid(closed: true)))
        #expect(board.tell(.started) == ["spawn kiosk boot background"])
    }

    @Test func policyDecides() throws {
        var board = board { $0.responses[.lidClosed] = .nothing }
        #expect(board.tell(.board(.lid(closed: true))) == [])
    }

    @Test func lidSendsTheBoardToSleep_whereConfigured() throws {
        var board = board { $0.responses[.lidClosed] = .sleep }
        #expect(board.tell(.board(.lid(closed: true))).contains("suspend"))
        var logical = self.board {
            $0.responses[.lidClosed] = .sleep
            $0.sleepsLogically = true
        }
        logical.follow(.board(.lid(closed: true)))
        #expect(logical.core.device.sleepState == .asleep)
        _ = logical.pass(.seconds(3))
        logical.follow(.board(.lid(closed: false)))
        #expect(logical.core.device.sleepState == .awake)
        #expect(try logical.view("kiosk").phase == .active)
    }
}

/// Sleep of a board that cannot: what ends it.
@Suite struct LogicalSleepTests {
    private func asleep(_ sources: [WakeSource]) throws -> Board {
        var policy = DevicePolicy()
        policy.sleepsLogically = true
        policy.wakeSources = []
        for source in sources { policy.wakeSources.insert(WakeSources(source)) }
        policy.responses[.powerKey] = .sleep
        var board = Board([app("kiosk")], device: policy)
        board.start()
        _ = board.handle(.board(.power(PowerReading(isExternal: false, level: nil))))
        board.follow(.board(.keyPressed(.power)))
        #expect(board.core.device.sleepState == .asleep)
        return board
    }

    @Test(arguments: [
        (WakeSource.key, Event.board(.keyPressed(.power))),
        (.externalPower, .board(.power(PowerReading(isExternal: true, level: nil)))),
        (.network, .board(.network(up: true))),
    ])
    func endsByItsWakeSource_andByNoOther(_ source: WakeSource, _ event: Event) throws {
        var board = try asleep([source])
        board.follow(event)
        #expect(board.core.device.sleepState == .awake)
        #expect(try board.view("kiosk").phase == .active)
        var other = try asleep(WakeSource.allCases.filter { $0 != source })
        other.follow(event)
        #expect(other.core.device.sleepState == .asleep)
    }

    @Test func lidEndsItWhenItOpens() throws {
        var board = try asleep([.lid])
        _ = board.handle(.board(.lid(closed: true)))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.handle(.board(.lid(closed: false)))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func keyDoesNothing_whereItIsNotConfigured() throws {
        var board = Board([app("kiosk")])
        board.start()
        #expect(board.tell(.board(.keyPressed(.power))) == [])
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func boardThatCanSleepIsSentThereByLogind() throws {
        var policy = DevicePolicy()
        policy.responses[.powerKey] = .sleep
        var board = Board([app("kiosk")], device: policy)
        board.login()
        board.start()
        #expect(board.tell(.board(.keyPressed(.power))) == ["suspend"])
    }

    /// The sleep key is logind's to answer.
    @Test(arguments: [HardwareKey.sleep, .wakeUp])
    func noOtherKeyAsksForSleep_butEachEndsOne(_ key: HardwareKey) throws {
        var board = try asleep([.key])
        #expect(board.tell(.board(.keyPressed(key))).first == "thaw kiosk")
        #expect(board.core.device.sleepState == .awake)
        board.start()
        _ = board.pass(.seconds(60))
        #expect(board.tell(.board(.keyPressed(key))) == [])
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func externalPowerEndsIt_thoughTheSupplyWasSilentForLong() throws {
        var board = try asleep([.externalPower])
        _ = board.tell(.board(.power(PowerReading(isExternal: nil, level: nil))))
        _ = board.pass(.seconds(301))
        _ = board.tell(.board(.power(PowerReading(isExternal: true, level: nil))))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func keyThatWokeTheBoardDoesNotPutItToSleep() throws {
        var board = try asleep([.key])
        _ = board.pass(.seconds(60))
        _ = board.tell(.board(.keyPressed(.power)))
        #expect(board.core.device.sleepState == .awake)
        _ = board.pass(.seconds(2))
        _ = board.tell(.board(.keyPressed(.power)))
        #expect(board.core.device.sleepState == .awake)
        _ = board.pass(.milliseconds(1))
        _ = board.tell(.board(.keyPressed(.power)))
        #expect(board.core.device.sleepState != .awake)
    }

    @Test func criticalHeatEndsAppsInIt() throws {
        var policy = DevicePolicy()
        policy.sleepsLogically = true
        var board = Board([app("logger") { $0.suspend = false }], device: policy)
        board.start()
        board.follow(1, .sleep(start: true, logical: true))
        #expect(board.core.device.sleepState == .asleep)
        let hot = ThermalReading(temperature: 95_000, fair: nil, serious: nil, critical: 90_000)
        #expect(board.tell(.board(.temperatures([hot]))).contains("kill logger"))
    }
}
