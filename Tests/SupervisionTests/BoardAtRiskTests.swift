import CLinux
import Configuration
import EventLoop
import Journal
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

/// What a board that is about to be reset says: it has to outlive the reset.
@Suite struct BoardAtRiskTests {
    /// journald writes to the disk at once what is critical or worse, and everything else minutes later.
    @Test func anEssentialAppThatIsLostIsSaidSoThatItIsWrittenAtOnce() throws {
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
        supervisor.say(.app(.essentialAppLost(AppID(rawValue: 7), reset: .seconds(20))))
        writer.close()
        let said = String(decoding: try reader.readAll(limit: 4096), as: UTF8.self)
        #expect(said.hasPrefix("critical: app 7: is essential and gone for good: "))
        #expect(said.contains("the board resets in 20 s"))
    }
}
