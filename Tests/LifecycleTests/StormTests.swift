import Lifecycle
import Testing

/// What storms of conditions have brought to light.
@Suite struct StormTests {
    private func board(_ apps: [AppPolicy], _ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        var policy = DevicePolicy()
        change(&policy)
        var board = Board(apps, device: policy)
        board.login()
        board.start()
        return board
    }

    @Test func killedByTheKernelInFront_comesBackWhenNothingIsLeftOfIt() throws {
        var board = board([app("kiosk")])
        _ = board.tell(.memory(.killed(board.last("kiosk"))))
        #expect(board.gone("kiosk") == [])
        #expect(board.pass(.milliseconds(100)) == ["spawn kiosk restart"])
    }

    @Test func whoDiesSlowlyOfMemoryComesBack_thoughTheBoardIsWellBefore() throws {
        var board = board([app("kiosk")])
        _ = board.tell(.memory(.pressure(.critical)))
        let uses = [MemoryUse(instance: board.last("kiosk"), bytes: 1 << 20)]
        #expect(board.tell(.memory(.read(available: 0, total: 100, uses))).contains("kill kiosk"))
        _ = board.pass(.seconds(20))
        #expect(board.gone("kiosk") == [])
        #expect(board.pass(.milliseconds(100)) == ["spawn kiosk restart"])
    }

    @Test func nobodyIsToldOfAnExternalSupplyThatWasTakenForGranted() throws {
        var board = board([app("logger")])
        #expect(board.tell(.board(.power(PowerReading(isExternal: true, level: nil)))) == [])
        #expect(board.core.device.externalPower == true)
    }

    @Test func lowPowerModeCutsWhatBeginsInIt() throws {
        var board = board([app("logger") { $0.keepsAwake = true }])
        _ = board.ask(1, .setLowPower(true))
        _ = board.ask(2, .adopt(app: "task-sync", TaskParameters(name: "sync", timeAllowed: .seconds(60))))
        #expect(board.spawned("task-sync").contains("reply 2: begun, 30 s"))
        // The time to keep the board awake is full again after a sleep, and no fuller.
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        _ = board.begin("logger", keepAwake: true)
        _ = board.tell(.login(.lockTaken(.keepAwake)))
        #expect(board.pass(.seconds(29)).contains("release keepAwake") == false)
        #expect(board.pass(.seconds(1)).contains("release keepAwake"))
    }

    @Test func appsOfUnknownSizeGoOneAtATime() throws {
        var board = board([app("one"), app("two"), app("three")])
        for name in ["one", "two", "three"] { try board.goBack(name) }
        _ = board.tell(.memory(.pressure(.critical)))
        let effects = board.tell(.memory(.read(available: 0, total: 1 << 30, [])))
        #expect(effects.filter { $0.hasPrefix("kill") } == ["kill one"])
    }

    @Test func onlyOneBecomesActive_howeverSlowItIs() throws {
        var board = board(["first", "second"].map { app($0) { $0.launch = .manual } }) { $0.front = .one }
        let first = try board.id("first")
        let second = try board.id("second")
        _ = board.ask(1, .launch(first, background: false))
        _ = board.spawned("first")
        #expect(board.returned("first") == ["call first didBecomeActive 10 s"])
        _ = board.ask(2, .launch(second, background: false))
        _ = board.spawned("second")
        #expect(board.returned("second") == [])
        #expect(board.returned("first").contains("call first willResignActive 10 s"))
        #expect(board.returned("first").contains("call second didBecomeActive 10 s"))
    }

    @Test func readingsDoNotOverlap() throws {
        var board = board([app("kiosk")])
        #expect(board.tell(.memory(.pressure(.warning))) == ["read memory"])
        #expect(board.tell(.memory(.pressure(.critical))) == [])
        #expect(board.tell(.memory(.read(available: 0, total: 1 << 30, []))) == ["inform kiosk memory warning"])
    }

    @Test func chargerThatComesAtTheLastMomentIsHeardFirst() throws {
        var board = board([app("logger")])
        _ = board.tell(.board(.power(PowerReading(isExternal: false, level: 3))))
        _ = board.pass(.seconds(5))
        _ = board.returned("logger")
        #expect(board.gone("logger", .exited(0)) == ["power off"])
        board.monotonic += .seconds(60)
        #expect(board.tell(.board(.power(PowerReading(isExternal: true, level: 3)))) == ["spawn logger restart"])
    }

    @Test func watchdogThatIsArmedInASleepRestsBeforeItsLockGoes() throws {
        var board = Board([])
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false)))
        _ = board.sleepSignal(true)
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.tell(.watchdog(.hardware(timeout: .seconds(15)))) == [])
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["watchdog rests", "release sleep"])
    }

    @Test func leftDownStaysDown_whoeverEndedItBefore() throws {
        func heat(_ temperature: Int) -> Event {
            .board(.temperatures([ThermalReading(temperature: temperature, fair: nil, serious: nil, critical: 85_000)]))
        }
        var board = board([app("kiosk") { $0.restartLimit = 1 }])
        #expect(board.tell(heat(90_000)).contains("kill kiosk"))
        // An operator does not wait until it is gone.
        _ = board.ask(1, .launch(try board.id("kiosk"), background: false))
        #expect(board.gone("kiosk").contains("spawn kiosk user"))
        _ = board.tell(heat(40_000))
        _ = board.spawned("kiosk")
        board.crash("kiosk")
        #expect(try board.view("kiosk").isLeftDown)
        #expect(board.pass(.seconds(60)) == [])
    }

    @Test func whatAShutdownGaveUpIsStartedAnew_whenItIsCancelled() throws {
        var board = board([app("logger")])
        _ = board.shutdownSignal(true)
        #expect(board.pass(.milliseconds(4600)).contains("kill logger"))
        _ = board.exited("logger", .signalled(9))
        #expect(board.pass(.seconds(1)).contains("release shutdown"))
        #expect(board.shutdownSignal(false) == ["take shutdown"])
        #expect(board.pass(.seconds(10)).contains("spawn logger restart"))
    }

    @Test func processThatWaitsToBeTakenOverStillIs_afterAShutdownThatWasCancelled() throws {
        var board = board([app("logger")])
        _ = board.tell(.board(.power(PowerReading(isExternal: false, level: 3))))
        board.monotonic += .seconds(5)
        _ = board.ask(1, .adopt(app: "task-sync", TaskParameters(name: "sync")))
        let effects = board.tell(.board(.power(PowerReading(isExternal: true, level: 3))))
        #expect(effects.contains("spawn task-sync backgroundTask background"), "\(effects)")
    }

    @Test func onlyOneKeepsTheFront_whenAReloadComesWhileNobodyRuns() throws {
        let apps = [app("one"), app("two")]
        var board = board(apps)
        for name in ["one", "two"] {
            _ = board.exited(name, .exited(1))
            _ = board.emptied(name)
        }
        var policy = DevicePolicy()
        policy.front = .one
        _ = board.tell(.configured(apps, policy))
        #expect(board.pass(.seconds(1)) == ["spawn one restart", "spawn two restart background"])
    }

    @Test func whoWaitsToBeTakenOverIsAnswered_whenAnOperatorEndsIt() throws {
        var board = board([app("logger")])
        _ = board.tell(.board(.power(PowerReading(isExternal: false, level: 3))))
        board.monotonic += .seconds(5)
        _ = board.ask(1, .adopt(app: "task-sync", TaskParameters(name: "sync")))
        let task = try board.id("task-sync")
        let effects = board.ask(2, .terminate(task, force: false))
        #expect(effects.contains("reply 1: denied, it was ended before it began"), "\(effects)")
        #expect(effects.contains("reply 2: done"), "\(effects)")
        #expect(board.core.id(of: "task-sync") == nil)
    }
}
