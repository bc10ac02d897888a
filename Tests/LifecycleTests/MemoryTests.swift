import Testing

@testable import Lifecycle

/// What is known of memory, and which apps go for it, without a board.
@Suite struct MemoryTests {
    /// Read critical at second 100, of 100 bytes.
    private static func read(_ available: Int64, _ level: MemoryLevel = .critical) -> (memory: Memory, ends: Bool) {
        var memory = Memory()
        _ = memory.heard(level, at: .seconds(100))
        let ends = memory.didRead(available: available, total: 100, at: .seconds(100))
        return (memory, ends)
    }

    @Test func itIsReadOnce_untilTheAnswerIsThereOrOverdue() {
        var memory = Memory()
        let isAsked = memory.heard(.warning, at: .seconds(1))
        let isAskedAgain = memory.heard(.critical, at: .seconds(2))
        #expect(isAsked && !isAskedAgain && memory.askedLevel == .warning)
        #expect(memory.nextDeadline == Deadline(at: .seconds(11), reason: .memory))
        #expect(memory.settle(at: .seconds(11)) == nil && memory.askedLevel == nil && memory.nextDeadline == nil)
        let isStray = memory.didRead(available: 0, total: 100, at: .seconds(12))
        #expect(!isStray && memory == Memory())
    }

    @Test(arguments: [
        (Int64(51), MemoryLevel.critical, MemoryPressure.normal, false), (50, .critical, .warning, false),
        (26, .critical, .warning, false), (25, .critical, .critical, true), (25, .warning, .warning, false),
    ])
    func whatIsLeftDecides(_ available: Int64, _ level: MemoryLevel, _ pressure: MemoryPressure, _ ends: Bool) {
        var (memory, isToEnd) = Self.read(available, level)
        _ = memory.settle(at: .seconds(100))
        #expect(memory.pressure == pressure && isToEnd == ends)
    }

    @Test func levelIsOver_whenNothingMoreIsHeardOfIt() {
        var (memory, _) = Self.read(10)
        let worse = memory.settle(at: .seconds(100))
        #expect(worse == Memory.Change(before: .normal, after: .critical) && worse?.isWorse == true)
        #expect(memory.nextDeadline?.at == .seconds(110) && memory.settle(at: .milliseconds(109_999)) == nil)
        let better = memory.settle(at: .seconds(110))
        #expect(better == Memory.Change(before: .critical, after: .normal) && better?.isWorse == false)
    }

    @Test func nothingMoreIsEnded_beforeWhatWasFreedCouldShow() {
        var (memory, _) = Self.read(10)
        memory.beginPause(at: .seconds(100))
        for (moment, ends) in [(Int64(100_999), false), (101_000, true)] {
            _ = memory.heard(.critical, at: .milliseconds(moment))
            let isToEnd = memory.didRead(available: 10, total: 100, at: .milliseconds(moment))
            #expect(isToEnd == ends)
        }
    }

    @Test func exhaustionIsSaidOnce_inAShortage() {
        var (memory, _) = Self.read(10)
        _ = memory.settle(at: .seconds(100))
        let isNews = memory.noteExhaustion()
        let isNewsAgain = memory.noteExhaustion()
        _ = memory.settle(at: .seconds(110))
        let isNewsInTheNext = memory.noteExhaustion()
        #expect(isNews && !isNewsAgain && isNewsInTheNext)
    }

    @Test func questionThatNeverEndsIsAFault() {
        #expect(Memory(askedLevel: .warning).fault == .questionWithoutEnd)
        #expect(Memory(answerDue: .zero).fault == .questionWithoutEnd)
        #expect(Self.read(10).memory.fault == nil)
    }

    // MARK: Which apps go

    private static func order(
        _ index: Int, band: Int = 0, bytes: Int64 = 10, isProtected: Bool = false, isThawed: Bool = true,
        isInFront: Bool = false
    ) -> JetsamOrder {
        JetsamOrder(
            isProtected: isProtected, isThawed: isThawed, band: band, isInFront: isInFront, bytes: bytes, index: index
        )
    }

    struct Choice: Sendable {
        var orders: [JetsamOrder]
        var wanted: Int64
        var expected: [Int]
    }

    @Test(arguments: [
        Choice(orders: [order(0, band: 1), order(1)], wanted: 5, expected: [1]),
        Choice(orders: [order(0, band: 1), order(1)], wanted: 15, expected: [1, 0]),
        Choice(orders: [order(0), order(1, isThawed: false)], wanted: 5, expected: [1]),
        Choice(orders: [order(0, isInFront: true), order(1)], wanted: 5, expected: [1]),
        Choice(orders: [order(0), order(1, bytes: 20)], wanted: 5, expected: [1]),
        Choice(orders: [order(0), order(1)], wanted: -5, expected: [0]),
        Choice(orders: [order(0), order(1)], wanted: 10, expected: [0]),
        Choice(orders: [order(0, isProtected: true)], wanted: 5, expected: [0]),
        Choice(orders: [order(0, isProtected: true), order(1)], wanted: 50, expected: [1]),
        Choice(orders: [order(0, bytes: 0), order(1, band: 1)], wanted: 50, expected: [0]),
        Choice(orders: [], wanted: 50, expected: []),
    ])
    func asManyGoAsGiveBackWhatIsWanted(_ choice: Choice) {
        #expect(JetsamOrder.chosen(from: choice.orders, wanted: choice.wanted).map(\.index) == choice.expected)
    }
}
