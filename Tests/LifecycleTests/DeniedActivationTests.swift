import Lifecycle
import Testing

/// An activation that is denied is undone: the app is in background again, or stays there as it comes up.
@Suite struct DeniedActivationTests {
    /// isFollowed: by a launch of what runs, whose client is gone.
    @Test(arguments: [false, true])
    func activationThatASleepDeniedIsUndone(_ isFollowed: Bool) throws {
        var board = startedBoard([app("camera")])
        let camera = try board.id("camera")
        try board.goBack("camera")
        #expect(board.ask(1, .activate(camera)) == ["thaw camera", "call camera willEnterForeground 10 s"])
        if isFollowed {
            #expect(board.ask(2, .launch(camera, background: true)) == [])
            #expect(board.tell(.client(.abandoned(RequestID(rawValue: 2)))) == [])
        }
        #expect(board.sleepSignal(true) == ["reply 1: denied, sleeping"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(board.wake(afterSleeping: .seconds(60)) == ["sleep is over", "take sleep"])
        #expect(try board.view("camera").phase == .background)
    }

    @Test func activationThatALockDeniedIsUndone_thoughALaunchOfTheRunningAppCameAfterIt() throws {
        var board = startedBoard([app("camera")])
        try board.goBack("camera")
        let camera = try board.id("camera")
        #expect(board.ask(1, .activate(camera)) == ["thaw camera", "call camera willEnterForeground 10 s"])
        #expect(board.ask(2, .launch(camera, background: true)) == [])
        #expect(board.tell(people(locked: true)).contains("reply 1: denied, the session is locked"))
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        _ = board.returned("camera")
        _ = board.frozen("camera")
        // It stays where it was when the session is open again.
        #expect(!board.tell(people(locked: false)).contains("thaw camera"))
        #expect(!board.pass(.seconds(5)).contains("thaw camera"))
        #expect(try board.view("camera").phase == .background)
    }

    // MARK: Activations beside launches

    @Test func launchStaysWished_whenOnlyAnActivationBesideItIsDenied() throws {
        var board = startedBoard([app("server"), manual("camera") { $0.after = ["server"] }])
        board.gone("server", .exited(0))
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        #expect(try board.ask(2, .activate(board.id("camera"))) == [])
        #expect(try board.ask(3, .launch(board.id("camera"), background: false)) == [])
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 2: denied, the lid is closed"])
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn camera user background"))
        _ = board.spawned("camera")
        #expect(board.returned("camera").contains("reply 3: done"))
    }

    /// "camera" was ended by an operator, and its server is being started.
    private func waitingForItsServer() throws -> Board {
        var board = startedBoard([manual("server"), app("camera") { $0.after = ["server"] }])
        _ = try board.ask(1, .terminate(board.id("camera"), force: true))
        board.gone("camera")
        _ = try board.ask(2, .launch(board.id("server"), background: true))
        return board
    }

    @Test func launchInBackgroundStaysThere_whenAnActivationAfterItIsDenied() throws {
        var board = try waitingForItsServer()
        _ = try board.ask(3, .launch(board.id("camera"), background: true))
        _ = try board.ask(4, .activate(board.id("camera")))
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 4: denied, the lid is closed"])
        _ = board.pass(.seconds(5))
        _ = board.tell(.board(.lid(closed: false)))
        _ = board.pass(.seconds(5))
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn camera user background"))
    }

    @Test func appStaysInBackground_whenAnActivationIsDeniedAfterItsBackgroundLaunchHasBegun() throws {
        var board = try waitingBoard(.many)
        _ = try board.ask(1, .launch(board.id("radio"), background: true))
        _ = try board.ask(2, .activate(board.id("radio")))
        _ = board.spawned("server")
        #expect(board.returned("server").contains("spawn radio user"))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 2: denied, the lid is closed"))
        board.answerAll()
        board.follow(.process(.spawned(board.last("radio"))))
        board.answerAll()
        #expect(board.phase("radio") == "background")
        board.openLid()
        #expect(board.phases("map", "radio") == ["active", "background"])
    }

    @Test func appStaysInBackground_whenAnActivationInPlaceOfItsRestartIsDeniedAfterItHasBegun() throws {
        var board = startedBoard([app("radio") { $0.restartDelay = .seconds(20) }])
        try board.goBack("radio")
        board.crash("radio")
        _ = try board.ask(1, .activate(board.id("radio")))
        #expect(board.tell(.board(.lid(closed: true))).contains("reply 1: denied, the lid is closed"))
        board.follow(.process(.spawned(board.last("radio"))))
        board.answerAll()
        board.openLid()
        #expect(board.phase("radio") == "background")
    }

    @Test func nothingIsLaunched_whenAnActivationAndALaunchAfterItAreDenied() throws {
        var board = try waitingForItsServer()
        _ = try board.ask(3, .activate(board.id("camera")))
        _ = try board.ask(4, .launch(board.id("camera"), background: false))
        #expect(board.tell(.board(.lid(closed: true))) == ["reply 3: denied, the lid is closed"])
        #expect(board.sleepSignal(true).contains("reply 4: denied, sleeping"))
        _ = board.spawned("server")
        _ = board.returned("server")
        _ = board.pass(.seconds(5))
        #expect(!board.wake(afterSleeping: .seconds(60)).contains { $0.hasPrefix("spawn camera") })
        #expect(!board.pass(.seconds(25)).contains { $0.hasPrefix("spawn camera") })
        #expect(try board.view("camera").launches == 1)
    }
}
