import Testing

@testable import Curfew

/// An app that was not started by Curfew.
@Suite(.timeLimit(.minutes(1))) struct DeskTests {
    private func start(_ delegate: some ApplicationDelegate, _ events: Events) async throws -> Application {
        var environment = LaunchEnvironment(app: nil, socket: "/nonexistent", delegate: nil)
        environment.say = { events.note($0) }
        return try await Application.start(delegate: delegate, environment)
    }

    @Test func itIsSaidOnce_andNothingIsCalled() async throws {
        let said = Events()
        let delegate = NotingDelegate()
        let app = try await start(delegate, said)
        #expect(!app.isSupervised && app.name == nil)
        _ = try await app.state()
        try await app.withBackgroundTask(named: "upload") { _ in }
        let lines = await said.all()
        #expect(lines.count == 1 && lines[0].hasPrefix("not started by Curfew"))
        #expect(await delegate.events.all().isEmpty)
    }

    @Test func backgroundTasksAreGrantedWithoutLimit() async throws {
        let app = try await start(SilentDelegate(), Events())
        #expect(try await app.backgroundTimeRemaining == nil)
        var tasks: [BackgroundTask] = []
        for number in 0..<100 {
            tasks.append(try await app.beginBackgroundTask(named: "task \(number)", keepAwake: true))
        }
        #expect(Set(tasks.map(\.identifier)).count == 100)
        #expect(tasks.allSatisfy { $0.identifier.rawValue > 0 })
        #expect(try await app.tasks().map(\.task) == tasks)
        #expect(try await app.tasks().allSatisfy { $0.keepsAwake && $0.timeHeld >= .zero })
        for task in tasks { try await app.endBackgroundTask(task) }
        #expect(try await app.tasks().isEmpty)
    }

    @Test func mistakesShowAtADeskToo() async throws {
        let app = try await start(SilentDelegate(), Events())
        let task = try await app.beginBackgroundTask(named: "upload")
        try await app.endBackgroundTask(task)
        await #expect(throws: CurfewError.noSuchBackgroundTask(task.identifier)) {
            try await app.endBackgroundTask(task)
        }
        await #expect(throws: CurfewError.self) { try await app.beginBackgroundTask(named: "a\0b") }
        await #expect(throws: CurfewError.self) { try await app.beginBackgroundTask(named: "a", timeAllowed: .zero) }
    }

    @Test func aTaskEndsOnEveryWayOut() async throws {
        let app = try await start(SilentDelegate(), Events())
        let names = try await app.withBackgroundTask(named: "upload") { _ in try await app.tasks().map(\.task.name) }
        #expect(names == ["upload"])
        await #expect(throws: Failure.self) {
            try await app.withBackgroundTask(named: "upload") { _ in throw Failure() }
        }
        let endless = try await app.startBackgroundTask(named: "upload", BackgroundTaskTests.endless)
        endless.cancel()
        await #expect(throws: CancellationError.self) { try await endless.value }
        #expect(try await app.tasks().isEmpty)
    }

    @Test func whatAnAppSeesIsABoardThatLacksNothing() async throws {
        let app = try await start(SilentDelegate(), Events())
        let state = try await app.state()
        #expect(state.scenePhase == .active && state.taskState == .running && state.backgroundTimeRemaining == nil)
        #expect(try await app.setMinimumBackgroundFetchInterval(.seconds(60)) == .seconds(60))
    }

    @Test func runGoesOnUntilItIsCancelled() async throws {
        let app = try await start(SilentDelegate(), Events())
        let run = Task { try await app.run() }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func aProcessIsOneApp() async throws {
        // The environment of tests has no CURFEW_APP.
        let app = try await Application.start(delegate: SilentDelegate())
        #expect(!app.isSupervised)
        await #expect(throws: CurfewError.alreadyStarted) { try await Application.start(delegate: SilentDelegate()) }
    }
}
