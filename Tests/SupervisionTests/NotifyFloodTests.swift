import CLinux
import EventLoop
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

@Suite struct NotifyFloodTests {
    /// The timer waits behind the socket, which is readable for ever.
    @Test func whatIsDueIsJudged_howeverMuchAnAppSays() throws {
        let shell = try PlayedShell(["loud": "exec = [\"/bin/sleep\", \"1000\"]\nreadiness = \"notify\"\n"])
        let supervisor = shell.supervisor
        try shell.run { supervisor.apps[0]?.process != nil }
        let socket = FileDescriptor(owning: CLinux.socket(AF_UNIX, linux_datagram_type, 0))
        _ = linux_set_flags(socket.rawValue, O_NONBLOCK)
        let path = try #require(supervisor.apps[0]?.notify?.path)
        try #require(linux_unix_connect(socket.rawValue, path) == 0)
        let due = try #require(supervisor.core.nextDeadline).at
        supervisor.skipped = 3_600_000_000_000
        for _ in 0..<100 where supervisor.core.nextDeadline?.at == due {
            while linux_unix_send(socket.rawValue, Array("STATUS=x".utf8), 8) == 8 {}
            _ = try shell.loop.runOnce(timeoutMicroseconds: 0)
        }
        #expect(supervisor.core.nextDeadline?.at != due)
    }
}
