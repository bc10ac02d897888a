import Lifecycle
import Testing

/// Processes that `curfew run` has started, taken over with a budget.
@Suite struct AdoptionTests {
    private func adopted(_ budget: Nanoseconds? = .seconds(60)) -> Board {
        var board = startedBoard([])
        let asked = board.ask(1, .adopt(app: "task-sync", TaskParameters(name: "sync", timeAllowed: budget)))
        #expect(asked == ["spawn task-sync backgroundTask background"])
        return board
    }

    @Test func processRunsAsATaskOfItsOwn_untilItEnds() throws {
        var board = adopted()
        #expect(board.spawned("task-sync") == ["task task-sync sync began 60 s", "reply 1: begun, 60 s"])
        #expect(try board.view("task-sync").taskState == .running)
        _ = board.pass(.seconds(20))
        #expect(
            board.exited("task-sync", .unknown) == [
                "report task-sync exit: ended by itself; who started it knows how", "task task-sync sync died 40 s",
                "clear task-sync",
            ])
        #expect(board.emptied("task-sync") == [])
        #expect(board.core.id(of: "task-sync") == nil)
        #expect(board.core.appIDs.isEmpty)
        #expect(board.core.nextDeadline == nil)
    }

    @Test func processIsAskedAndThenKilled_whenItsBudgetIsSpent() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        #expect(board.pass(.seconds(55)) == ["task task-sync sync expiring 5 s", "terminate task-sync"])
        #expect(board.pass(.seconds(5)) == ["kill task-sync"])
        let effects = board.exited("task-sync", .unknown)
        #expect(effects.contains("task task-sync sync expired 0 ms"))
        #expect(effects[0].hasPrefix("report task-sync backgroundTask:"))
    }

    @Test func processThatEndsWhenItIsAskedHasEndedForItsBudget() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        _ = board.pass(.seconds(55))
        #expect(
            board.exited("task-sync", .unknown) == [
                "report task-sync backgroundTask: asked to end as its budget of 60 s ran out",
                "task task-sync sync expired 5 s", "clear task-sync",
            ])
    }

    @Test func processIsNotAskedToEnd_whenATaskItHasBegunItselfIsOver() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        _ = board.begin("task-sync", "part", allowed: .seconds(10))
        #expect(
            board.pass(.seconds(10)) == [
                "task task-sync part expiring 0 ms", "task task-sync part expired 0 ms",
            ])
        #expect(board.pass(.seconds(45)) == ["task task-sync sync expiring 5 s", "terminate task-sync"])
    }

    @Test func processIsAskedToEndOnce_howeverManyTasksItHolds() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        _ = board.begin("task-sync", "a")
        _ = board.begin("task-sync", "b")
        #expect(
            board.pass(.seconds(55)) == [
                "task task-sync b expiring 5 s", "terminate task-sync", "task task-sync a expiring 5 s",
                "task task-sync sync expiring 5 s",
            ])
    }

    @Test func processIsFrozenOverASleepWithItsBudget() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.seconds(2)) == ["freeze task-sync"])
        #expect(board.frozen("task-sync") == ["sleep is handled", "release sleep"])
        #expect(board.wake(afterSleeping: .seconds(600)) == ["sleep is over", "take sleep", "thaw task-sync"])
        let id = try board.id("task-sync")
        #expect(board.core.backgroundTimeRemaining(of: id, at: board.monotonic) == .seconds(58))
    }

    /// Each is a new app; what one has cost a sleep counts against the next.
    @Test func freezingTakesLess_whenAnotherTaskCouldNotBeFrozen() throws {
        var board = startedBoard([])
        for (number, bound) in [2000, 1000, 500, 500].enumerated() {
            let name = "task-\(number)"
            _ = board.ask(1, .adopt(app: name, TaskParameters(name: "\(number)")))
            _ = board.spawned(name)
            _ = board.sleepSignal(true)
            #expect(board.pass(.seconds(2)) == ["freeze \(name)"])
            #expect(board.pass(.milliseconds(Int64(bound) - 1)) == [])
            #expect(board.pass(.milliseconds(1)) == ["unfreezable \(name)", "sleep is handled", "release sleep"])
            _ = board.wake(afterSleeping: .seconds(600))
            _ = board.tell(.login(.lockTaken(.sleep)))
            board.gone(name, .unknown)
        }
    }

    @Test func oneThatFreezesSlowlyTakesNoTimeFromAnother_inTheSameSleep() {
        var board = startedBoard([])
        for name in ["task-a", "task-b"] {
            _ = board.ask(1, .adopt(app: name, TaskParameters(name: name)))
            _ = board.spawned(name)
        }
        _ = board.sleepSignal(true)
        #expect(board.pass(.seconds(2)) == ["freeze task-a", "freeze task-b"])
        #expect(board.pass(.milliseconds(600)) == [])
        #expect(board.frozen("task-a") == [])
        #expect(board.pass(.milliseconds(1399)) == [])
        #expect(board.pass(.milliseconds(1)) == ["unfreezable task-b", "sleep is handled", "release sleep"])
    }

    @Test func noneIsAwaitedForLong_whenOneFrozeSlowlyAtASleepBefore() {
        var board = startedBoard([])
        for sleep in 1...2 {
            for name in ["task-a", "task-b"] {
                _ = board.ask(1, .adopt(app: name, TaskParameters(name: name)))
                _ = board.spawned(name)
            }
            _ = board.sleepSignal(true)
            #expect(board.pass(.seconds(2)) == ["freeze task-a", "freeze task-b"])
            #expect(board.pass(.milliseconds(499)) == [])
            // The one that is judged first is noted for this sleep, too: the other is not awaited all the same.
            let left = ["sleep is handled", "unfreezable task-a", "unfreezable task-b", "release sleep"]
            #expect(board.pass(.milliseconds(1)) == (sleep == 2 ? left : []))
            for name in ["task-a", "task-b"] { _ = board.frozen(name) }
            _ = board.wake(afterSleeping: .seconds(600))
            _ = board.tell(.login(.lockTaken(.sleep)))
            for name in ["task-a", "task-b"] { board.gone(name, .unknown) }
        }
    }

    @Test func nameIsTakenAgain_whenItIsFree() throws {
        var board = adopted()
        let denied = board.ask(2, .adopt(app: "task-sync", TaskParameters(name: "sync")))
        #expect(denied == ["reply 2: denied, task-sync is there already"])
        _ = board.spawned("task-sync")
        board.gone("task-sync", .unknown)
        let other = board.ask(3, .adopt(app: "task-other", TaskParameters(name: "other")))
        #expect(other == ["spawn task-other backgroundTask background"])
        #expect(board.spawned("task-other").last == "reply 3: begun, 10 min")
        #expect(board.core.id(of: "task-sync") == nil)
    }

    @Test func taskDoesNotComeToTheFront() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        #expect(
            try board.ask(2, .activate(board.id("task-sync"))) == [
                "reply 2: denied, a task of its own does not come to the front"
            ])
    }

    @Test func failureIsAnswered() throws {
        var board = adopted()
        let effects = board.tell(.process(.spawnFailed(board.last("task-sync"), code: 3, explanation: "it is gone")))
        #expect(effects == ["report task-sync launchFailure: it is gone", "reply 1: ended by launchFailure"])
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func nothingIsTakenOver_whileTheBoardSleepsOrShutsDown() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        board.fallAsleep()
        #expect(
            board.ask(1, .adopt(app: "task-x", TaskParameters(name: "x"))) == ["reply 1: denied, sleeping"])
        #expect(
            board.ask(2, .adopt(app: "camera", TaskParameters(name: "x"))) == ["reply 2: denied, sleeping"])
        _ = board.sleepSignal(false)
        #expect(
            board.ask(3, .adopt(app: "camera", TaskParameters(name: "x"))) == [
                "reply 3: denied, camera is there already"
            ])
    }

    @Test func nobodyIsAnsweredWhoDoesNotWaitAnyMore() {
        var board = adopted()
        #expect(board.tell(.client(.abandoned(RequestID(rawValue: 1)))) == [])
        #expect(board.spawned("task-sync") == ["task task-sync sync began 60 s"])
        #expect(board.gone("task-sync", .unknown) == [])
    }

    @Test func nobodyCanStartItAgain_whileItIsOnItsWayOut() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        let id = try board.id("task-sync")
        _ = board.exited("task-sync", .unknown)
        #expect(board.ask(2, .launch(id, background: true)) == [])
        #expect(
            board.emptied("task-sync") == [
                "reply 2: denied, it has ended, and only who started it can start it again"
            ])
    }

    @Test func reloadLeavesItAlone() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        #expect(board.tell(.configured([app("camera")], DevicePolicy())) == ["spawn camera boot"])
        #expect(try board.view("task-sync").taskState == .running)
    }

    @Test func whoHandedItOverIsAnswered_whenAReloadTakesItsName() throws {
        var board = adopted()
        let sync = app("task-sync") { $0.launch = .manual }
        _ = board.tell(.configured([sync], DevicePolicy()))
        let effects = board.tell(.process(.spawnFailed(board.last("task-sync"), code: 3, explanation: "it has gone")))
        #expect(effects.contains("reply 1: ended by launchFailure"), "\(effects)")
        // What is launched under that name now is no task.
        _ = try board.ask(2, .launch(board.id("task-sync"), background: false))
        #expect(!board.spawned("task-sync").contains { $0.hasPrefix("task ") })
    }

    @Test func configuredBudgetIsKept_whenATaskRanUnderTheNameBefore() throws {
        var board = adopted(.seconds(10))
        let sync = manual("task-sync") { $0.taskBudget = .seconds(300) }
        _ = board.tell(.configured([sync], DevicePolicy()))
        _ = board.spawned("task-sync")
        board.follow(.process(.exited(board.last("task-sync"), .exited(0))))
        let id = try board.id("task-sync")
        board.follow(2, .launch(id, background: false))
        _ = board.begin("task-sync")
        try board.goBack("task-sync")
        #expect(board.core.backgroundTimeRemaining(of: id, at: board.monotonic) == .seconds(300))
    }

    @Test func whoHandedItOverIsAnswered_whenAReloadRemovesTheAppThatTookItsNameBeforeTheStart() throws {
        var board = Board([])
        board.login()
        #expect(board.ask(1, .adopt(app: "task-sync", TaskParameters(name: "sync"))) == [])
        #expect(board.tell(.configured([manual("task-sync")], DevicePolicy())) == [])
        #expect(board.tell(.configured([], DevicePolicy())) == ["reply 1: denied, it was ended before it began"])
        #expect(board.tell(.started) == [])
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func noTaskBegins_whenAReloadConfiguresWhatNoClientWaitsForAnyMore() throws {
        var board = adopted()
        _ = board.tell(.client(.abandoned(RequestID(rawValue: 1))))
        _ = board.tell(.configured([app("task-sync") { $0.launch = .manual }], DevicePolicy()))
        _ = board.tell(.process(.spawnFailed(board.last("task-sync"), code: 2, explanation: "no such file")))
        #expect(board.pass(.seconds(1)) == ["spawn task-sync restart background"])
        #expect(board.spawned("task-sync") == ["call task-sync didFinishLaunching restart 20 s"])
    }

    @Test func appThatComesAfterATaskStartsAtOnce_whenAnotherTaskHasTakenItsPlace() throws {
        var board = startedBoard([app("camera") { $0.restartDelay = .zero }])
        _ = board.ask(1, .adopt(app: "task-sync", TaskParameters(name: "sync")))
        _ = board.spawned("task-sync")
        let camera = app("camera") {
            $0.after = ["task-sync"]
            $0.restartDelay = .zero
        }
        _ = board.tell(.configured([camera], DevicePolicy()))
        board.gone("task-sync", .unknown)
        _ = board.ask(2, .adopt(app: "task-other", TaskParameters(name: "other")))
        #expect(board.crash("camera") == ["spawn camera restart"])
    }

    @Test func nobodyIsAnsweredAndNothingIsLeft_whenASpawnThatNobodyWaitsForIsGivenUp() throws {
        var board = adopted(nil)
        #expect(board.tell(.client(.abandoned(RequestID(rawValue: 1)))) == [])
        #expect(
            board.pass(.seconds(30)) == [
                "report task-sync launchFailure: its program was not started within 30 s", "kill task-sync",
                "clear task-sync",
            ])
        #expect(!board.pass(.seconds(10)).contains { $0.hasPrefix("reply") })
        #expect(board.core.appIDs.isEmpty)
    }

    @Test func processIsTakenOver_whenAShutdownWasCancelledMeanwhile() throws {
        var board = adopted(nil)
        #expect(board.shutdownSignal(true) == [])
        #expect(board.shutdownSignal(false) == [])
        board.reborn()
        #expect(board.spawned("task-sync") == ["task task-sync sync began 10 min", "reply 1: begun, 10 min"])
        #expect(board.phase("task-sync") == "background")
    }

    @Test func everybodyIsAnswered_whenAProcessIsEndedTwiceBeforeItIsThere() throws {
        var board = adopted(nil)
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

    // MARK: A configuration takes the name

    @Test func boardIsNotReset_whenWhatCouldNotBeTakenOverIsConfiguredAsEssential() throws {
        var board = adopted()
        _ = board.tell(.process(.spawnFailed(board.last("task-sync"), code: 2, explanation: "no such file")))
        _ = board.tell(.watchdog(.hardware(timeout: .seconds(30))))
        _ = board.tell(.configured([manual("task-sync") { $0.isEssential = true }], DevicePolicy()))
        #expect(board.pass(.seconds(20)).contains("feed"))
    }

    @Test func appIsNotStarted_whenAShutdownThatEndedTheTaskOfItsNameIsCancelled() throws {
        var board = adopted()
        _ = board.spawned("task-sync")
        #expect(board.shutdownSignal(true) == ["terminate task-sync"])
        board.gone("task-sync", .unknown)
        _ = board.tell(.configured([manual("task-sync")], DevicePolicy()))
        #expect(!(board.shutdownSignal(false) + board.pass(.seconds(60))).contains { $0.hasPrefix("spawn") })
    }

    @Test func clientIsLaunched_whenTheTaskThatItComesAfterCannotBeTakenOver() throws {
        var board = adopted()
        _ = board.tell(.configured([manual("camera") { $0.after = ["task-sync"] }], DevicePolicy()))
        #expect(try board.ask(2, .launch(board.id("camera"), background: false)) == [])
        let failed = board.tell(.process(.spawnFailed(board.last("task-sync"), code: 2, explanation: "no such file")))
        #expect(failed.contains("spawn camera user"))
    }
}
