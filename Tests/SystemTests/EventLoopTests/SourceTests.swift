import CLinux
import EventLoop
import SystemCalls
import Testing

@Suite struct SourceTests {
    let loop: EventLoop
    let alive = Lifetimes()

    init() throws { loop = try EventLoop() }

    @Test func watch_reportsReadableAndHangup() throws {
        let pipe = try PipePair()
        var seen: [IOReadiness] = []
        let source = try loop.watch(pipe.reader.rawValue, .readable) { seen.append($0) }
        #expect(try loop.runOnce(timeoutMicroseconds: 0) == false)
        try FileDescriptor.writeAll([1], to: pipe.writer.rawValue)
        try loop.runOnce(timeoutMicroseconds: 0)
        #expect(seen == [.readable])
        var byte: UInt8 = 0
        #expect(read(pipe.reader.rawValue, &byte, 1) == 1)
        try source.setInterest([])
        let other = try PipePair()
        let writerGone = try loop.watch(other.reader.rawValue, []) { seen.append($0) }
        try other.closeWriter()
        // Children of other tests may hold it until they are their programs.
        try loop.run { seen.count > 1 }
        #expect(seen == [.readable, .hangup])
        try writerGone.setEnabled(false)
        #expect(try loop.runOnce(timeoutMicroseconds: 0) == false)
        withExtendedLifetime(source) {}
    }

    @Test func watch_ofARegularFile_isAnErrorThatLeaksNothing() throws {
        let file = try FileDescriptor.open("/proc/self/exe", O_RDONLY)
        do {
            let token = alive.token()
            let error = #expect(throws: SystemError.self) {
                try loop.watch(file.rawValue, .readable) { _ in _ = token }
            }
            #expect(error?.errno == .notPermitted)
        }
        #expect(alive.count == 0)
    }

    @Test func cancel_inItsOwnHandler_isSafe_andFreesTheHandler() throws {
        let pipe = try PipePair()
        try FileDescriptor.writeAll([1], to: pipe.writer.rawValue)
        var source: IOSource?
        var calls = 0
        do {
            let token = alive.token()
            source = try loop.watch(pipe.reader.rawValue, .readable) { [alive] _ in
                calls += 1
                source = nil
                // Still whole: what it captured lives until it returns.
                #expect(alive.count == 1)
                _ = token
            }
        }
        #expect(source != nil)
        try loop.turn()
        #expect(calls == 1)
        #expect(alive.count == 0)
    }

    @Test func cancel_ofAnotherSourceThatIsReadyToo_keepsItFromRunning() throws {
        let pipe = try PipePair()
        try FileDescriptor.writeAll([1], to: pipe.writer.rawValue)
        var calls: [String] = []
        var sources: [IOSource] = []
        for name in ["a", "b"] {
            let copy = try pipe.reader.duplicate().take()
            sources.append(
                try loop.watch(copy, .readable) { _ in
                    calls.append(name)
                    for source in sources { source.cancel() }
                    close(copy)
                })
        }
        try loop.turn()
        #expect(calls.count == 1)
    }

    @Test func priorities_decideTheOrder() throws {
        let pipe = try PipePair()
        try FileDescriptor.writeAll([1], to: pipe.writer.rawValue)
        var order: [String] = []
        var sources: [IOSource] = []
        var copies: [Int32] = []
        for (name, priority) in [("last", Int64.max), ("normal", 0), ("first", Int64.min)] {
            let copy = try pipe.reader.duplicate().take()
            sources.append(
                try loop.watch(copy, .readable, priority: priority) { _ in order.append(name) })
            copies.append(copy)
        }
        for _ in 0..<3 {
            try loop.runOnce(timeoutMicroseconds: 0)
            let index = ["last", "normal", "first"].firstIndex(of: order.last ?? "")
            sources[try #require(index)].cancel()
        }
        #expect(order == ["first", "normal", "last"])
        for copy in copies { close(copy) }
    }

    @Test func timer_isNeverEarly_andCloseToTheTime() throws {
        var fired: Int64 = 0
        let timer = try loop.timer { fired = Clocks.monotonic }
        var close = 0
        for offset: Int64 in [1, 999, 2_000_001, 3_000_999, 3_123_457, 4_001_001, 5_000_000, 5_000_999] {
            let due = Clocks.monotonic + offset
            timer.arm(at: due)
            fired = 0
            // In one wait: any wake-up in between would take the timer along.
            try loop.runOnce(timeoutMicroseconds: 5_000_000)
            #expect(fired >= due)
            if fired - due < 20_000_000 { close += 1 }
        }
        // The default accuracy of sd-event would be up to 250 ms; another process may take the processor now and then.
        #expect(close >= 5)
    }

    @Test func timer_roundsUpToMicroseconds() {
        #expect([Int64.min, -1, 0, 1].map(TimerSource.microseconds) == [0, 0, 0, 1])
        #expect([999, 1000, 1001].map(TimerSource.microseconds) == [1, 1, 2])
        #expect(TimerSource.microseconds(notBefore: Int64.max) == 9_223_372_036_854_776)
    }

    @Test func timer_firesOnce_andCanBeRearmedAndDisarmed() throws {
        var count = 0
        let timer = try loop.timer { count += 1 }
        #expect(try loop.runOnce(timeoutMicroseconds: 2000) == false)
        timer.arm(at: 0)
        try loop.turn()
        #expect(count == 1)
        timer.arm(at: Clocks.monotonic + 1_000_000)
        timer.disarm()
        #expect(try loop.runOnce(timeoutMicroseconds: 3000) == false)
        timer.arm(at: Int64.min)
        try loop.turn()
        #expect(count == 2)
        timer.arm(at: Int64.max)
        #expect(try loop.runOnce(timeoutMicroseconds: 2000) == false)
    }

    @Test func timer_releasedInItsOwnHandler_isFreed() throws {
        var timer: TimerSource?
        do {
            let token = alive.token()
            timer = try loop.timer {
                timer = nil
                _ = token
            }
        }
        timer?.arm(at: 0)
        try loop.turn()
        #expect(timer == nil)
        #expect(alive.count == 0)
    }

    @Test(.enabled(if: ClockJump.isAllowed, "needs CAP_SYS_TIME")) func clockChange_isReportedEachTime() throws {
        var changes = 0
        do {
            let token = alive.token()
            let source = try loop.clockChange {
                changes += 1
                _ = token
            }
            #expect(try loop.runOnce(timeoutMicroseconds: 0) == false)
            try ClockJump.thereAndBack()
            try loop.run { changes >= 1 }
            let before = changes
            try ClockJump.thereAndBack()
            try loop.run { changes > before }
            source.cancel()
        }
        #expect(alive.count == 0)
    }

    @Test func descriptors_areAllClosedAtTheEnd() throws {
        // In a process with other tests around: counts only what is a timerfd or an epoll of ours by making many.
        for _ in 0..<2000 {
            let loop = try EventLoop()
            let change = try loop.clockChange {}
            let timer = try loop.timer {}
            timer.arm(at: 0)
            try loop.runOnce(timeoutMicroseconds: 0)
            change.cancel()
        }
        #expect(try Files.list("/proc/self/fd").count < 1000)
    }
}

/// Steps CLOCK_REALTIME by a microsecond and back: adjtimex(2) with ADJ_SETOFFSET.
enum ClockJump {
    static let isAllowed: Bool = (try? thereAndBack()) != nil

    static func thereAndBack() throws {
        let script = """
            import ctypes, sys
            class Timex(ctypes.Structure):
                _fields_ = [("modes", ctypes.c_uint), ("a", ctypes.c_long * 8), ("sec", ctypes.c_long),
                            ("usec", ctypes.c_long), ("rest", ctypes.c_char * 256)]
            step = lambda sec, usec: ctypes.CDLL(None).adjtimex(ctypes.byref(Timex(modes=0x0100, sec=sec, usec=usec)))
            sys.exit(0 if step(0, 1) >= 0 and step(-1, 999999) >= 0 else 1)
            """
        let status = try Program("/usr/bin/python3", ["-c", script]).wait()
        guard status == 0 else { throw SystemError("adjtimex", errno: .notPermitted) }
    }
}
