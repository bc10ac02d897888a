import SystemCalls
import Testing

@testable import Supervision

/// What is said when there are no descriptors for clients.
@Suite struct TurnedAwayTests {
    @Test func itIsSaidAgainAfterAMinute() throws {
        let shell = try SilentShell()
        let interfaces = Interfaces(shell.supervisor)
        let error = SystemError("accept", "/x", errno: .tooManyFiles)
        // Soon after the board's start, too.
        for second: Int64 in [1, 2, 60, 61, 100, 121, 500, 501] {
            interfaces.noteFull(error, at: second * 1_000_000_000)
        }
        let line = "warning: clients are turned away: \(error.text)\n"
        #expect(try shell.said() == String(repeating: line, count: 4))
    }
}
