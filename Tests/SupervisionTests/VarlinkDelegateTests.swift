import Configuration
import ProcessControl
import SystemCalls
import Testing
import Varlink

@testable import Lifecycle
@testable import Supervision

@Suite struct VarlinkDelegateTests {
    /// The connection is another one, the time is what is left.
    @Test func aCallUnderWay_isMadeAgainOverANewConnection_withTheTimeThatIsLeft() throws {
        let shell = try PlayedShell()
        let app = SupervisedApp(
            AppID(rawValue: 0), AppConfiguration(name: "app", exec: ["/bin/true"]), OwnUsers(directory: "/nonexistent"))
        let (instance, call) = try backgroundCall(shell.supervisor)
        let process = AppProcess(instance, app, shell.supervisor, group: nil)
        let delegate = try VarlinkDelegate.make(process, shell.supervisor)
        delegate.deliver(call, .didEnterBackground, allowance: .seconds(30))
        let pair = try SocketPair()
        let ours = Connection(owning: pair.ours, role: .client)
        let theirs = Connection(owning: pair.theirs, role: .server)
        var heard: [(method: String, deadline: Double?)] = []
        theirs.onRequest = { heard.append(($0.methodName, $0.parameters["deadline"]?.doubleValue)) }
        delegate.attach(ours)
        theirs.onReadable()
        #expect(heard.map(\.method) == ["DidEnterBackground"])
        let left = try #require(heard.first?.deadline)
        // A test may lose the processor for a while.
        #expect(left > 10 && left <= 30)
        delegate.close()
        theirs.close()
    }

    /// Of an app whose core has just called it.
    private func backgroundCall(_ supervisor: Supervisor) throws -> (InstanceID, CallID) {
        var policy = AppPolicy(name: "app")
        policy.launch = .boot
        policy.allowances[.didEnterBackground] = .seconds(30)
        policy.handlers = HandlerSet(.didEnterBackground)
        var core = DeviceLifecycle()
        func hear(_ event: Event) -> [Effect] { core.handle(event, at: supervisor.now) }
        _ = hear(.configured([policy], DevicePolicy()))
        _ = hear(.started)
        let instance = try #require(core.instances.first)
        _ = hear(.process(.spawned(instance)))
        let asked = ClientRequest.background(AppID(rawValue: 0))
        let effects = hear(.client(.requested(RequestID(rawValue: 1), asked)))
        let call = effects.compactMap { effect in
            if case .app(.call(_, let call, .didEnterBackground, _)) = effect { call } else { nil }
        }
        supervisor.core = core
        return (instance, try #require(call.first))
    }
}
