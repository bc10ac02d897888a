import CLinux
import SystemCalls
import Testing
import Varlink

@testable import Curfew

/// What is lost is made again.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    /// Does what a test says at the first call of a method, and what a device does from then on.
    static func once(_ method: String, _ answer: PlayedDevice.Answer) -> PlayedDevice.Script {
        let isFirst = Once()
        return { called, _ in called == method && isFirst.take() ? answer : nil }
    }

    // MARK: io.curfew.Application

    @Test func aLostConnectionIsMadeAgain() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        for _ in 0..<5 {
            #expect(try await app.backgroundTimeRemaining != nil)
            device.closeClients()
        }
        #expect(await device.events.all() == Array(repeating: "GetBackgroundTimeRemaining", count: 5))
    }

    @Test func aQuestionIsAskedAgain() async throws {
        let device = try PlayedDevice(Self.once("GetState", .hangUp))
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        #expect(try await app.state().name == "played")
        #expect(await device.events.all() == ["GetState", "GetState"])
    }

    @Test func aBeginIsNotAskedAgain_asItMayHaveBeenDone() async throws {
        let device = try PlayedDevice(Self.once("BeginBackgroundTask", .hangUp))
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let error = await #expect(throws: CurfewError.self) { try await app.beginBackgroundTask(named: "upload") }
        #expect("\(try #require(error))".contains("lost before the answer came"))
        _ = try await app.beginBackgroundTask(named: "another")
        #expect(await device.events.all() == ["BeginBackgroundTask upload", "BeginBackgroundTask another"])
    }

    @Test func anEndIsAskedAgain() async throws {
        let device = try PlayedDevice(Self.once("EndBackgroundTask", .hangUp))
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        try await app.withBackgroundTask(named: "upload") { _ in }
        #expect(device.heldTasks.isEmpty)
        #expect(
            await device.events.all() == ["BeginBackgroundTask upload", "EndBackgroundTask 1", "EndBackgroundTask 1"])
    }

    @Test func anEndIsDoneAfterAll_whenTheDeviceIsBack() async throws {
        let device = try PlayedDevice()
        let environment = try device.environment(patience: .milliseconds(200))
        let app = try await Application.start(delegate: SilentDelegate(), environment)
        defer { app.stop() }
        let task = try await app.beginBackgroundTask(named: "upload")
        device.die()
        let error = await #expect(throws: CurfewError.self) { try await app.endBackgroundTask(task) }
        #expect("\(try #require(error))".contains(device.path))
        #expect(device.heldTasks == ["upload"])
        try device.listen()
        #expect(await device.events.until("EndBackgroundTask 1"))
    }

    @Test func callsWaitForADeviceThatComes() async throws {
        let device = try PlayedDevice(listens: false)
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        defer { app.stop() }
        let state = Task { try await app.state() }
        let task = Task { try await app.beginBackgroundTask(named: "upload") }
        try device.listen()
        #expect(try await state.value.name == "played")
        #expect(try await task.value.name == "upload")
    }

    @Test func callsDoNotWaitForEver() async throws {
        let device = try PlayedDevice(listens: false)
        let environment = try device.environment(patience: .milliseconds(100))
        let app = try await Application.start(delegate: SilentDelegate(), environment)
        defer { app.stop() }
        let error = await #expect(throws: CurfewError.self) { try await app.state() }
        #expect(error == .connectionLost("connect \(device.path): No such file or directory"))
        await #expect(throws: CurfewError.self) { try await app.beginBackgroundTask(named: "upload") }
    }

    @Test func aGrantThatComesTooLateIsGivenBack() async throws {
        let device = try PlayedDevice { method, _ in method == "BeginBackgroundTask" ? .hold : nil }
        let environment = try device.environment(patience: .milliseconds(100))
        let app = try await Application.start(delegate: SilentDelegate(), environment)
        defer { app.stop() }
        let error = await #expect(throws: CurfewError.self) { try await app.beginBackgroundTask(named: "upload") }
        #expect(error == .connectionLost("it is there, but takes too long"))
        device.answerHeld { _ in ["identifier": 9, "timeRemaining": nil] }
        #expect(await device.events.until("EndBackgroundTask 9"))
    }

    @Test func afterStopCallsThrow() async throws {
        let device = try PlayedDevice { method, _ in method == "GetState" ? .hold : nil }
        let app = try await Application.start(delegate: SilentDelegate(), try device.environment())
        let waiting = Task { try await app.state() }
        #expect(await device.events.until("GetState"))
        app.stop()
        await #expect(throws: CurfewError.self) { try await waiting.value }
        await #expect(throws: CurfewError.self) { try await app.backgroundTimeRemaining }
        #expect(await device.events.until("lost"))
    }

    // MARK: io.curfew.Delegate

    @Test func withoutAnInheritedSocketTheAppAttaches() async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate()
        let app = try await Application.start(delegate: delegate, try device.environment(inherits: false))
        defer { app.stop() }
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
        #expect(await delegate.events.next() == ["DidBecomeActive"])
        #expect(await device.events.next() == ["AttachDelegate"])
    }

    enum Wreck: CaseIterable { case closed, file, datagram }

    @Test(arguments: Wreck.allCases) func aDescriptorThatIsNoneOfOursIsLeftAlone(_ wreck: Wreck) async throws {
        let device = try PlayedDevice()
        var environment = try device.environment(inherits: false)
        let file = try FileDescriptor.open("/dev/null", O_RDONLY)
        environment.delegate =
            switch wreck {
            // Far beyond what any test has open.
            case .closed: 900_000
            case .file: file.rawValue
            case .datagram: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            }
        let app = try await Application.start(delegate: NotingDelegate(), environment)
        defer { app.stop() }
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
        if wreck != .closed, let descriptor = environment.delegate { #expect(linux_get_flags(descriptor) >= 0) }
        if wreck == .datagram, let descriptor = environment.delegate { close(descriptor) }
    }

    @Test func aSocketWhoseServerIsGoneIsReplaced() async throws {
        let device = try PlayedDevice()
        var environment = try device.environment(inherits: false)
        let pair = try SocketPair()
        environment.delegate = pair.theirs.take()
        pair.ours.close()
        let app = try await Application.start(delegate: NotingDelegate(), environment)
        defer { app.stop() }
        #expect(await device.events.until("AttachDelegate"))
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
    }

    @Test func aLostDelegateIsAttachedAgain_asOftenAsNeeded() async throws {
        let device = try PlayedDevice()
        let delegate = NotingDelegate()
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        for _ in 0..<4 {
            device.closeDelegate()
            #expect(await device.events.until("AttachDelegate"))
            #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
        }
    }

    @Test func aDeviceThatDiesAndComesBackFindsItsApp() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: NotingDelegate(), try device.environment())
        defer { app.stop() }
        device.die()
        #expect(await device.events.until("lost"))
        try device.listen()
        #expect(await device.events.until("AttachDelegate"))
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
    }

    @Test func aHandlerGoesOnWhileItsConnectionIsLost() async throws {
        let device = try PlayedDevice()
        let goOn = Latch()
        let delegate = NotingDelegate { _, handler in if handler == "DidEnterBackground" { await goOn.wait() } }
        let app = try await Application.start(delegate: delegate, try device.environment())
        defer { app.stop() }
        device.send("DidEnterBackground")
        device.send("WillEnterForeground")
        #expect(await delegate.events.next() == ["DidEnterBackground"])
        device.closeDelegate()
        #expect(await device.events.until("AttachDelegate"))
        device.send("DidBecomeActive")
        goOn.open()
        #expect(await device.events.until("returned DidBecomeActive"))
        // The call that was lost before it began is the device's to make again.
        #expect(
            await delegate.events.all() == ["DidEnterBackground done", "DidBecomeActive", "DidBecomeActive done"])
    }

    @Test func whatIsNoVarlinkEndsTheConnection_andANewOneIsMade() async throws {
        let device = try PlayedDevice()
        let app = try await Application.start(delegate: NotingDelegate(), try device.environment())
        defer { app.stop() }
        device.sendRaw("}}} no JSON {{{\0")
        #expect(await device.events.until("AttachDelegate"))
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
    }

    @Test func anAppWithoutAVarlinkDelegateIsTold_andMayHoldTasks() async throws {
        let device = try PlayedDevice { method, _ in
            guard method == "AttachDelegate" else { return nil }
            return .error("io.curfew.Application.DelegateDenied", ["reason": "its delegate is \"hooks\""])
        }
        let app = try await Application.start(delegate: NotingDelegate(), try device.environment(inherits: false))
        defer { app.stop() }
        try await app.withBackgroundTask(named: "upload") { _ in }
        #expect(
            await device.events.all() == [
                "AttachDelegate", "said: handlers are not called: its delegate is \"hooks\"",
                "BeginBackgroundTask upload", "EndBackgroundTask 1",
            ])
    }

    @Test func aDeviceThatDoesNotKnowTheAppYetIsAskedAgain() async throws {
        let refusals = Once(3)
        let device = try PlayedDevice { method, _ in
            guard method == "AttachDelegate", refusals.take() else { return nil }
            return .error("io.curfew.Application.NotAnApp", [:])
        }
        let app = try await Application.start(delegate: NotingDelegate(), try device.environment(inherits: false))
        defer { app.stop() }
        var tries: [String] = []
        while tries.filter({ $0 == "AttachDelegate" }).count < 4, let event = await device.events.next().first {
            tries.append(event)
        }
        // It is said once.
        #expect(tries.filter { $0.hasPrefix("said: handlers are not called for now: ") }.count == 1)
        #expect(await device.call("DidBecomeActive") == .reply([:], continues: false))
    }
}
