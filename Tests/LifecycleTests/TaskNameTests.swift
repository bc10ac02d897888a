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
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        _ = board.tell(.configured([manual("task-sync")], DevicePolicy()))
        let effects = board.tell(.configured([], DevicePolicy()))
        let more = board.tell(.started)
        #expect((effects + more).contains { $0.hasPrefix("reply 1") })
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
        _ = board.tell(.requestAbandoned(RequestID(rawValue: 1)))
        #expect(board.pass(.seconds(30)).contains("kill task-sync"))
        #expect(!board.pass(.seconds(10)).contains { $0.hasPrefix("reply") })
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func processIsKilledAsSoonAsItIsThere_whenAShutdownWasCancelledMeanwhile() throws {
        var board = startedBoard([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        _ = board.shutdownSignal(true)
        _ = board.shutdownSignal(false)
        board.reborn()
        #expect(board.spawned("task-sync") == ["kill task-sync"])
        _ = board.exited("task-sync", .signalled(9))
        #expect(board.emptied("task-sync").contains { $0.hasPrefix("reply 1: ended by shutdown") })
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func everybodyIsAnswered_whenAProcessIsEndedTwiceBeforeItIsThere() throws {
        var board = startedBoard([])
        _ = board.ask(1, .adopt(app: "task-sync", TaskWish(name: "sync")))
        let id = try board.id("task-sync")
        _ = board.ask(2, .terminate(id, force: false))
        _ = board.ask(3, .launch(id, background: true))
        _ = board.ask(4, .terminate(id, force: true))
        _ = board.spawned("task-sync")
        _ = board.exited("task-sync", .signalled(9))
        let end = board.emptied("task-sync")
        #expect(end.contains("reply 1: ended by user"))
        #expect(end.contains("reply 2: done"))
        #expect(end.contains("reply 4: done"))
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
        var board = Board([app("camera")])
        _ = board.tell(.loginAvailable(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false))
        board.start()
        _ = board.shutdownSignal(true)
        _ = board.tell(.lockTaken(.shutdown))
        #expect(board.shutdownSignal(false) == [])
        _ = board.shutdownSignal(true)
        board.answerAll()
        _ = board.exited("camera")
        _ = board.emptied("camera")
    }
}
