import Lifecycle
import Testing

/// Tasks of their own beside configurations that take their names, and locks that are granted late.
@Suite struct TaskNameTests {
    /// logind is there, and has not answered yet.
    private func lockAskedFor() -> Board {
        var board = Board([app("camera")])
        _ = board.tell(.loginAvailable(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false))
        board.start()
        return board
    }

    @Test func configuredBudgetIsKept_whenATaskRanUnderTheNameBefore() throws {
        var board = startedBoard([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync", timeAllowed: .seconds(10))))
        let sync = manual("task-sync") { $0.taskBudget = .seconds(300) }
        _ = board.tell(.configured([sync], DevicePolicy()))
        _ = board.spawned("task-sync")
        _ = board.obey(board.handle(.exited(board.last("task-sync"), .exited(0))))
        let id = try board.id("task-sync")
        _ = board.obey(board.handle(.requested(RequestID(rawValue: 2), .launch(id, background: false))))
        _ = board.begin("task-sync")
        try board.goBack("task-sync")
        #expect(board.core.backgroundTimeRemaining(of: id, at: board.monotonic) == .seconds(300))
    }

    @Test func whoHandedItOverIsAnswered_whenAReloadRemovesTheAppThatTookItsNameBeforeTheStart() throws {
        var board = Board([])
        board.login()
        #expect(board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync"))) == [])
        #expect(board.tell(.configured([manual("task-sync")], DevicePolicy())) == [])
        #expect(board.tell(.configured([], DevicePolicy())) == ["reply 1: denied, it was ended before it began"])
        #expect(board.tell(.started) == [])
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func appThatComesAfterATaskStartsAtOnce_whenAnotherTaskHasTakenItsPlace() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .zero }])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        _ = board.spawned("task-sync")
        _ = board.tell(
            .configured(
                [
                    app("camera") {
                        $0.after = ["task-sync"]; $0.restartDelay = .zero
                    }
                ], DevicePolicy()))
        _ = board.exited("task-sync", .unknown)
        _ = board.emptied("task-sync")
        _ = board.ask(2, .adopt(app: "task-other", TaskWish(name: "other")))
        _ = board.exited("camera", .signalled(11))
        #expect(board.emptied("camera") == ["spawn camera restart"])
    }

    @Test func nobodyIsAnsweredAndNothingIsLeft_whenASpawnThatNobodyWaitsForIsGivenUp() throws {
        var board = startedBoard([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        #expect(board.tell(.requestAbandoned(RequestID(rawValue: 1))) == [])
        #expect(
            board.pass(.seconds(30)) == [
                "report task-sync launchFailure: its program was not started within 30 s", "kill task-sync",
                "clear task-sync",
            ])
        #expect(!board.pass(.seconds(10)).contains { $0.hasPrefix("reply") })
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func processIsKilledAsSoonAsItIsThere_whenAShutdownWasCancelledMeanwhile() throws {
        var board = startedBoard([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        #expect(board.shutdownSignal(true) == [])
        #expect(board.shutdownSignal(false) == [])
        board.reborn()
        #expect(board.spawned("task-sync") == ["kill task-sync"])
        #expect(board.exited("task-sync", .signalled(9)).last == "clear task-sync")
        #expect(board.emptied("task-sync") == ["reply 1: ended by shutdown"])
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func everybodyIsAnswered_whenAProcessIsEndedTwiceBeforeItIsThere() throws {
        var board = startedBoard([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        let id = try board.id("task-sync")
        #expect(board.ask(2, .terminate(id, force: false)) == [])
        #expect(board.ask(3, .launch(id, background: true)) == [])
        #expect(board.ask(4, .terminate(id, force: true)) == ["reply 3: denied, another request ended it"])
        #expect(board.spawned("task-sync") == ["kill task-sync"])
        #expect(
            board.exited("task-sync", .signalled(9)) == [
                "report task-sync user: ended by an operator, at once", "clear task-sync",
            ])
        #expect(board.emptied("task-sync") == ["reply 1: ended by user", "reply 2: done", "reply 4: done"])
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func grantIsOld_whenTheBoardSleptAfterTheHooksWord() throws {
        var board = lockAskedFor()
        _ = board.obey(board.handle(.requested(RequestID(rawValue: 1), .sleep(start: true, logical: false))))
        #expect(board.core.device.sleepState == .asleep)
        board.slept += .seconds(600)
        _ = board.tell(.woke)
        #expect(board.core.device.sleepState == .awake)
        _ = board.tell(.lockTaken(.sleep))
        _ = board.tell(.preparingForSleep(true))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func grantIsOld_whenTheBoardSleptUnannounced() throws {
        var board = lockAskedFor()
        board.slept += .seconds(600)
        _ = board.tell(.woke)
        _ = board.tell(.lockTaken(.sleep))
        _ = board.tell(.preparingForSleep(true))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func grantIsOld_whenTheBoardSleptBeforeItsAppsWereReady() throws {
        var board = lockAskedFor()
        _ = board.ask(1, .sleep(start: true, logical: false))
        board.monotonic += .seconds(5)
        board.slept += .seconds(600)
        _ = board.tell(.woke)
        #expect(board.core.device.sleepState == .awake)
        _ = board.tell(.lockTaken(.sleep))
        _ = board.tell(.preparingForSleep(true))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func grantIsOld_whenTheKernelSleptInALogicalSleep() throws {
        var board = lockAskedFor()
        _ = board.obey(board.handle(.requested(RequestID(rawValue: 1), .sleep(start: true, logical: true))))
        board.slept += .seconds(60)
        _ = board.tell(.woke)
        #expect(board.core.device.sleepState == .asleep)
        _ = board.tell(.lockTaken(.sleep))
        _ = board.tell(.preparingForSleep(true))
        _ = board.ask(2, .sleep(start: false, logical: true))
        _ = board.tell(.preparingForSleep(true))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test func lateShutdownLockIsKept_whenTheShutdownIsCancelled() throws {
        var board = lockAskedFor()
        // Nothing waits for us yet: the app has its own time.
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 5 s"])
        #expect(board.tell(.lockTaken(.shutdown)) == [])
        #expect(board.shutdownSignal(false) == [])
        #expect(board.returned("camera") == ["terminate camera"])
        _ = board.exited("camera")
        #expect(board.emptied("camera") == ["spawn camera restart"])
        _ = board.spawned("camera")
        board.answerAll()
        board.answerAll()
        // It counts for the next one.
        #expect(board.shutdownSignal(true) == ["call camera willTerminate shutdown 4.5 s"])
        #expect(board.returned("camera") == ["terminate camera"])
        _ = board.exited("camera")
        #expect(board.emptied("camera") == ["release shutdown"])
    }
}
