import Lifecycle
import Testing

/// Held background tasks and a sleep: they run on while it waits for others, and not much longer.
@Suite struct TaskGraceTests {
    private func board(_ apps: [AppPolicy], _ change: (inout DevicePolicy) -> Void = { _ in }) -> Board {
        var device = DevicePolicy()
        change(&device)
        var board = Board(apps, device: device)
        board.login()
        board.start()
        return board
    }

    @Test func releaseComesAtOnce_whenTheLastTaskEnds() throws {
        var board = board([app("camera")])
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.sleepSignal(true) == [])
        _ = board.pass(.milliseconds(700))
        #expect(board.end("camera").last == "freeze camera")
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func tasksRunOn_whileTheSleepWaitsForAnother() throws {
        var board = board([app("camera"), app("slow")])
        _ = board.begin("camera")
        try board.goBack("camera")
        #expect(board.sleepSignal(true) == ["call slow willResignActive 2.25 s"])
        _ = board.pass(.seconds(1))
        #expect(board.returned("slow") == ["call slow didEnterBackground 3.5 s"])
        #expect(board.pass(.milliseconds(1500)) == [])
        #expect(board.returned("slow") == ["freeze slow"])
        #expect(board.frozen("slow") == [])
        // Two seconds from here, or the end of the allowance.
        #expect(board.pass(.milliseconds(1999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
    }

    @Test func graceIsWithinTheAllowance() throws {
        var board = board([app("camera")]) { $0.taskGrace = .seconds(60) }
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4499)) == [])
        #expect(board.pass(.milliseconds(1)) == ["freeze camera"])
    }

    @Test func serversWaitForTheirClientsTasks() throws {
        var board = board([app("storage"), app("camera") { $0.after = ["storage"] }])
        _ = board.begin("camera")
        try board.goBack("camera")
        try board.goBack("storage")
        let effects = try board.handle(.client(.requested(RequestID(rawValue: 1), .activate(board.id("storage")))))
        _ = board.obey(effects)
        _ = board.sleepSignal(true)
        _ = board.returned("storage")
        #expect(board.returned("storage") == [])
        #expect(board.pass(.seconds(2)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["freeze storage"])
        #expect(board.frozen("storage") == ["sleep is handled", "release sleep"])
    }

    @Test func taskHasItsGrace_whenItBeginsWhileItsAppWaitsForClients() throws {
        var board = board([app("storage"), app("camera") { $0.after = ["storage"] }])
        _ = board.begin("camera")
        try board.goBack("camera")
        _ = board.sleepSignal(true)
        _ = board.returned("storage")
        #expect(board.returned("storage") == [])
        _ = board.begin("storage", "save")
        _ = board.pass(.seconds(1))
        #expect(board.end("camera").last == "freeze camera")
        #expect(board.frozen("camera") == [])
        #expect(board.pass(.milliseconds(999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["freeze storage"])
    }

    @Test func expirationHandlerIsCalled_whileItsAppWaitsForAClientThatDoesNotFreeze() throws {
        var board = board([
            app("storage") { $0.taskBudget = .milliseconds(3500) }, app("camera") { $0.after = ["storage"] },
        ])
        _ = board.begin("storage")
        _ = board.begin("camera", "other")
        try board.goBack("camera")
        try board.goBack("storage")
        _ = board.sleepSignal(true)
        #expect(board.pass(.seconds(2)) == ["freeze camera"])
        #expect(
            board.pass(.milliseconds(1150)) == [
                "task storage upload expiring 350 ms", "call storage backgroundTaskWillExpire upload 350 ms",
            ])
    }

    @Test func exemptAppsTasksHaveTheSameGrace() throws {
        var board = board([app("modem") { $0.suspend = false }])
        _ = board.begin("modem")
        try board.goBack("modem")
        #expect(board.sleepSignal(true) == [])
        #expect(board.pass(.milliseconds(1999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["sleep is handled", "release sleep"])
    }
}
