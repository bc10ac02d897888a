import Lifecycle
import Testing

@Suite struct LaunchTests {
    @Test func appIsInactiveWhileLaunchingAndActiveAfter_whenLaunchedInFront() throws {
        var board = Board([app("camera")])
        #expect(board.tell(.started) == ["spawn camera boot"])
        #expect(try board.view("camera").phase == .inactive)
        #expect(board.spawned("camera") == ["call camera didFinishLaunching boot 20 s"])
        #expect(try board.view("camera").phase == .inactive)
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
        #expect(try board.view("camera").phase == .inactive)
        #expect(board.returned("camera") == [])
        #expect(try board.view("camera").phase == .active)
        #expect(board.tell(.started) == [])
    }

    @Test func nothingFollows_whenLaunchedInBackground() throws {
        var board = Board([app("camera") { $0.start = .background }])
        #expect(board.tell(.started) == ["spawn camera boot background"])
        _ = board.spawned("camera")
        #expect(try board.view("camera").phase == .background)
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(try board.view("camera").taskState == .suspended)
    }

    @Test func appIsActiveAtOnce_whenItHasNoDelegate() throws {
        var board = Board([app("camera") { $0.handlers = [] }])
        _ = board.tell(.started)
        #expect(board.spawned("camera") == [])
        #expect(try board.view("camera").phase == .active)
        #expect(board.core.nextDeadline == nil)
    }

    @Test func onlyImplementedHandlersAreCalled_whenADelegateLacksSome() throws {
        var board = Board([app("camera") { $0.handlers = HandlerSet(.didEnterBackground) }])
        board.login()
        board.start()
        #expect(try board.view("camera").phase == .active)
        #expect(board.sleepSignal(true) == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(try board.view("camera").phase == .active)
    }

    @Test(arguments: [true, false])
    func launchEndsWithReadyAndReply_whenReadinessIsNotify(_ readyFirst: Bool) throws {
        var board = Board([app("camera") { $0.readiness = .notify }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        #expect((readyFirst ? board.ready("camera") : board.returned("camera")) == [])
        #expect(
            (readyFirst ? board.returned("camera") : board.ready("camera")) == ["call camera didBecomeActive 10 s"])
        #expect(board.ready("camera") == [])
    }

    @Test func appIsKilled_whenReadyNeverComes() throws {
        var board = Board([
            app("camera") {
                $0.readiness = .notify; $0.handlers = []
            }
        ])
        _ = board.tell(.started)
        #expect(board.spawned("camera") == [])
        #expect(board.pass(.seconds(20)) == ["kill camera"])
        #expect(
            board.exited("camera", .signalled(9)) == [
                "report camera watchdog: process-launch: no READY=1 within 20 s", "clear camera",
            ])
    }

    @Test func launchMayBeExtendedThreeTimesAtMost_whenTheAppAsks() throws {
        var board = Board([app("camera") { $0.readiness = .notify }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.pass(.seconds(19))
        #expect(board.tell(.app(.extendTimeout(board.last("camera"), .seconds(10)))) == [])
        #expect(board.pass(.milliseconds(9999)) == [])
        #expect(board.tell(.app(.extendTimeout(board.last("camera"), .seconds(3600)))) == [])
        #expect(board.tell(.app(.extendTimeout(board.last("camera"), .max))) == [])
        // 60 s in all.
        #expect(board.pass(.milliseconds(31_000)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func otherHandlersAreNotExtended_whenTheAppAsks() throws {
        var board = Board([app("camera")])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.returned("camera")
        #expect(board.tell(.app(.extendTimeout(board.last("camera"), .seconds(100)))) == [])
        #expect(board.pass(.seconds(10)) == ["kill camera"])
    }

    @Test func failureIsReportedAndTriedAgain_whenTheProgramIsMissing() throws {
        var board = Board([app("camera")])
        _ = board.tell(.started)
        #expect(
            board.tell(.process(.spawnFailed(board.last("camera"), code: 2, explanation: "exec /x: No such file"))) == [
                "report camera launchFailure: exec /x: No such file"
            ])
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
        #expect(try board.view("camera").launches == 2)
    }

    @Test func launchWaitsForTheWake_whenQueuedInASleep() throws {
        var board = Board([app("camera") { $0.restartDelay = .zero }])
        board.login()
        board.start()
        board.fallAsleep()
        #expect(board.gone("camera") == [])
        #expect(board.pass(.seconds(20)) == [])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "spawn camera restart"])
    }

    @Test func launchIsFrozenWithItsCallAndGoesOn_whenASleepBeginsMeanwhile() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        #expect(board.sleepSignal(true) == [])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching boot 20 s"])
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }

    @Test func lateProcessIsFrozenAtOnce_whenItStartsAfterTheRelease() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.sleepSignal(true)
        #expect(board.pass(.seconds(5)) == ["sleep is handled", "unstarted camera", "release sleep"])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching boot 20 s", "freeze camera"])
    }

    @Test func appStaysDown_whenAnOperatorEndsItBeforeItsStartFails() throws {
        var board = startedBoard([app("camera")])
        board.gone("camera", .exited(1))
        #expect(board.pass(.milliseconds(100)) == ["spawn camera restart"])
        _ = try board.ask(1, .terminate(board.id("camera"), force: false))
        let failed = board.tell(.process(.spawnFailed(board.last("camera"), code: 2, explanation: "no such file")))
        #expect(failed == ["report camera user: ended by an operator", "reply 1: done"])
        #expect(board.pass(.seconds(60)) == [])
    }
}
