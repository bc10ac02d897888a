import Testing
import Varlink

@testable import Curfew

@Suite(.timeLimit(.minutes(1))) struct BackgroundTaskTests {
    /// Waits for its cancellation, and for nothing else.
    @Sendable static func endless(_ task: BackgroundTask) async throws {
        await Latch().wait()
        try Task.checkCancellation()
    }

    @Test func aTaskEnds_whenItsBodyReturns() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let result = try await app.withBackgroundTask(named: "upload") { task in
            device.events.note("held \(task.name) \(task.identifier.rawValue)")
            return 42
        }
        #expect(result == 42)
        #expect(
            await device.events.all() == ["BeginBackgroundTask upload", "held upload 1", "EndBackgroundTask 1"])
    }

    @Test func aTaskEnds_whenItsBodyThrows() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        await #expect(throws: Failure.self) {
            try await app.withBackgroundTask(named: "upload") { _ in throw Failure() }
        }
        #expect(await device.events.all() == ["BeginBackgroundTask upload", "EndBackgroundTask 1"])
    }

    @Test func aTaskEnds_whenItsCallerIsCancelled() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let caller = Task { try await app.withBackgroundTask(named: "upload", Self.endless) }
        #expect(await device.events.until("BeginBackgroundTask upload"))
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(await device.events.all() == ["EndBackgroundTask 1"])
    }

    @Test func theExpirationCancelsTheBody_andReturnsWhenItHasEnded() async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate()
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        let work = try await app.startBackgroundTask(named: "upload", Self.endless)
        #expect(device.heldTasks == ["upload"])
        await device.call("BackgroundTaskWillExpire", ["identifier": 1, "name": "upload"])
        let expired = BackgroundTaskExpired(task: BackgroundTask(identifier: .init(1), name: "upload"))
        await #expect(throws: expired) { try await work.value }
        #expect(
            await device.events.all() == [
                "BeginBackgroundTask upload", "EndBackgroundTask 1", "returned BackgroundTaskWillExpire",
            ])
        #expect(
            await delegate.events.all() == ["BackgroundTaskWillExpire 1 upload", "BackgroundTaskWillExpire done"])
    }

    @Test func theExpirationOfOneTaskLeavesTheOthersAlone() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let first = try await app.startBackgroundTask(named: "first", Self.endless)
        let second = try await app.startBackgroundTask(named: "second", Self.endless)
        await device.call("BackgroundTaskWillExpire", ["identifier": 2, "name": "second"])
        await #expect(throws: BackgroundTaskExpired.self) { try await second.value }
        #expect(device.heldTasks == ["first"])
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(device.heldTasks.isEmpty)
    }

    @Test func aBodyThatComesToAnEndAllTheSameHasSucceeded() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let work = try await app.startBackgroundTask(named: "upload") { _ in
            await Latch().wait()
            return Task.isCancelled
        }
        await device.call("BackgroundTaskWillExpire", ["identifier": 1, "name": "upload"])
        #expect(try await work.value)
    }

    @Test func aBodyThatDoesNotStopIsNotWaitedForTooLong() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let goOn = Latch()
        let work = try await app.startBackgroundTask(named: "upload") { _ in
            // A task of its own does not hear of the cancellation.
            await Task { await goOn.wait() }.value
        }
        let start = SuspendingClock.now
        await device.call("BackgroundTaskWillExpire", ["identifier": 1, "name": "upload", "deadline": 0.5])
        #expect(SuspendingClock.now - start >= .milliseconds(440))
        #expect(device.heldTasks == ["upload"])
        goOn.open()
        #expect(try await work.value)
        #expect(device.heldTasks.isEmpty)
    }

    @Test func anExpirationThatComesWithTheGrantIsNotLost() async throws {
        let device = try PlayedDevice { method, _ in method == "BeginBackgroundTask" ? .hold : nil }
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        for round in 1...50 {
            let work = Task { try await app.withBackgroundTask(named: "upload", Self.endless) }
            #expect(await device.events.until("BeginBackgroundTask upload"))
            device.answerHeld { _ in ["identifier": .integer(Int64(round)), "timeRemaining": 0.1] }
            device.send("BackgroundTaskWillExpire", ["identifier": .integer(Int64(round)), "name": "upload"])
            await #expect(throws: BackgroundTaskExpired.self) { try await work.value }
        }
    }

    @Test func aTaskBegunByHandIsEndedInItsHandler() async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate { app, handler in
            guard handler == "BackgroundTaskWillExpire" else { return }
            try await app.endBackgroundTask(BackgroundTask(identifier: .init(1), name: "upload"))
        }
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        let task = try await app.beginBackgroundTask(named: "upload", keepAwake: true, timeAllowed: .milliseconds(1500))
        #expect(task == BackgroundTask(identifier: .init(1), name: "upload"))
        await device.call("BackgroundTaskWillExpire", ["identifier": 1, "name": "upload"])
        await #expect(throws: CurfewError.noSuchBackgroundTask(task.identifier)) {
            try await app.endBackgroundTask(task)
        }
        #expect(
            await device.events.all() == [
                "BeginBackgroundTask upload", "EndBackgroundTask 1", "returned BackgroundTaskWillExpire",
                "EndBackgroundTask 1",
            ])
    }

    @Test func whatIsAskedForIsSent() async throws {
        let device = try PlayedDevice { method, parameters in
            method == "BeginBackgroundTask" ? .error("org.example.Echo", parameters) : nil
        }
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let all = #"{"name":"upload","keepAwake":false,"timeAllowed":1.5,"processIdentifier":77}"#
        await #expect(throws: CurfewError.unexpectedAnswer("org.example.Echo \(all)")) {
            try await app.beginBackgroundTask(
                named: "upload", keepAwake: false, timeAllowed: .milliseconds(1500), endingWith: 77)
        }
        await #expect(throws: CurfewError.unexpectedAnswer(#"org.example.Echo {"name":"upload"}"#)) {
            try await app.withBackgroundTask(named: "upload") { _ in Issue.record("it has no task") }
        }
    }

    struct Refusal: Sendable {
        let name: String
        var parameters: JSONObject = [:]
        let error: CurfewError
        let words: String
    }

    static let refusals = [
        Refusal(name: "io.curfew.Application.NotAnApp", error: .notAnApp, words: "curfew launch"),
        Refusal(
            name: "io.curfew.Application.BackgroundTimeDenied", parameters: ["reason": "the budget is spent"],
            error: .backgroundTimeDenied(reason: "the budget is spent"), words: "the budget is spent"),
        Refusal(
            name: "io.curfew.Application.TooManyBackgroundTasks", parameters: ["limit": 64],
            error: .tooManyBackgroundTasks(limit: 64), words: "64"),
        Refusal(
            name: "org.varlink.service.InvalidParameter", parameters: ["parameter": "keepAwake"],
            error: .invalidValue("the device takes no such keepAwake"), words: "keepAwake"),
        Refusal(
            name: "org.example.Odd", parameters: ["why": 1], error: .unexpectedAnswer(#"org.example.Odd {"why":1}"#),
            words: "org.example.Odd"),
    ]

    @Test(arguments: refusals) func aRefusalIsThrown_andTheBodyDoesNotRun(_ refusal: Refusal) async throws {
        let device = try PlayedDevice { method, _ in
            method == "BeginBackgroundTask" ? .error(refusal.name, refusal.parameters) : nil
        }
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        await #expect(throws: refusal.error) {
            try await app.withBackgroundTask(named: "upload") { _ in Issue.record("it has no task") }
        }
        #expect("\(refusal.error)".contains(refusal.words))
        #expect(await device.events.all() == ["BeginBackgroundTask upload"])
    }

    @Test(arguments: [String(repeating: "x", count: 256), String(repeating: "x", count: 2 << 20), "a\nb", "a\u{7f}"])
    func aNameThatCannotBeOneIsNotSent(_ name: String) async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        await #expect(throws: CurfewError.self) { try await app.beginBackgroundTask(named: name) }
        _ = try await app.beginBackgroundTask(named: String(repeating: "ü", count: 127))
        #expect(await device.events.all() == ["BeginBackgroundTask " + String(repeating: "ü", count: 127)])
    }

    @Test func manyTasksBeginAndEndAtOnce() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let identifiers = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    try await app.withBackgroundTask(named: "upload \(number)") { task in
                        #expect(task.name == "upload \(number)")
                        return task.identifier.rawValue
                    }
                }
            }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(identifiers.count == 2000)
        #expect(device.heldTasks.isEmpty)
    }

    @Test func whatTheDeviceKnowsCanBeAsked() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let task = try await app.beginBackgroundTask(named: "upload", keepAwake: true)
        #expect(
            try await app.state()
                == ApplicationState(
                    name: "played", scenePhase: .background, taskState: .running,
                    backgroundTimeRemaining: .milliseconds(12250), backgroundRefreshStatus: .restricted,
                    isLowPowerMode: true, thermalState: .fair))
        #expect(
            try await app.tasks() == [HeldBackgroundTask(task: task, keepsAwake: true, timeHeld: .milliseconds(1500))])
        #expect(try await app.backgroundTimeRemaining == .milliseconds(599_500))
        #expect(try await app.setMinimumBackgroundFetchInterval(.seconds(60)) == .seconds(900))
    }

    @Test func noLimitIsNil() async throws {
        let device = try PlayedDevice { method, parameters in
            switch method {
            case "GetBackgroundTimeRemaining": .reply(["seconds": nil])
            case "SetMinimumBackgroundFetchInterval": .reply(["effective": parameters["seconds"] ?? "missing"])
            default: nil
            }
        }
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        #expect(try await app.backgroundTimeRemaining == nil)
        #expect(try await app.setMinimumBackgroundFetchInterval(nil) == nil)
    }

    @Test(arguments: ["GetState", "BeginBackgroundTask"])
    func anAnswerThatMakesNoSenseIsAnError(_ method: String) async throws {
        let device = try PlayedDevice { _, _ in .reply(["state": 1, "tasks": [1], "identifier": "one"]) }
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let error = CurfewError.unexpectedAnswer("something else than the interface says, to \(method)")
        if method == "GetState" {
            await #expect(throws: error) { try await app.state() }
            await #expect(throws: error) { try await app.tasks() }
        } else {
            await #expect(throws: error) { try await app.beginBackgroundTask(named: "upload") }
        }
    }
}
