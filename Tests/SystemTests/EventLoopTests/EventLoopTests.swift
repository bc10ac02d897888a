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

    @Test func beforeWaiting_runsAfterTheHandlersOfARound_andNotWithoutAny() throws {
        var order: [String] = []
        let round = try loop.beforeWaiting(priority: EventLoop.Priority.idle) { order.append("round") }
        #expect(try loop.runOnce(timeoutMicroseconds: 0) == false)
        let first = try loop.timer { order.append("first") }
        let second = try loop.timer { order.append("second") }
        first.arm(at: 0)
        second.arm(at: 1)
        try loop.turn()
        #expect(order == ["first", "second", "round"])
        round.cancel()
        first.arm(at: 0)
        try loop.turn()
        #expect(order == ["first", "second", "round", "first"])
    }

    @Test func beforeWaiting_atNormalPriority_isNotStarvedByASourceThatIsAlwaysReady() throws {
        let pipe = try PipePair()
        try FileDescriptor.writeAll([1], to: pipe.writer.rawValue)
        var reads = 0
        var rounds = 0
        let source = try loop.watch(pipe.reader.rawValue, .readable) { _ in reads += 1 }
        let round = try loop.beforeWaiting { rounds += 1 }
        for _ in 0..<100 { try loop.runOnce(timeoutMicroseconds: 0) }
        #expect(reads >= 20)
        #expect(rounds >= 20)
        source.cancel()
        round.cancel()
    }

    @Test func signals_areTakenInTheLoop() throws {
        var received: [ReceivedSignal] = []
        let source = try loop.signals([SIGUSR1, SIGUSR2]) { received.append($0) }
        // To this thread, as the process has others that do not block it.
        raise(SIGUSR2)
        try loop.runOnce(timeoutMicroseconds: 5_000_000)
        #expect(received.map(\.number) == [SIGUSR2])
        #expect(received.first?.senderPID == getpid())
        source.cancel()
    }

    @Test func signals_freeTheirHandlers() throws {
        let alive = Lifetimes()
        var source: SignalSource?
        do {
            let token = alive.token()
            source = try loop.signals([SIGUSR1, SIGUSR2]) { _ in _ = token }
        }
        #expect(alive.count == 1)
        #expect(source != nil)
        source = nil
        #expect(alive.count == 0)
    }

    @Test func signals_twiceForOneSignal_isAnErrorThatLeaksNothing() throws {
        let alive = Lifetimes()
        let source = try loop.signals([SIGUSR1]) { _ in }
        do {
            let token = alive.token()
            let error = #expect(throws: SystemError.self) { try loop.signals([SIGUSR1]) { _ in _ = token } }
            #expect(error?.errno == .busy)
        }
        #expect(alive.count == 0)
        source.cancel()
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
