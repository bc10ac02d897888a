import CLinux
import Configuration
import EventLoop
import Journal
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

/// What is said when there are no descriptors for clients.
@Suite struct TurnedAwayTests {
    @Test func itIsSaidAgainAfterAMinute() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let reader = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        let journal = Journal(identifier: "curfewd", socketPath: nil, standardError: writer.rawValue)
        let loop = try EventLoop()
        let keeper = try TestKeeper(loop)
        let supervisor = try Supervisor(
            loop: loop, keeper: keeper.loopSide, paths: RuntimePaths(root: "/nonexistent"), log: Log(journal: journal),
            groups: nil, configuration: Configuration.load(paths: ConfigurationPaths(root: "/nonexistent")))
        let interfaces = Interfaces(supervisor)
        let error = SystemError("accept", "/x", errno: .tooManyFiles)
        // Soon after the board's start, too.
        for second: Int64 in [1, 2, 60, 61, 100, 121, 500, 501] {
            interfaces.noteFull(error, at: second * 1_000_000_000)
        }
        writer.close()
        let said = String(decoding: try reader.readAll(limit: 4096), as: UTF8.self)
        let line = "warning: clients are turned away: \(error.text)\n"
        #expect(said == String(repeating: line, count: 4))
    }
}
