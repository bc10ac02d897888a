import Lifecycle
import Testing

@Suite struct TransitionTests {
    private func running() -> Board {
        var board = Board([app("camera")])
        board.start()
        return board
    }

    @Test(arguments: [
        (Handler.didFinishLaunching, Nanoseconds.seconds(20), "process-launch"),
        (.didBecomeActive, .seconds(10), "scene-update"), (.willResignActive, .seconds(10), "scene-update"),
        (.didEnterBackground, .seconds(5), "scene-update"), (.willEnterForeground, .seconds(10), "scene-update"),
        (.willTerminate, .seconds(5), "process-exit"),
    ])
    func appIsKilledAtItsDeadline_whenAHandlerHangs(
        _ handler: Handler, _ allowance: Nanoseconds, _ scope: String
    ) throws {
        var board = Board([app("camera")])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        let id = try board.id("camera")
        if handler != .didFinishLaunching { _ = board.returned("camera") }
        if handler != .didFinishLaunching, handler != .didBecomeActive { _ = board.returned("camera") }
        switch handler {
        case .didFinishLaunching, .didBecomeActive: break
        case .willResignActive: _ = board.ask(1, .background(id))
        case .didEnterBackground:
            _ = board.ask(1, .background(id))
            _ = board.returned("camera")
        case .willEnterForeground:
            board.follow(1, .background(id))
            _ = board.ask(2, .activate(id))
        case .willTerminate: _ = board.ask(1, .terminate(id, force: false))
        // Its time is the budget: BackgroundTaskTests.
        case .backgroundTaskWillExpire: break
        }
        #expect(board.pass(allowance - .milliseconds(1)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
        let effects = board.handle(.process(.exited(board.last("camera"), .signalled(9))))
        guard case .report(let end) = effects.first else {
            Issue.record("no report: \(effects)")
            return
        }
        #expect(end.reason.code == 0x8bad_f00d)
        #expect(end.reason.namespace == .watchdog)
        #expect(end.reason.explanation == "\(scope): \(handler.method) did not return within \(allowance.text)")
        #expect(end.handler == handler)
        #expect(end.allowance == allowance)
        #expect(end.taken == allowance)
    }

    @Test func backgroundIsReachedThroughInactive_whenAsked() throws {
        var board = running()
        _ = try board.ask(1, .background(board.id("camera")))
        #expect(try board.view("camera").phase == .active)
        _ = board.returned("camera")
        #expect(try board.view("camera").phase == .inactive)
        _ = board.returned("camera")
        #expect(try board.view("camera").phase == .background)
    }

    @Test func resigningComesBeforeBackground_whenTheAppWasNeverActive() throws {
        var board = Board([app("camera")])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        #expect(try board.ask(1, .background(board.id("camera"))) == [])
        #expect(board.returned("camera") == ["call camera willResignActive 10 s"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
    }

    @Test func foregroundIsReachedAfterLaunch_whenABackgroundLaunchIsActivated() throws {
        var board = Board([app("camera") { $0.start = .background }])
        _ = board.tell(.started)
        _ = board.spawned("camera")
        #expect(try board.ask(1, .activate(board.id("camera"))) == [])
        #expect(board.returned("camera") == ["call camera willEnterForeground 10 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }

    @Test func replyIsDropped_whenDoubledLateOrOfAnotherInstance() throws {
        var board = running()
        _ = try board.ask(1, .background(board.id("camera")))
        let call = board.openCall("camera")
        #expect(board.tell(.app(.handlerReturned(InstanceID(rawValue: 99), call))) == [])
        #expect(board.tell(.app(.handlerReturned(board.last("camera"), CallID(rawValue: 1)))) == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        #expect(board.tell(.app(.handlerReturned(board.last("camera"), call))) == [])
        #expect(board.returned("camera") == ["freeze camera"])
    }

    @Test func replyOfAnEarlierSleepIsDropped_whenTheNextIsPrepared() throws {
        var board = running()
        board.login()
        _ = board.sleepSignal(true)
        let first = board.openCall("camera")
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        _ = board.obey(board.prepareForSleep(false))
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
        #expect(board.tell(.app(.handlerReturned(board.last("camera"), first))) == [])
    }

    @Test func handlersOfTwoAppsRunSideBySide_whenBothAreCalled() throws {
        var board = Board([app("a"), app("b")])
        _ = board.tell(.started)
        #expect(board.spawned("a") == ["call a didFinishLaunching boot 20 s"])
        #expect(board.spawned("b") == ["call b didFinishLaunching boot 20 s"])
        #expect(board.returned("b") == ["call b didBecomeActive 10 s"])
    }
}
