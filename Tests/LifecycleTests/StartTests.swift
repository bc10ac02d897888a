import Lifecycle
import Testing

/// A daemon that starts in the middle of things, and words that come late.
@Suite struct StartTests {
    private func appear(sleeping: Bool) -> Event {
        .login(.available(delayMax: .seconds(5), preparingForSleep: sleeping, preparingForShutdown: false))
    }

    private func started() -> Board {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        board.start()
        return board
    }

    @Test func sleepThatIsOverIsNotWalked_whenAPredecessorNotedIt() throws {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        _ = board.tell(.sleep(.noted(timeAsleep: .seconds(940))))
        board.start()
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown"])
        #expect(board.core.device.sleepState == .awake)
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.sleepSignal(false) == ["take sleep"])
    }

    @Test func aPredecessorsNoteCounts_whenLogindIsNotThereAtFirst() throws {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        _ = board.tell(.sleep(.noted(timeAsleep: .seconds(940))))
        board.start()
        _ = board.tell(.login(.unavailable))
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown"])
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func aPredecessorsNoteIsForgotten_whenLogindHasSaidThatItDoesNotSleep() throws {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        _ = board.tell(.sleep(.noted(timeAsleep: .seconds(940))))
        board.start()
        _ = board.tell(appear(sleeping: false))
        #expect(board.tell(appear(sleeping: true)).contains("call camera willResignActive 2.25 s"))
    }

    @Test func logicalSleepStaysOne_whenAPredecessorNotedASleepThatIsOver() throws {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        _ = board.tell(.sleep(.noted(timeAsleep: .seconds(940))))
        board.start()
        _ = board.ask(1, .sleep(start: true, logical: true))
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        _ = board.frozen("camera")
        #expect(board.core.device.sleepState == .asleep)
        // Of a sleep of the kernel's it would be no end.
        _ = board.tell(.board(.keyPressed(.power)))
        #expect(board.core.device.sleepState == .awake)
        // logind is at the old one until it says that it is not.
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func sleepThatIsStillToComeIsWalked_whenAPredecessorNotedIt() throws {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        _ = board.tell(.sleep(.noted(timeAsleep: .seconds(1000))))
        board.start()
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown", "call camera willResignActive 10 s"])
    }

    @Test func startInDoubtKillsAndFreezesNoApp() throws {
        var board = started()
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown", "call camera willResignActive 10 s"])
        #expect(board.pass(.seconds(9)) == [])
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.returned("camera") == ["call camera didEnterBackground 5 s"])
        #expect(board.returned("camera") == [])
        #expect(try board.view("camera").taskState == .running)
        #expect(board.sleepSignal(false) == ["take sleep", "call camera willEnterForeground 10 s"])
    }

    @Test func oldSleepIsNotWalked_whenALockThatWasGrantedBeforeItIsHeardOfAfterIt() throws {
        var board = Board([app("camera")])
        board.start()
        #expect(board.tell(appear(sleeping: false)) == ["take sleep", "take shutdown"])
        _ = board.tell(.login(.lockTaken(.shutdown)))
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
        // It is asked again, until it says that the old one is over.
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
    }

    @Test func oldSleepIsNotWalked_whenTheBoardSleptUnannouncedAndTheLockIsStillHeld() throws {
        var board = started()
        board.login()
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.pass(.seconds(86_400)) == [])
    }

    @Test func startInDoubtIsCertain_whenLogindAnnouncesTheSleep() throws {
        var board = started()
        _ = board.tell(appear(sleeping: true))
        _ = board.pass(.seconds(6))
        #expect(board.sleepSignal(true) == ["sleep is handled", "freeze camera"])
        #expect(board.frozen("camera") == [])
        #expect(try board.view("camera").taskState == .suspended)
    }

    @Test func startInDoubtStaysInDoubt_whenOnlyThePropertySaysItAgain() throws {
        var board = started()
        _ = board.tell(appear(sleeping: true))
        _ = board.tell(.login(.lockTaken(.shutdown)))
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown"])
        #expect(try board.view("camera").taskState == .running)
    }

    // MARK: Late words

    private func asleepAgain() -> Board {
        var board = started()
        board.login()
        _ = board.ask(1, .sleep(start: true, logical: false))
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        board.wakePromptly(afterSleeping: .seconds(60))
        #expect(board.core.device.sleepState == .awake)
        return board
    }

    @Test func lateHookDoesNotEndALogicalSleep() throws {
        var board = asleepAgain()
        board.follow(2, .sleep(start: true, logical: true))
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.ask(3, .sleep(start: false, logical: false)) == ["reply 3: sleep 2 ready, killed []"])
        #expect(board.ask(4, .sleep(start: false, logical: false, about: 1)) == ["reply 4: sleep 2 ready, killed []"])
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func lateHookDoesNotEndANewerSleep() throws {
        var board = asleepAgain()
        _ = board.tell(.login(.lockTaken(.sleep)))
        board.fallAsleep()
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.ask(3, .sleep(start: false, logical: false)) == ["reply 3: sleep 2 ready, killed []"])
        #expect(board.ask(4, .sleep(start: false, logical: false, about: 1)) == ["reply 4: sleep 2 ready, killed []"])
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.ask(5, .sleep(start: false, logical: false, about: 2)).contains("thaw camera"))
    }

    @Test func oldSleepIsRemembered_whenAHookOrALogicalSleepBegins() throws {
        for logical in [true, false] {
            var board = started()
            board.login()
            board.fallAsleep()
            board.slept += .seconds(60)
            board.follow(.timePassed)
            #expect(board.core.expectsRefusal)
            board.follow(2, .sleep(start: true, logical: logical))
            board.follow(3, .sleep(start: false, logical: true))
            #expect(board.core.device.sleepState == .awake)
            #expect(board.tell(.login(.preparingForSleep(true))) == [])
            #expect(board.core.device.sleepState == .awake)
        }
    }

    @Test func sleepThatCameWithoutWaitingIsOver_whenTheLoopStalledWhilePreparing() throws {
        var board = started()
        board.login()
        _ = board.sleepSignal(true)
        board.monotonic += .seconds(6)
        board.slept += .seconds(600)
        let effects = board.handleAll(.timePassed)
        #expect(effects.contains(.note(.sleep(.ended(sleep: 1, .slept)))))
        // logind's job may not be over.
        #expect(board.core.expectsRefusal)
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
    }

    // MARK: A shutdown in the middle of a sleep

    @Test func appEndsAndTheLockGoes_whenAShutdownComesWhilePreparing() throws {
        var board = started()
        board.login()
        #expect(board.sleepSignal(true) == ["call camera willResignActive 2.25 s"])
        #expect(board.shutdownSignal(true) == [])
        #expect(board.returned("camera") == ["call camera willTerminate shutdown 4.5 s"])
        #expect(board.returned("camera") == ["terminate camera"])
        _ = board.exited("camera")
        let last = board.emptied("camera")
        #expect(last == ["sleep is handled", "release sleep", "release shutdown"])
    }

    @Test func frozenAppIsEnded_whenAShutdownComesInASleep() throws {
        var board = started()
        board.login()
        board.fallAsleep()
        #expect(board.shutdownSignal(true) == ["kill camera"])
        #expect(board.gone("camera") == ["release shutdown"])
    }

    @Test(arguments: [Event.stopRequested, .login(.prepareForShutdown(true, delayMax: .max, signalled: .seconds(100)))])
    func logicalSleepIsCalledOff_whenEverythingIsToEnd(word: Event) throws {
        var board = started()
        board.login()
        #expect(board.ask(1, .sleep(start: true, logical: true)) == ["call camera willResignActive 2.25 s"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        _ = board.pass(.seconds(3))
        #expect(board.tell(word) == ["reply 1: denied, the sleep was called off"])
        #expect(board.core.device.sleepState == .awake)
        #expect(board.returned("camera") == ["call camera willTerminate shutdown 5 s"])
        // It is not frozen as the sleep would have been reached.
        #expect(board.pass(.seconds(5)) == ["kill camera"])
    }

    @Test func appComesBack_whenAShutdownInASleepIsCancelledAndTheBoardWakes() throws {
        var board = started()
        board.login()
        board.fallAsleep()
        _ = board.shutdownSignal(true)
        board.gone("camera")
        _ = board.shutdownSignal(false)
        #expect(board.wake(afterSleeping: .seconds(60)).contains("spawn camera restart"))
    }

    @Test func appIsThawed_whenADaemonComesBackLongAfterAllLimits() throws {
        var board = started()
        board.login()
        _ = board.sleepSignal(true)
        board.core = try #require(DeviceLifecycle(archive: board.core.archived()))
        board.monotonic += .seconds(3600)
        let effects = board.handleAll(.timePassed)
        #expect(!board.lines(effects).contains("unfreezable camera"))
        _ = board.obey(effects)
        let end = board.handle(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        _ = board.obey(end)
        #expect(try board.view("camera").taskState == .running)
    }

    @Test func nothingIsLeftOfAnAppThatFailsToStartAfterItWasGivenUp() throws {
        var board = Board([app("camera") { $0.restartDelay = .seconds(1) }])
        _ = board.tell(.started)
        #expect(board.pass(.seconds(30)).contains("clear camera"))
        #expect(board.tell(.process(.spawnFailed(board.last("camera"), code: 2, explanation: "exec"))) == [])
        #expect(board.pass(.seconds(1)) == ["spawn camera restart"])
    }

    @Test func logicalSleepGoesOn_whenLogindsFirstWordIsOfAPredecessorsSleep() {
        var board = Board([app("camera")])
        board.slept = .seconds(1000)
        _ = board.tell(.sleep(.noted(timeAsleep: .seconds(940))))
        board.start()
        _ = board.ask(1, .sleep(start: true, logical: true))
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: true, preparingForShutdown: false)))
        #expect(board.pass(.seconds(30)) == ["take shutdown"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.core.device.sleepState == .asleep)
    }
}
