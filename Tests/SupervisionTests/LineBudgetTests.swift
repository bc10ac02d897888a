import Testing

@testable import Supervision

@Suite struct LineBudgetTests {
    @Test func linesOfAMinuteAreCounted_andThoseLeftOutAreTold() {
        var budget = LineBudget(at: 5)
        for _ in 1..<LineBudget.lines { #expect(budget.take(at: 6) == .say) }
        #expect(budget.take(at: 7) == .sayAsTheLast)
        for _ in 0..<1000 { #expect(budget.take(at: LineBudget.interval + 4) == .leaveOut) }
        #expect(budget.take(at: LineBudget.interval + 5) == .sayAfter(leftOut: 1000))
        #expect(budget.take(at: LineBudget.interval + 6) == .say)
    }

    @Test func nothingIsSaidOfABudgetThatWasNotSpent() {
        var budget = LineBudget(at: 0)
        for _ in 1...LineBudget.lines { _ = budget.take(at: 0) }
        #expect(budget.take(at: LineBudget.interval) == .say)
        #expect(budget.take(at: 2 * LineBudget.interval) == .say)
    }

    @Test func itIsKept_untilWhatWasLeftOutIsSaid() {
        var budget = LineBudget(at: 0)
        for _ in 1...LineBudget.lines { _ = budget.take(at: 0) }
        #expect(!budget.isDone(at: LineBudget.interval - 1) && budget.isDone(at: LineBudget.interval))
        _ = budget.take(at: 0)
        #expect(!budget.isDone(at: LineBudget.interval))
        _ = budget.take(at: LineBudget.interval)
        #expect(budget.isDone(at: 2 * LineBudget.interval))
    }
}
