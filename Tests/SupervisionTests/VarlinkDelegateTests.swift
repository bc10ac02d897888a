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
        let process = AppProcess(InstanceID(rawValue: 1), app, shell.supervisor, group: nil)
        let delegate = try VarlinkDelegate(process, shell.supervisor)
        delegate.deliver(CallID(rawValue: 1), .didEnterBackground, allowance: .seconds(30))
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
}
