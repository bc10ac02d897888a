import CLinux
import EventLoop
import SystemCalls
import Testing

@Suite struct EventLoopTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func run_returnsTheExitCode() throws {
        loop.post { loop.exit(code: 7) }
        #expect(try loop.run() == 7)
    }

    @Test func runOnce_returnsFalseWhenNothingComesInTime() throws {
        #expect(try loop.runOnce(timeoutMicroseconds: 1000) == false)
    }

    @Test func post_runsInOrderAndOnceEach() throws {
        var order: [Int] = []
        loop.post {
            order.append(1)
            loop.post { order.append(3) }
        }
        loop.post { order.append(2) }
        #expect(try loop.runOnce(timeoutMicroseconds: 0))
        #expect(order == [1, 2])
        #expect(try loop.runOnce(timeoutMicroseconds: 0))
        #expect(order == [1, 2, 3])
        #expect(try loop.runOnce(timeoutMicroseconds: 0) == false)
    }

    @Test func handlers_areFreedWithTheLoop_evenWhenTheyNeverRan() throws {
        let alive = Lifetimes()
        do {
            let loop = try EventLoop()
            let first = alive.token()
            let second = alive.token()
            loop.post { _ = first }
            let timer = try loop.timer { _ = second }
            timer.arm(at: Int64.max)
            #expect(alive.count == 2)
        }
        #expect(alive.count == 0)
    }

    @Test func serviceWatchdog_pingsTwiceInItsTime_andOnlyWhenAskedFor() throws {
        var pings: [Int64] = []
        #expect(try loop.enableServiceWatchdog { pings.append(Clocks.monotonic) } == nil)
        #expect(pings.isEmpty)
        setenv("WATCHDOG_USEC", "100000", 1)
        #expect(try loop.enableServiceWatchdog { pings.append(Clocks.monotonic) } == 100_000)
        #expect(getenv("WATCHDOG_USEC") == nil)
        #expect(pings.count == 1)
        // Late as this loop may be, it is as late with a timer that goes after the other at the end of the time.
        var pingsInTime: Int?
        let end = try loop.timer(priority: EventLoop.Priority.normal + 1) { pingsInTime = pings.count }
        end.arm(at: pings[0] + 95_000_000)
        try loop.run { pings.count == 4 }
        for (earlier, later) in zip(pings, pings.dropFirst()) { #expect(later - earlier >= 50_000_000) }
        #expect(try #require(pingsInTime) >= 2)
    }
}
