import Testing
import Varlink

@testable import Curfew

/// A call of the device's: what the delegate notes, and what it is answered.
struct HandlerSample: Sendable, CustomTestStringConvertible {
    let method: String
    var parameters: JSONObject = [:]
    var argument = ""
    var reply: JSONObject = [:]
    var oneway = false

    var testDescription: String { method }

    static let all = [
        HandlerSample(method: "DidFinishLaunching", parameters: ["reason": "boot"], argument: " boot"),
        HandlerSample(method: "DidBecomeActive"),
        HandlerSample(method: "WillResignActive"),
        HandlerSample(method: "DidEnterBackground"),
        HandlerSample(method: "WillEnterForeground", parameters: ["deadline": 2.5], argument: " 2.5 seconds"),
        HandlerSample(method: "WillTerminate", parameters: ["reason": "user"], argument: " user"),
        HandlerSample(
            method: "BackgroundTaskWillExpire", parameters: ["identifier": 7, "name": "upload"], argument: " 7 upload"),
        HandlerSample(method: "PerformFetch", reply: ["result": "newData"]),
        HandlerSample(
            method: "DidReceiveRemoteNotification", parameters: ["payload": ["command": "sync", "n": [1, nil]]],
            argument: " sync", reply: ["result": "newData"]),
        HandlerSample(
            method: "HandleEventsForBackgroundSession", parameters: ["session": "maps"], argument: " maps"),
        HandlerSample(
            method: "DidReceiveMemoryWarning", parameters: ["level": "warning"], argument: " warning", oneway: true),
        HandlerSample(
            method: "PowerStateDidChange",
            parameters: ["externalPower": false, "batteryLevel": 0.5, "lowPowerMode": true],
            argument: " false 0.5 true", oneway: true),
        HandlerSample(
            method: "ThermalStateDidChange", parameters: ["state": "serious"], argument: " serious", oneway: true),
    ]
}

@Suite(.timeLimit(.minutes(1))) struct HandlerTests {
    @Test(arguments: HandlerSample.all) func theDelegateIsCalled(_ sample: HandlerSample) async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate()
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        #expect(app.isSupervised && app.name == "played")
        if sample.oneway {
            device.send(sample.method, sample.parameters, oneway: true)
        } else {
            let answer = await device.call(sample.method, sample.parameters)
            #expect(answer == .reply(sample.reply, continues: false))
        }
        #expect(await delegate.events.next(2) == [sample.method + sample.argument, sample.method + " done"])
    }

    @Test(arguments: HandlerSample.all) func whatIsNotOverriddenReturnsAtOnce(_ sample: HandlerSample) async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        if sample.oneway { device.send(sample.method, sample.parameters, oneway: true) }
        // The next call is answered after it.
        let answer = await device.call(
            sample.oneway ? "DidBecomeActive" : sample.method, sample.parameters(sample.oneway))
        #expect(answer == .reply(sample.reply.isEmpty ? [:] : ["result": "noData"], continues: false))
    }

    @Test func handlersNeverOverlap_whateverIsSentAtOnce() async throws {
        let device = try PlayedDevice()
        let goOn = Latch()
        let delegate = NotingDelegate { _, handler in if handler == "WillResignActive" { await goOn.wait() } }
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        device.send("WillResignActive")
        #expect(await delegate.events.next() == ["WillResignActive"])
        device.send("DidReceiveMemoryWarning", ["level": "warning"], oneway: true)
        device.send("ThermalStateDidChange", ["state": "fair"], oneway: true)
        device.send("DidReceiveMemoryWarning", ["level": "critical"], oneway: true)
        device.send("DidEnterBackground")
        goOn.open()
        // Of each kind of information the latest is enough.
        #expect(
            await delegate.events.next(7) == [
                "WillResignActive done", "DidReceiveMemoryWarning critical", "DidReceiveMemoryWarning done",
                "ThermalStateDidChange fair", "ThermalStateDidChange done", "DidEnterBackground",
                "DidEnterBackground done",
            ])
        #expect(await device.events.next(2) == ["returned WillResignActive", "returned DidEnterBackground"])
    }

    @Test func aDeadlineCountsFromTheCall_notFromTheHandler() async throws {
        let before = SuspendingClock.now
        let deadline = Deadline(after: .seconds(5))
        #expect(deadline.timeAllowance == .seconds(5))
        #expect(deadline.instant >= before.advanced(by: .seconds(5)))
        #expect(deadline.timeRemaining <= .seconds(5) && deadline.timeRemaining > .zero)
        #expect(Deadline(after: .seconds(1), from: before.advanced(by: .seconds(-2))).timeRemaining == .zero)
    }

    @Test(arguments: ["DidEnterBackground", "PerformFetch"])
    func aHandlerThatThrowsHasReturned(_ method: String) async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate { _, _ in throw Failure() }
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        let answer = await device.call(method)
        #expect(answer == .reply(method == "PerformFetch" ? ["result": "failed"] : [:], continues: false))
        let name = method.prefix(1).lowercased() + method.dropFirst()
        #expect(await device.events.next() == ["said: \(name) failed: Failure()"])
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
    }

    @Test func callsThatDoNotFitAreRefused_andTheNextIsServed() async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate()
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        let refusals: [(String, JSONObject, ServiceError)] = [
            ("Levitate", [:], .methodNotFound(method: "io.curfew.Delegate.Levitate")),
            ("DidFinishLaunching", ["reason": "boredom"], .invalidParameter(parameter: "reason")),
            ("DidEnterBackground", ["deadline": "soon"], .invalidParameter(parameter: "deadline")),
            ("WillTerminate", [:], .invalidParameter(parameter: "reason")),
        ]
        for (method, parameters, error) in refusals {
            #expect(await device.call(method, parameters) == .error(name: error.name, parameters: error.parameters))
        }
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
        #expect(await delegate.events.all() == ["DidBecomeActive", "DidBecomeActive done"])
    }

    @Test func aDeadlineBeyondAllBoundsIsALongOne() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: NotingDelegate(), try device.environment())
        defer { app.stop() }
        for deadline in [1e300, -1e300, 0] {
            #expect(
                await device.call("DidBecomeActive", ["deadline": .number(deadline)]) == .reply([:], continues: false))
        }
    }

    @Test func runReturns_whenWillTerminateHas() async throws {
        let device = try PlayedDevice()
        let goOn = Latch()
        let delegate = NotingDelegate { _, _ in await goOn.wait() }
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        let run = Task {
            try await app.run()
            delegate.events.note("ran")
        }
        device.send("WillTerminate", ["reason": "shutdown"])
        #expect(await delegate.events.next() == ["WillTerminate shutdown"])
        goOn.open()
        #expect(await delegate.events.next(2) == ["WillTerminate done", "ran"])
        #expect(await device.events.next() == ["returned WillTerminate"])
        try await run.value
    }

    @Test func runEndsWithItsTask_andTheAppGoesOn() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: NotingDelegate(), try device.environment())
        defer { app.stop() }
        let run = Task { try await app.run() }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
    }

    @Test func aHandlerMayAskTheDevice() async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate { app, _ in
            let task = try await app.beginBackgroundTask(named: "upload")
            try await app.endBackgroundTask(task)
        }
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        await device.call("DidEnterBackground")
        #expect(
            await device.events.next(3) == [
                "BeginBackgroundTask upload", "EndBackgroundTask 1", "returned DidEnterBackground",
            ])
    }
}

extension HandlerSample {
    fileprivate func parameters(_ ofAnother: Bool) -> JSONObject { ofAnother ? [:] : parameters }
}
