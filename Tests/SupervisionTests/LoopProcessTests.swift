import CLinux
import Testing

@testable import Keeper

/// When the next loop begins.
@Suite struct LoopProcessTests {
    private static let second: Int64 = 1_000_000_000

    /// After lives of so many seconds, how many later the next one begins.
    private func delays(_ lives: [Int64]) -> [Int64] {
        var loop = LoopProcess()
        var now = 1000 * Self.second
        return lives.map { life in
            loop.began(77, -1, at: now)
            now += life * Self.second
            loop.ended(linux_exit(code: linux_code_dumped, status: SIGKILL, cpu_ns: 0, max_rss_bytes: 0), at: now)
            defer { now = loop.startDue }
            return (loop.startDue - now) / Self.second
        }
    }

    @Test func eachDeathInARow_isFollowedLater() {
        #expect(delays([1, 1, 1, 1, 1, 1, 1]) == [0, 1, 2, 4, 8, 8, 8])
    }

    @Test func aLifeOfAMinute_isFollowedAtOnce_andTheDeathAfterItSoon() {
        #expect(delays([1, 1, 1, 1, 61, 1, 1]) == [0, 1, 2, 4, 0, 1, 2])
        #expect(delays([61, 61, 61]) == [0, 0, 0])
    }
}
