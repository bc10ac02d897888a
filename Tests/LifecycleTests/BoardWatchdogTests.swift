import Lifecycle
import Testing

@Suite struct BoardWatchdogTests {
    private func board(_ apps: [AppPolicy] = [app("kiosk")], timeout: Nanoseconds = .seconds(15)) -> Board {
        var board = Board(apps)
        board.login()
        board.start()
        _ = board.handle(.watchdog(.hardware(timeout: timeout)))
        return board
    }

    @Test func isFedThreeTimesInItsTimeout_andNoMore() throws {
        var board = board()
        #expect(board.pass(.seconds(15)) == ["feed", "feed", "feed"])
        for _ in 0..<4 {
            board.monotonic += .seconds(1)
            #expect(board.tell(.timePassed) == [])
        }
        board.monotonic += .seconds(1)
        #expect(board.tell(.timePassed) == ["feed"])
    }

    @Test func isLeftAlone_whenThereIsNone() throws {
        var board = board()
        _ = board.handle(.watchdog(.hardware(timeout: nil)))
        #expect(board.pass(.seconds(120)) == [])
    }

    @Test func lostOneIsTriedAgain_laterEachTime_answeredOrNot() throws {
        var board = board()
        #expect(board.tell(.watchdog(.lost)) == [])
        #expect(board.pass(.milliseconds(999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["watchdog again"])
        #expect(board.pass(.seconds(2)) == ["watchdog again"])
        #expect(board.tell(.watchdog(.lost)) == [])
        #expect(board.pass(.seconds(12)) == ["watchdog again", "watchdog again"])
        #expect(board.tell(.watchdog(.hardware(timeout: .seconds(15)))) == [])
        #expect(board.pass(.seconds(15)) == ["feed", "feed", "feed"])
        // The next loss is another.
        _ = board.tell(.watchdog(.lost))
        #expect(board.pass(.seconds(1)) == ["watchdog again"])
    }

    @Test(arguments: [false, true]) func lostOneIsTriedInALogicalSleep_whereTheBoardHasNoOther(_ isBoards: Bool) throws
    {
        var device = DevicePolicy()
        device.sleepsLogically = isBoards
        var board = Board([app("kiosk")], device: device)
        board.login()
        board.start()
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(15))))
        board.follow(1, .sleep(start: true, logical: true, about: nil))
        board.answerAll()
        #expect(board.core.device.sleepState == .asleep)
        _ = board.tell(.watchdog(.lost))
        #expect(board.pass(.seconds(3)) == (isBoards ? ["watchdog again", "watchdog again"] : []))
        // What was due is done when the kernel does not sleep next.
        let woken = board.ask(2, .sleep(start: false, logical: true, about: nil))
        #expect(woken.contains("watchdog again") == !isBoards)
    }

    @Test func boardIsReset_whenAnEssentialAppIsLeftDown() throws {
        var board = board([
            app("gateway") {
                $0.isEssential = true
                $0.restartLimit = 2
                $0.restartDelay = .seconds(7)
            }
        ])
        board.gone("gateway", .exited(1))
        // It comes back: the board lives.
        #expect(board.pass(.seconds(7)) == ["feed", "spawn gateway restart"])
        _ = board.spawned("gateway")
        board.gone("gateway", .exited(1))
        #expect(board.pass(.seconds(60)) == [])
        // An operator saves it.
        let gateway = try board.id("gateway")
        #expect(board.ask(1, .launch(gateway, background: false)).contains("spawn gateway user"))
        _ = board.spawned("gateway")
        #expect(board.pass(.seconds(5)).contains("feed"))
    }

    @Test func reloadLeavesAnEssentialAppEssential_whileItWaitsForItsRestart() throws {
        let policy = app("gateway") {
            $0.launch = .manual
            $0.isEssential = true
            $0.restartLimit = 2
            $0.restartDelay = .seconds(7)
        }
        var board = board([policy])
        try board.follow(1, .launch(board.id("gateway"), background: false))
        board.gone("gateway", .exited(1))
        _ = board.tell(.configured([policy], DevicePolicy()))
        _ = board.pass(.seconds(7))
        _ = board.spawned("gateway")
        board.gone("gateway", .exited(1))
        #expect(!board.pass(.seconds(60)).contains("feed"))
        // Nor does a reload of the same feed what is lost.
        _ = board.tell(.configured([policy], DevicePolicy()))
        #expect(!board.pass(.seconds(60)).contains("feed"))
    }

    @Test func operatorMayEndAnEssentialApp_thatWaitsForItsRestart() throws {
        var board = board([
            app("gateway") {
                $0.isEssential = true; $0.restartDelay = .seconds(60)
            }
        ])
        board.gone("gateway", .exited(1))
        #expect(try board.ask(1, .terminate(board.id("gateway"), force: false)) == ["reply 1: done"])
        #expect(board.pass(.seconds(15)) == ["feed", "feed", "feed"])
    }

    @Test func isArmedAnew_whenTheKernelSleepsInALogicalSleep() throws {
        var board = board()
        board.follow(1, .sleep(start: true, logical: true))
        #expect(board.core.device.sleepState == .asleep)
        board.slept += .seconds(60)
        #expect(board.tell(.timePassed).contains("watchdog wakes"))
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func operatorMayEndAnEssentialApp() throws {
        var board = board([app("gateway") { $0.isEssential = true }])
        let gateway = try board.id("gateway")
        board.follow(1, .terminate(gateway, force: true))
        #expect(board.pass(.seconds(5)) == ["feed"])
    }

    @Test func boardIsReset_whenAnEssentialAppCannotBeKilled() throws {
        var board = board([app("gateway") { $0.isEssential = true }])
        let gateway = try board.id("gateway")
        _ = board.ask(1, .terminate(gateway, force: true))
        _ = board.pass(.seconds(5))
        #expect(!board.pass(.seconds(30)).contains("feed"))
    }

    @Test func restsBeforeTheLockIsReleased_andWakesAfterTheSleep() throws {
        var board = board()
        _ = board.sleepSignal(true)
        _ = board.returned("kiosk")
        _ = board.returned("kiosk")
        #expect(board.frozen("kiosk") == ["watchdog rests", "sleep is handled", "release sleep"])
        #expect(board.wake(afterSleeping: .seconds(600)).contains("watchdog wakes"))
        #expect(board.tell(.watchdog(.hardware(timeout: .seconds(15)))) == [])
        #expect(board.pass(.seconds(5)).filter { $0 == "feed" } == ["feed"])
    }

    @Test func serviceManagerDoesNotWatch_whileTheKernelMaySleep() throws {
        var board = board()
        #expect(board.tell(.watchdog(.service)) == [])
        _ = board.sleepSignal(true)
        _ = board.returned("kiosk")
        _ = board.returned("kiosk")
        #expect(
            board.frozen("kiosk") == ["watchdog rests", "service watchdog rests", "sleep is handled", "release sleep"])
        // MONOTONIC has run on.
        board.monotonic += .seconds(600)
        #expect(board.sleepSignal(false).contains("service watchdog wakes"))
    }

    @Test func serviceManagerWatchesOn_whileTheBoardSleepsLogically() throws {
        var board = board()
        _ = board.handle(.watchdog(.service))
        board.follow(1, .sleep(start: true, logical: true))
        #expect(board.core.device.sleepState == .asleep)
        // Now the kernel is to sleep, too.
        #expect(
            board.sleepSignal(true) == [
                "watchdog rests", "service watchdog rests", "sleep is handled", "release sleep",
            ])
    }

    @Test func isFedOn_whileTheBoardSleepsLogically() throws {
        var board = board()
        board.follow(1, .sleep(start: true, logical: true))
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.pass(.seconds(10)) == ["feed", "feed"])
    }

    @Test func isArmedAgain_afterASleepThatNobodyAnnounced() throws {
        var board = board()
        board.slept = .seconds(30)
        #expect(board.tell(.timePassed).contains("watchdog wakes"))
    }

    @Test func isFedAtOnce_afterAStall() throws {
        var board = board()
        #expect(board.stall(.seconds(14)).contains("feed"))
    }

    @Test func essentialAppIsMissed_whenAReloadFindsItsRestartDue() throws {
        let essential: (inout AppPolicy) -> Void = {
            $0.isEssential = true
            $0.restartLimit = 2
        }
        var board = board([app("gateway", essential)])
        board.gone("gateway", .exited(1))
        let manual = app("gateway") {
            essential(&$0)
            $0.launch = .onDemand
        }
        _ = board.tell(.configured([manual], DevicePolicy()))
        #expect(board.pass(.milliseconds(100)).contains("spawn gateway restart"))
        _ = board.spawned("gateway")
        board.gone("gateway", .exited(1))
        #expect(try board.view("gateway").isLeftDown)
        #expect(!board.pass(.seconds(30)).contains("feed"))
    }

    @Test func appThatAReloadStartsIsMissed_whenALaunchInItsPlaceIsDenied() throws {
        let gateway = app("gateway") {
            $0.isEssential = true
            $0.restartLimit = 1
        }
        var board = board([gateway])
        _ = try board.ask(1, .terminate(board.id("gateway"), force: true))
        _ = board.tell(.configured([], DevicePolicy()))
        _ = board.tell(.configured([gateway], DevicePolicy()))
        _ = try board.ask(2, .launch(board.id("gateway"), background: false))
        _ = board.exited("gateway", .signalled(9))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.emptied("gateway")
        board.slept = .seconds(60)
        // As the reload meant it.
        #expect(board.sleepSignal(false).contains("spawn gateway boot"))
        _ = board.spawned("gateway")
        board.gone("gateway", .exited(1))
        #expect(try board.view("gateway").isLeftDown)
        #expect(!board.pass(.seconds(30)).contains("feed"))
    }

    @Test func appThatAnOperatorEndedIsNotLost_whenALaunchAfterItIsDenied() throws {
        var board = Board([app("camera") { $0.isEssential = true }])
        board.login()
        board.start()
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(30))))
        let camera = try board.id("camera")
        _ = board.ask(1, .terminate(camera, force: false))
        _ = board.returned("camera")
        _ = board.ask(2, .activate(camera))
        #expect(board.pass(.seconds(5)) == ["kill camera"])
        _ = board.exited("camera", .signalled(9))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.emptied("camera")
        _ = board.sleepSignal(false)
        #expect(board.pass(.seconds(10)).contains("feed"))
    }

    @Test func isFedUntilAllAppsAreGone_whenAnEssentialOneOverrunsItsEndInAShutdown() throws {
        var board = board([
            app("storage") { $0.allowances[.willTerminate] = .seconds(30) },
            app("gateway") {
                $0.after = ["storage"]; $0.isEssential = true
            },
        ])
        #expect(board.tell(.stopRequested) == ["call gateway willTerminate shutdown 5 s"])
        #expect(board.pass(.seconds(5)).contains("kill gateway"))
        #expect(board.exited("gateway", .signalled(9)).first?.hasPrefix("report gateway watchdog") == true)
        // What is still to end has its own time.
        #expect(board.emptied("gateway") == ["call storage willTerminate shutdown 30 s"])
        #expect(board.pass(.seconds(25)) == ["feed", "feed", "feed", "feed", "feed"])
    }

    @Test func serviceManagerWatches_inADarkWake() throws {
        var device = DevicePolicy()
        device.darkWakeInterval = .seconds(900)
        var board = Board([app("upload")], device: device)
        board.login()
        board.start()
        _ = board.tell(.watchdog(.service))
        _ = board.begin("upload")
        try board.goBack("upload")
        _ = board.sleepSignal(true)
        #expect(board.pass(.seconds(2)) == ["freeze upload"])
        #expect(
            board.frozen("upload") == [
                "alarm in 15 min", "service watchdog rests", "sleep is handled", "release sleep",
            ])
        #expect(
            board.wake(afterSleeping: .seconds(901)) == [
                "alarm off", "sleep is over", "take sleep", "service watchdog wakes", "thaw upload",
            ])
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func appThatIsDownIsNoLossAnyMore_whenAnOperatorSaysSo() throws {
        var board = Board([
            app("camera") {
                $0.isEssential = true; $0.restartLimit = 1
            }
        ])
        board.start()
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(30))))
        board.crash("camera")
        #expect(board.pass(.seconds(10)) == [])
        #expect(try board.ask(1, .terminate(board.id("camera"), force: false)).contains("reply 1: not running"))
        #expect(board.pass(.seconds(10)).contains("feed"))
    }

    @Test func appIsNotMissed_thatAReloadMakesManualAsItIsClearedAway() {
        var board = board([
            app("gateway") {
                $0.isEssential = true
                $0.restart = .never
            }
        ])
        _ = board.exited("gateway", .signalled(11))
        let manual = app("gateway") {
            $0.isEssential = true
            $0.restart = .never
            $0.launch = .manual
        }
        _ = board.tell(.configured([manual], DevicePolicy()))
        _ = board.emptied("gateway")
        #expect(board.pass(.seconds(60)).contains("feed"))
    }

    @Test(arguments: [false, true])
    func appIsMissed_thatAReloadMadeManualBeforeItsEnd(_ isLaunchDenied: Bool) throws {
        func essential(_ policy: inout AppPolicy) {
            policy.isEssential = true
            policy.restartLimit = 1
        }
        var board = board([app("gateway", essential)])
        board.login()
        _ = try board.ask(1, .background(board.id("gateway")))
        #expect(board.pass(.seconds(10)).contains("kill gateway"))
        if isLaunchDenied { _ = try board.ask(2, .launch(board.id("gateway"), background: true)) }
        _ = board.tell(.configured([manual("gateway", essential)], DevicePolicy()))
        _ = board.exited("gateway", .signalled(9))
        let asleep = board.sleepSignal(true)
        #expect(asleep.contains("reply 2: denied, sleeping") == isLaunchDenied)
        _ = board.emptied("gateway")
        _ = board.wake(afterSleeping: .seconds(60))
        #expect(try board.view("gateway").isLeftDown)
        #expect(!board.pass(.seconds(60)).contains("feed"))
    }

    enum Moment: CaseIterable { case before, meanwhile, after }

    @Test(arguments: Moment.allCases)
    func appIsNotMissed_whenAReloadMakesItManualAroundALaunchThatIsDenied(_ moment: Moment) throws {
        func essential(_ policy: inout AppPolicy) {
            policy.after = ["server"]
            policy.restartLimit = 1
            policy.isEssential = true
        }
        var board = startedBoard([manual("server"), app("modem", essential)])
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(30))))
        board.crash("modem")
        #expect(!board.pass(.seconds(20)).contains("feed"))
        let reload = Event.configured([manual("server"), manual("modem", essential)], DevicePolicy())
        if moment == .before { _ = board.tell(reload) }
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        _ = try board.ask(2, .launch(board.id("modem"), background: true))
        if moment == .meanwhile { _ = board.tell(reload) }
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        _ = board.obey(board.wait(.seconds(5)))
        _ = board.wake(afterSleeping: .seconds(60))
        if moment == .after { _ = board.tell(reload) }
        #expect(board.pass(.seconds(20)).contains("feed"))
    }
}
