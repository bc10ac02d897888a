import Lifecycle
import Testing

/// `after`: launch, freeze, thaw and shutdown in order.
@Suite struct OrderTests {
    private func chain(_ change: (inout AppPolicy) -> Void = { _ in }) -> [AppPolicy] {
        [
            app("ui") {
                $0.after = ["camera"]; change(&$0)
            },
            app("camera") {
                $0.after = ["storage"]; change(&$0)
            },
            app("storage", change),
        ]
    }

    @Test func clientIsLaunchedWhenItsServerIs_whenTheyFormAChain() throws {
        var board = Board(chain())
        #expect(board.tell(.started) == ["spawn storage boot"])
        #expect(board.spawned("storage") == ["call storage didFinishLaunching boot 20 s"])
        #expect(board.returned("storage") == ["call storage didBecomeActive 10 s", "spawn camera boot"])
        #expect(board.spawned("camera") == ["call camera didFinishLaunching boot 20 s"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s", "spawn ui boot"])
    }

    @Test func clientIsLaunchedWithoutItsServer_whenTheServerIsKilledOnItsWayUp() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        _ = board.tell(.started)
        _ = board.spawned("storage")
        #expect(board.pass(.milliseconds(19_999)) == [])
        // Its end may never come (D state): the client does not wait for it.
        #expect(board.pass(.milliseconds(1)) == ["kill storage", "spawn camera boot"])
    }

    @Test func clientIsLaunchedWithoutItsServer_whenTheServerFailsToStart() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        _ = board.tell(.started)
        #expect(
            board.tell(.process(.spawnFailed(board.last("storage"), code: 2, explanation: "exec /x: No such file")))
                == [
                    "report storage launchFailure: exec /x: No such file", "spawn camera boot",
                ])
    }

    @Test func clientIsLaunchedWithoutItsServer_whenTheServerExitsInItsLaunch() throws {
        var board = Board([app("storage") { $0.restart = .never }, app("camera") { $0.after = ["storage"] }])
        _ = board.tell(.started)
        _ = board.spawned("storage")
        #expect(
            board.exited("storage", .exited(1)) == [
                "report storage exit: exited by itself with status 1", "clear storage", "spawn camera boot",
            ])
    }

    @Test func clientIsLaunchedWithoutItsServer_whenTheQueuedServerIsTerminated() throws {
        var board = Board(chain())
        _ = board.tell(.started)
        #expect(try board.ask(1, .terminate(board.id("camera"), force: false)) == ["spawn ui boot", "reply 1: done"])
    }

    @Test func clientFreezesBeforeItsServer_whenTheServerIsReadyFirst() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        board.login()
        board.start()
        #expect(
            board.sleepSignal(true) == [
                "call storage willResignActive 2.25 s", "call camera willResignActive 2.25 s",
            ])
        #expect(board.returned("storage") == ["call storage didEnterBackground 4.5 s"])
        #expect(board.returned("storage") == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.frozen("camera") == ["freeze storage"])
        #expect(board.frozen("storage") == ["sleep is handled", "release sleep"])
        #expect(
            board.sleepSignal(false) == [
                "sleep is over", "take sleep", "thaw storage", "thaw camera", "call storage willEnterForeground 10 s",
                "call camera willEnterForeground 10 s",
            ])
    }

    @Test func serverFreezes_whenItsClientIsKilled() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        _ = board.returned("storage")
        _ = board.returned("storage")
        // Dead or as good as dead: no app holds the server any more.
        #expect(board.pass(.milliseconds(2250)) == ["kill camera", "freeze storage"])
    }

    @Test func serverFreezesAnyway_whenItsClientDoesNotFreeze() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        for name in ["storage", "storage", "camera"] { _ = board.returned(name) }
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.pass(.milliseconds(2000)) == ["unfreezable camera", "freeze storage"])
        #expect(board.frozen("storage") == ["sleep is handled", "release sleep"])
    }

    @Test func serverFreezesAnyway_whenItsClientIsNotWaitedForAnyMore() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        board.login()
        board.start()
        for isRemembered in [false, true] {
            _ = board.sleepSignal(true)
            for name in ["storage", "storage", "camera"] { _ = board.returned(name) }
            #expect(board.returned("camera") == ["freeze camera"])
            #expect(board.pass(.milliseconds(499)) == [])
            #expect(board.pass(.milliseconds(1)) == (isRemembered ? ["freeze storage"] : []))
            if isRemembered { break }
            #expect(board.frozen("camera") == ["freeze storage"])
            _ = board.frozen("storage")
            _ = board.sleepSignal(false)
            _ = board.tell(.login(.lockTaken(.sleep)))
            for _ in 1...2 { for name in ["storage", "camera"] { _ = board.returned(name) } }
        }
    }

    @Test func orderGivesWay_whenTheReleaseIsNear() throws {
        var board = Board([app("storage"), app("camera") { $0.after = ["storage"] }])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        _ = board.returned("storage")
        _ = board.returned("storage")
        _ = board.pass(.milliseconds(2000))
        _ = board.returned("camera")
        _ = board.pass(.milliseconds(2000))
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.pass(.milliseconds(749)) == [])
        #expect(board.pass(.milliseconds(1)) == ["freeze storage"])
        #expect(board.frozen("storage") == [])
        #expect(board.pass(.milliseconds(150)) == ["sleep is handled", "unfreezable camera", "release sleep"])
    }

    @Test func cycleInAfterIsCut_whenConfigured() throws {
        var board = Board([app("a") { $0.after = ["b"] }, app("b") { $0.after = ["a", "b", "nobody"] }])
        #expect(board.tell(.started) == ["spawn b boot"])
        _ = board.spawned("b")
        #expect(board.returned("b") == ["call b didBecomeActive 10 s", "spawn a boot"])
    }

    @Test func exemptClientDoesNotHoldUpItsServer_whenFreezing() throws {
        var board = Board([
            app("storage"),
            app("modem") {
                $0.after = ["storage"]; $0.suspend = false
            },
        ])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        _ = board.returned("storage")
        #expect(board.returned("storage") == ["freeze storage"])
    }

    @Test func clientIsLaunchedWithoutItsServer_whenTheServerIsToComeBackAndCannotBeKilled() throws {
        var board = Board([
            app("storage"),
            app("camera") {
                $0.launch = .manual; $0.after = ["storage"]
            },
        ])
        board.start()
        let storage = try board.id("storage")
        #expect(board.ask(1, .terminate(storage, force: true)) == ["kill storage"])
        #expect(board.ask(2, .launch(storage, background: false)) == [])
        #expect(try board.ask(3, .launch(board.id("camera"), background: false)) == [])
        #expect(board.pass(.milliseconds(4999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["unkillable storage", "spawn camera user"])
    }
}
