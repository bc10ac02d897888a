import Lifecycle
import Testing

/// Apps that run through sleeps (`suspend = false`) and hold a lock of their own at logind.
@Suite struct HeldLockTests {
    private static let deadline = Deadline.Reason.sleepLock(AppID(rawValue: 0))

    private func awake() -> Board {
        startedBoard([
            app("camera") {
                $0.suspend = false
                $0.handlers = []
            }
        ])
    }

    /// What time alone leads to, notices of kept locks included.
    private func pass(_ time: Nanoseconds, _ board: inout Board) throws -> [String] {
        let end = board.monotonic + time
        var lines: [String] = []
        while let deadline = board.core.nextDeadline, deadline.at <= end {
            board.monotonic = max(board.monotonic, deadline.at)
            for effect in board.handleAll(.timePassed) {
                switch effect {
                case .note(.app(.keepsLock(_, let instance))):
                    #expect(try instance == board.instance("camera"))
                    lines.append("camera keeps its lock")
                case .note, .client: break
                default: lines += board.lines([effect])
                }
            }
        }
        board.monotonic = end
        return lines
    }

    private func hold(_ board: inout Board) throws {
        #expect(try board.tell(.login(.appHoldsLock(board.instance("camera")))) == [])
    }

    private func letGo(_ board: inout Board) throws {
        #expect(try board.tell(.login(.appReleasedLock(board.instance("camera")))) == [])
    }

    private func wake(_ board: inout Board) {
        _ = board.sleepSignal(false)
        _ = board.tell(.login(.lockTaken(.sleep)))
    }

    /// The board's own lock is released at once: nothing of the app is waited for but by logind.
    private func beginSleep(_ board: inout Board) {
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
    }

    @Test func itIsNamed_andEndedAtTheSecondSleep() throws {
        var board = awake()
        beginSleep(&board)
        try hold(&board)
        #expect(try pass(.milliseconds(1999), &board) == [])
        #expect(try pass(.milliseconds(1), &board) == ["camera keeps its lock"])
        #expect(try pass(.seconds(5), &board) == [])
        wake(&board)
        beginSleep(&board)
        try hold(&board)
        #expect(try pass(.milliseconds(999), &board) == [])
        #expect(try pass(.milliseconds(1), &board) == ["camera keeps its lock", "kill camera"])
        #expect(
            board.handle(.process(.exited(try board.instance("camera"), .signalled(9)))).contains {
                if case .report(let end) = $0 { end.reason == .sleepLockHeld } else { false }
            })
    }

    @Test func itIsEndedAtTheThirdOfTen_whateverIsBetween() throws {
        var board = awake()
        for (bound, isLast) in [(2000, false), (1000, false), (500, true)] as [(Int64, Bool)] {
            beginSleep(&board)
            try hold(&board)
            #expect(
                try pass(.milliseconds(bound), &board)
                    == ["camera keeps its lock"] + (isLast ? ["kill camera"] : []))
            if isLast { break }
            wake(&board)
            beginSleep(&board)
            wake(&board)
        }
    }

    @Test func itIsNotNamed_whenItLetsGoInTime() throws {
        var board = awake()
        beginSleep(&board)
        try hold(&board)
        #expect(try pass(.milliseconds(1999), &board) == [])
        try letGo(&board)
        #expect(board.core.nextDeadline?.reason != Self.deadline)
        #expect(try pass(.seconds(10), &board) == [])
    }

    @Test func doubledWordIsOne_andAfterItsJudgementNone() throws {
        var board = awake()
        beginSleep(&board)
        try hold(&board)
        #expect(try pass(.seconds(1), &board) == [])
        try hold(&board)
        #expect(try pass(.seconds(1), &board) == ["camera keeps its lock"])
        try hold(&board)
        #expect(try pass(.seconds(5), &board) == [])
    }

    @Test func itIsNoMatter_whenTheBoardIsAwake_orIsSoAgain() throws {
        var board = awake()
        try hold(&board)
        #expect(try pass(.seconds(5), &board) == [])
        beginSleep(&board)
        try hold(&board)
        wake(&board)
        #expect(try pass(.seconds(5), &board) == [])
    }

    @Test func itIsNoMatter_whenTheBoardHasSleptMeanwhile() throws {
        var board = awake()
        beginSleep(&board)
        try hold(&board)
        board.slept = .seconds(100)
        #expect(!(try pass(.seconds(3), &board)).contains("camera keeps its lock"))
    }

    /// An operator's sleep waits for no lock at logind.
    @Test func itIsNoMatter_whenTheSleepIsNotLoginds() throws {
        var board = awake()
        _ = try board.ask(1, .sleep(start: true, logical: true))
        try hold(&board)
        #expect(try pass(.seconds(5), &board) == [])
    }

    @Test func itIsForgotten_whenTheAppEnds() throws {
        var board = awake()
        beginSleep(&board)
        try hold(&board)
        _ = board.tell(.process(.exited(try board.instance("camera"), .exited(0))))
        #expect(try !pass(.seconds(3), &board).contains("camera keeps its lock"))
    }

    /// Whether the board sleeps or not.
    @Test func oneWhoseLocksLeaveUsNoneIsEndedAtOnce_andOursIsTakenAgain() throws {
        var board = awake()
        beginSleep(&board)
        _ = board.sleepSignal(false)
        #expect(board.tell(.login(.lockRefused(.sleep))) == ["read PreparingForSleep"])
        let camera = try board.instance("camera")
        #expect(board.tell(.login(.appFillsLocks(camera))) == ["kill camera"])
        #expect(board.tell(.login(.appFillsLocks(camera))) == [])
        _ = board.tell(.process(.exited(camera, .signalled(9))))
        #expect(board.tell(.process(.groupEmptied(camera))) == ["take sleep"])
        #expect(board.tell(.login(.appFillsLocks(camera))) == [])
    }
}
