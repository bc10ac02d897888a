import Lifecycle
import Testing

/// logind comes, goes, grants, refuses, and is late.
@Suite struct LoginTests {
    private func awakeBoard() -> Board {
        var board = Board([app("camera")])
        board.login()
        board.start()
        return board
    }

    private func appear(sleeping: Bool = false, shuttingDown: Bool = false) -> Event {
        .login(
            .available(
                delayMax: .seconds(5), preparingForSleep: sleeping, preparingForShutdown: shuttingDown))
    }

    @Test func oldSleepIsForgottenWithItsLogind_inALogicalSleepToo() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        board.follow(1, .sleep(start: true, logical: true))
        _ = board.tell(.login(.unavailable))
        _ = board.tell(.login(.available(delayMax: nil, preparingForSleep: false, preparingForShutdown: false)))
        #expect(board.ask(2, .sleep(start: false, logical: true)).contains("take sleep"))
    }

    @Test func operatorStillWakesTheApps_whenLogindIsGoneInASleep() throws {
        var board = awakeBoard()
        board.fallAsleep()
        _ = board.tell(.login(.unavailable))
        let effects = board.ask(1, .sleep(start: false, logical: true))
        #expect(effects.contains("thaw camera"))
        #expect(effects.contains("call camera willEnterForeground 10 s"))
        #expect(effects.contains { $0.hasPrefix("reply 1: sleep 1 ready") }, "\(effects)")
    }

    @Test func bothLocksAreTakenAndThePropertyRead_whenLoginAppears() throws {
        var board = Board([app("camera")])
        #expect(board.tell(appear()) == ["take sleep", "take shutdown"])
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.lockTaken(.shutdown))) == [])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.tell(.login(.lockTaken(.sleep))) == [])
    }

    @Test func handshakeRunsWithoutLock_whenStartedDuringASleep() throws {
        var board = Board([app("camera")])
        board.start()
        #expect(
            board.tell(appear(sleeping: true)) == ["take shutdown", "call camera willResignActive 10 s"])
        // The hook says that it is no old one; its call is held until all are ready.
        #expect(board.ask(1, .sleep(start: true, logical: false)) == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "reply 1: sleep 1 ready, killed []"])
        #expect(
            board.sleepSignal(false) == [
                "sleep is over", "take sleep", "thaw camera", "call camera willEnterForeground 10 s",
            ])
    }

    @Test func handshakeRunsWithoutLock_whenItIsRefusedAndASleepPrepared() throws {
        var board = Board([app("camera")])
        board.start()
        _ = board.tell(appear())
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        // Without a lock nothing waits for us, and it may be over: no app is held to less than its own time.
        #expect(board.tell(.login(.preparingForSleep(true))) == ["call camera willResignActive 10 s"])
        #expect(board.sleepSignal(true) == [])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
    }

    @Test func lockIsTriedAgainAtResume_whenItWasRefused() throws {
        var board = Board([])
        _ = board.tell(appear())
        _ = board.tell(.login(.lockRefused(.sleep)))
        _ = board.sleepSignal(true)
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep"])
    }

    @Test func lockIsTriedOnceAtOnceAndThenLater_whenItWasRefusedForNoReason() throws {
        var board = Board([])
        _ = board.tell(appear())
        _ = board.tell(.login(.lockTaken(.shutdown)))
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        // What it was refused for was over before the answer.
        #expect(board.tell(.login(.preparingForSleep(false))) == ["take sleep"])
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.pass(.milliseconds(29_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["take sleep"])
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.pass(.seconds(30)) == ["take sleep"])
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
        #expect(board.pass(.seconds(3600)) == [])
    }

    @Test func lockIsTriedAgain_whenTheEndOfASleepWeNeverHeardOfIsTold() throws {
        var board = Board([])
        _ = board.tell(appear())
        _ = board.tell(.login(.lockRefused(.sleep)))
        #expect(board.sleepSignal(false) == ["take sleep"])
        _ = board.tell(.login(.lockRefused(.shutdown)))
        #expect(board.shutdownSignal(false) == ["take shutdown"])
    }

    @Test func everybodyComesBack_whenLoginReturnsAwakeWhilePreparing() throws {
        var board = awakeBoard()
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        #expect(board.tell(.login(.unavailable)) == [])
        #expect(board.returned("camera") == ["freeze camera"])
        // It has forgotten the sleep; its edge will never come.
        #expect(
            board.tell(appear()) == [
                "take sleep", "thaw camera", "take shutdown", "call camera willEnterForeground 10 s",
            ])
    }

    @Test func everybodyComesBack_whenLoginReturnsAwakeAfterTheRelease() throws {
        var board = awakeBoard()
        board.fallAsleep()
        _ = board.tell(.login(.unavailable))
        #expect(
            board.tell(appear()) == [
                "sleep is over", "take sleep", "thaw camera", "take shutdown", "call camera willEnterForeground 10 s",
            ])
    }

    @Test func walkGoesOn_whenLoginReturnsStillPreparing() throws {
        var board = awakeBoard()
        _ = board.sleepSignal(true)
        _ = board.tell(.login(.unavailable))
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown"])
        #expect(board.returned("camera") == ["call camera didEnterBackground 4.5 s"])
        #expect(board.returned("camera") == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled"])
        #expect(board.core.device.sleepState == .asleep)
    }

    @Test func lockIsReleased_whenThePropertyTellsOfASleepTheHookBegan() throws {
        var board = Board([])
        _ = board.tell(appear())
        _ = board.ask(1, .sleep(start: true, logical: false))
        #expect(board.core.device.sleepState == .asleep)
        // The lock is not released for a sleep that logind knows nothing of.
        #expect(board.tell(.login(.lockTaken(.sleep))) == [])
        #expect(board.tell(.login(.preparingForSleep(true))) == ["release sleep"])
    }

    @Test func propertyJoinsTheSleep_whenTheSignalWasLost() throws {
        var board = awakeBoard()
        _ = board.ask(1, .sleep(start: true, logical: true))
        _ = board.tell(.login(.preparingForSleep(true)))
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep", "reply 1: sleep 1 ready, killed []"])
    }

    @Test func limitIsLogindsOwn_whenTheLockIsGrantedLate() throws {
        var board = Board([app("camera")])
        board.start()
        _ = board.tell(
            .login(.available(delayMax: .seconds(2), preparingForSleep: false, preparingForShutdown: false)))
        _ = board.sleepSignal(true, delayMax: .seconds(2))
        #expect(board.tell(.login(.lockTaken(.sleep))) == [])
        #expect(board.pass(.milliseconds(1499)) == [])
        // The call was told another limit: frozen with it.
        #expect(board.pass(.milliseconds(1)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func oldSleepIsNotTakenForANewOne_whenTheClocksTellOfTheResumeFirst() throws {
        var board = awakeBoard()
        board.fallAsleep()
        board.slept = .seconds(600)
        // logind is not through with its own sleep job yet: it would refuse the lock.
        #expect(board.tell(.timePassed) == ["sleep is over", "thaw camera", "call camera willEnterForeground 10 s"])
        #expect(board.core.expectsRefusal)
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
        #expect(board.sleepSignal(false) == ["take sleep"])
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(false))) == [])
    }

    @Test func oldSleepIsNotTakenForANewOne_whenTheHookTellsOfTheResumeFirst() throws {
        var board = awakeBoard()
        board.fallAsleep()
        _ = board.ask(1, .sleep(start: false, logical: false))
        _ = board.tell(.login(.lockRefused(.sleep)))
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
        #expect(board.sleepSignal(true) == [])
        #expect(board.core.device.sleep == 2)
    }

    @Test func lockIsTriedAgain_whenLogindNeverTellsOfTheResume() throws {
        var board = awakeBoard()
        board.fallAsleep()
        board.slept = .seconds(600)
        board.follow(.timePassed)
        #expect(board.pass(.milliseconds(29_999)) == [])
        for _ in 0..<5 {
            #expect(board.pass(.milliseconds(1)) == ["take sleep"])
            // Another package's hook holds logind's job: the old sleep stays old.
            #expect(board.tell(.login(.lockRefused(.sleep))) == [])
            #expect(board.tell(.login(.preparingForSleep(true))) == [])
            #expect(board.pass(.milliseconds(29_999)) == [])
        }
        #expect(board.pass(.milliseconds(1)) == ["take sleep"])
        // What it grants, it grants because it is through.
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == ["call camera willResignActive 2.25 s"])
    }

    @Test func calledOffSleepGoesOnWithinItsLimit_whenTheEdgeWasALateOne() throws {
        var board = awakeBoard()
        _ = board.sleepSignal(true)
        _ = board.returned("camera")
        board.monotonic += .seconds(1)
        #expect(board.sleepSignal(false) == ["read PreparingForSleep"])
        #expect(board.returned("camera") == ["call camera willEnterForeground 10 s"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .preparing)
        #expect(board.pass(.milliseconds(3500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func wakeByHandIsDenied_whileLogindWaitsForUs() throws {
        var board = awakeBoard()
        _ = board.sleepSignal(true)
        #expect(
            board.ask(1, .sleep(start: false, logical: true)) == ["reply 1: denied, logind prepares a sleep"])
        #expect(board.core.device.sleepState == .preparing)
    }

    @Test func questionIsAskedAgain_whenLoginVanishesBeforeItsAnswer() throws {
        var board = awakeBoard()
        board.fallAsleep()
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        // It says by itself that it still prepares.
        #expect(board.tell(appear(sleeping: true)) == ["take shutdown"])
        #expect(board.tell(.login(.lockTaken(.shutdown))) == [])
        #expect(board.pass(.seconds(30)) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.tell(.login(.unavailable)) == [])
        // logind is gone, and can say no more.
        #expect(board.pass(.seconds(30)) == ["sleep is over", "thaw camera", "call camera willEnterForeground 10 s"])
    }

    @Test func sleepThatWasCalledOffInVainEndsBeforeLogindsLimit() throws {
        var board = Board([app("camera")])
        board.login(delayMax: .seconds(30))
        board.start()
        _ = board.ask(1, .sleep(start: true, logical: true))
        let signalled = board.monotonic - .seconds(20)
        _ = board.tell(.login(.prepareForSleep(true, delayMax: .seconds(30), signalled: signalled)))
        _ = board.tell(.login(.prepareForSleep(false, delayMax: .seconds(30), signalled: board.monotonic)))
        _ = board.tell(.login(.preparingForSleep(true)))
        #expect(board.pass(.seconds(10)).contains("release sleep"))
    }

    /// The sleep lock was asked for before the board slept, and is granted after.
    private func asksAndSleeps(_ meanwhile: (inout Board) -> Void) -> Board {
        var board = Board([app("camera") { $0.keepsAwake = true }])
        board.start()
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false)))
        meanwhile(&board)
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        return board
    }

    @Test func oldGrantStaysOld_whateverOtherLockIsAskedForMeanwhile() {
        var board = asksAndSleeps { _ = $0.tell(.login(.lockTaken(.shutdown))) }
        #expect(board.begin("camera", keepAwake: true).contains("take keepAwake"))
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func grantIsOld_whenTheSleepMeanwhileWasAnnouncedByTheHook() {
        var board = asksAndSleeps {
            _ = $0.ask(1, .sleep(start: true, logical: false))
            _ = $0.returned("camera")
            _ = $0.returned("camera")
            _ = $0.frozen("camera")
        }
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.device.sleepState == .awake)
    }

    // MARK: Locks that are granted late

    /// logind is there, and has not answered yet.
    private func lockAskedFor() -> Board {
        var board = Board([app("camera")])
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false)))
        board.start()
        return board
    }

    /// The lock that was asked for before is granted now: logind's word on that sleep is no announcement of another.
    private func expectOldGrant(_ board: inout Board) {
        board.slept += .seconds(600)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .awake)
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.tell(.login(.preparingForSleep(true)))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func grantIsOld_whenTheBoardSleptUnannounced() {
        var board = lockAskedFor()
        expectOldGrant(&board)
    }

    @Test func grantIsOld_whenTheBoardSleptAfterTheHooksWord() {
        var board = lockAskedFor()
        board.follow(1, .sleep(start: true, logical: false))
        #expect(board.core.device.sleepState == .asleep)
        expectOldGrant(&board)
    }

    @Test func grantIsOld_whenTheBoardSleptBeforeItsAppsWereReady() {
        var board = lockAskedFor()
        _ = board.ask(1, .sleep(start: true, logical: false))
        board.monotonic += .seconds(5)
        expectOldGrant(&board)
    }

    @Test func grantIsOld_whenTheKernelSleptInALogicalSleep() throws {
        var board = lockAskedFor()
        board.follow(1, .sleep(start: true, logical: true))
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        #expect(board.core.device.sleepState == .asleep)
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.tell(.login(.preparingForSleep(true)))
        _ = board.ask(2, .sleep(start: false, logical: true))
        _ = board.tell(.login(.preparingForSleep(true)))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func lateShutdownLockIsKept_whenTheShutdownIsCancelled() throws {
        var board = lockAskedFor()
        // Nothing waits for us yet: the app has its own time.
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 5 s"])
        #expect(board.tell(.login(.lockTaken(.shutdown))) == [])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.returned("camera") == ["terminate camera"])
        #expect(board.gone("camera", .exited(0)) == ["spawn camera restart"])
        _ = board.spawned("camera")
        board.answerAll()
        board.answerAll()
        // It counts for the next one.
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 4.5 s"])
        #expect(board.returned("camera") == ["terminate camera"])
        #expect(board.gone("camera", .exited(0)) == ["release shutdown"])
    }

    @Test func loginIsNotAskedAnyMore_whenItHasGone() {
        var board = awakeBoard()
        board.fallAsleep()
        board.slept = .seconds(600)
        board.follow(.timePassed)
        #expect(board.core.nextDeadline?.reason == .sleepCancellation)
        _ = board.tell(.login(.unavailable))
        _ = board.pass(.seconds(10))
        board.answerAll()
        #expect(board.core.nextDeadline == nil)
    }

    /// The time to get ready was over before the release: it was exempt then, and is so still.
    @Test func exemptAppIsNotNamed_whenALateLockIsGivenBack() {
        var board = Board([
            app("camera") {
                $0.suspend = false
                $0.readiness = .notify
            }
        ])
        _ = board.tell(.login(.available(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false)))
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.returned("camera")
        _ = board.sleepSignal(true)
        _ = board.pass(.seconds(8))
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.tell(.login(.lockTaken(.sleep))) == ["release sleep"])
    }
}
