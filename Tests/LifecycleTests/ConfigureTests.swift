import Lifecycle
import Testing

@Suite struct ConfigureTests {
    private func reload(_ apps: [AppPolicy]) -> Event { .configured(apps, DevicePolicy()) }

    @Test func newAppIsLaunched_whenReloaded() throws {
        var board = Board([])
        board.start()
        #expect(board.tell(reload([app("camera"), app("tool") { $0.launch = .manual }])) == ["spawn camera boot"])
        #expect(board.tell(reload([app("camera"), app("tool") { $0.launch = .manual }])) == [])
    }

    @Test func runningAppIsNotCalled_whenAReloadGivesItADelegate() throws {
        var board = Board([app("camera") { $0.handlers = [] }])
        board.start()
        #expect(board.tell(reload([app("camera")])) == [])
        #expect(try board.ask(1, .background(board.id("camera"))) == ["freeze camera"])
        #expect(board.tell(.process(.frozen(try board.instance("camera")))) == ["reply 1: done"])
    }

    @Test func nothingIsLaunched_beforeTheStart() throws {
        var board = Board([app("camera")])
        #expect(try board.ask(1, .launch(board.id("camera"), background: true)) == [])
        #expect(board.tell(.started) == ["spawn camera boot background"])
    }

    @Test func removedAppIsEnded_whenRunning() throws {
        var board = Board([app("camera") { $0.restart = .always }])
        board.start()
        let id = try board.id("camera")
        #expect(board.tell(reload([])) == ["call camera willTerminate user 5 s"])
        #expect(board.core.view(of: id) == nil)
        #expect(board.core.appIDs == [])
        #expect(board.returned("camera") == ["terminate camera"])
        #expect(board.exited("camera") == ["report camera user: its configuration was removed", "clear camera"])
        #expect(board.emptied("camera") == [])
        #expect(board.pass(.seconds(60)) == [])
        #expect(board.ask(1, .activate(id)) == ["reply 1: denied, no such app"])
    }

    @Test func removedAppIsKilled_whenSpawningOrFrozen() throws {
        var board = Board([app("camera"), app("frozen") { $0.start = .background }])
        _ = board.tell(.started)
        _ = board.spawned("frozen")
        _ = board.returned("frozen")
        #expect(board.tell(reload([])) == ["kill frozen"])
        #expect(board.spawned("camera") == ["kill camera"])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera user: its configuration was removed", "clear camera",
            ])
    }

    @Test func newAppIsLaunchedAtTheWake_andARemovedOneKilledAtOnce_whenReloadedAsleep() throws {
        var board = startedBoard([app("camera")])
        board.fallAsleep()
        #expect(board.tell(reload([app("map")])) == ["kill camera"])
        #expect(board.gone("camera") == [])
        #expect(board.pass(.seconds(20)) == [])
        #expect(board.wake(afterSleeping: .seconds(60)) == ["sleep is over", "take sleep", "spawn map boot"])
    }

    @Test func requestsAreAnswered_whenTheirAppIsRemoved() throws {
        var board = Board([app("camera") { $0.launch = .manual }])
        board.start()
        let id = try board.id("camera")
        #expect(board.ask(1, .activate(id)) == ["spawn camera user"])
        #expect(board.ask(2, .terminate(id, force: false)) == [])
        #expect(board.tell(reload([])) == ["reply 1: denied, its configuration was removed"])
        _ = board.spawned("camera")
        #expect(board.gone("camera") == ["reply 2: done"])
    }

    @Test func launchThatHasBegunIsAnsweredByItsEnd_whenItsAppIsRemoved() throws {
        var board = startedBoard([manual("camera")])
        _ = try board.ask(1, .launch(board.id("camera"), background: false))
        #expect(board.tell(reload([])) == [])
        #expect(board.spawned("camera") == ["kill camera"])
        #expect(board.exited("camera", .signalled(9)).contains("reply 1: ended by user"))
    }

    @Test func launchThatHasNotBegunIsDenied_whenItsAppIsRemoved() throws {
        var board = try waitingBoard(.many)
        let radio = try board.id("radio")
        _ = board.ask(1, .launch(radio, background: false))
        _ = board.ask(2, .background(radio))
        let removed = board.tell(reload([app("map"), manual("server"), app("phone")]))
        #expect(removed.contains("reply 1: denied, its configuration was removed"))
        #expect(removed.contains("reply 2: denied, its configuration was removed"))
    }

    @Test func appComesBackAfterItsEnd_whenItsConfigurationDoes() throws {
        var board = Board([app("camera")])
        board.start()
        _ = board.tell(reload([]))
        #expect(board.tell(reload([app("camera")])) == [])
        _ = board.returned("camera")
        #expect(board.gone("camera", .exited(0)) == ["spawn camera boot"])
    }

    @Test func nothingOfItsPastCounts_whenAnAppComesBack() throws {
        var board = Board([app("camera") { $0.restartLimit = 1 }])
        board.start()
        board.gone("camera", .exited(1))
        #expect(try board.view("camera").isLeftDown)
        _ = board.tell(reload([]))
        #expect(board.tell(reload([app("camera")])) == ["spawn camera boot"])
        #expect(try !board.view("camera").isLeftDown)
    }

    @Test func removedAppStaysDown_whenAShutdownIsCancelled() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.shutdownSignal(true)
        _ = board.tell(reload([]))
        _ = board.returned("camera")
        board.gone("camera", .exited(0))
        _ = board.shutdownSignal(false)
        #expect(board.tell(reload([app("camera") { $0.launch = .manual }])) == [])
    }

    @Test func removedAppIsSettledForTheSleep_whenItIsGone() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        #expect(board.tell(reload([])) == [])
        // Its handler is still running; then it is asked to end.
        #expect(board.returned("camera") == ["call camera willTerminate user 5 s"])
        _ = board.returned("camera")
        #expect(board.gone("camera", .exited(0)) == ["sleep is handled", "release sleep"])
    }

    @Test func exemptionCounts_whenReloadedWhileFrozen() throws {
        var board = Board([app("modem") { $0.start = .background }])
        board.start()
        #expect(board.tell(reload([app("modem") { $0.suspend = false }])) == ["thaw modem"])
        _ = board.tell(reload([app("modem")]))
        // In a sleep no app is thawed before its end.
        board.fallAsleep()
        #expect(board.tell(reload([app("modem") { $0.suspend = false }])) == ["sleep is handled"])
        #expect(board.sleepSignal(false) == ["sleep is over", "thaw modem"])
    }

    @Test func onlyOneAppStartsInFront_whereOneIsAtATime() throws {
        var device = DevicePolicy()
        device.front = .one
        var board = Board([app("a"), app("b")], device: device)
        #expect(board.tell(.started) == ["spawn a boot", "spawn b boot background"])
    }
}
