import Testing

@testable import Keeper

/// How soon the keeper looks again after a signal.
@Suite struct SignalPaceTests {
    private static let millisecond: Int64 = 1_000_000

    /// Whether it rests after each of so many signals that lead to nothing.
    private func rests(_ pace: inout SignalPace, _ count: Int, from start: Int64, every step: Int64) -> [Bool] {
        var all: [Bool] = []
        for number in 0..<count { all.append(pace.rests(isUseful: false, at: start + Int64(number) * step)) }
        return all
    }

    @Test func whatIsInVainAgainAndAgain_isRestedFrom() {
        var pace = SignalPace()
        let first = rests(&pace, 17, from: 1, every: Self.millisecond)
        #expect(first == Array(repeating: false, count: 16) + [true])
        let begun = 1 + 16 * Self.millisecond
        #expect(pace.millisecondsLeft(at: begun) == 20)
        let end = begun + 20 * Self.millisecond
        // Once.
        let isOver = [end - 1, end, end].map { moment in pace.isOver(at: moment) }
        #expect(isOver == [false, true, false])
        #expect(pace.millisecondsLeft(at: end) == -1)
        // The next rest begins with the next signal that leads to nothing.
        #expect(rests(&pace, 1, from: end + Self.millisecond, every: 0) == [true])
    }

    @Test func whatIsOfUse_isHeardAtOnce() {
        var pace = SignalPace()
        for round in 0..<20 {
            let rested = rests(&pace, 16, from: Int64(round) * 1000, every: 10).contains(true)
            let isResting = pace.rests(isUseful: true, at: Int64(round) * 1000 + 500)
            #expect(!rested && !isResting)
        }
    }

    @Test func whatComesNowAndThen_isHeardAtOnce() {
        var pace = SignalPace()
        let rested = rests(&pace, 1000, from: 1, every: 4 * Self.millisecond).contains(true)
        #expect(!rested)
    }
}
