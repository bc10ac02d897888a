import Testing

@testable import Lifecycle

/// The way to sleep by itself, without a board.
@Suite struct PreparationTests {
    private static func prepared(delay: Nanoseconds = .seconds(5)) -> Preparation {
        var preparation = Preparation()
        _ = preparation.bound(since: .seconds(100), delay: delay, margin: .milliseconds(500))
        return preparation
    }

    @Test func limitsAreInOrder_whenSet() {
        let preparation = Self.prepared()
        #expect(preparation.allowance == .milliseconds(4500))
        #expect(preparation.allowanceEnd == .milliseconds(104_500))
        #expect(preparation.orderEndsAt == .milliseconds(104_750))
        #expect(preparation.release == .milliseconds(104_900))
    }

    @Test func limitsAreTightenedOnly_whenSetAgain() {
        var preparation = Self.prepared()
        var isNearer = preparation.bound(since: .seconds(101), delay: .seconds(30), margin: .milliseconds(500))
        #expect(!isNearer && preparation == Self.prepared())
        isNearer = preparation.bound(since: .seconds(101), delay: .seconds(2), margin: .milliseconds(500))
        #expect(isNearer)
        #expect(preparation.allowance == .milliseconds(1500) && preparation.release == .milliseconds(102_900))
    }

    @Test func theEarlierOfEachLimitCounts_whenTheMarginsDiffer() {
        var preparation = Self.prepared()
        let isNearer = preparation.bound(since: .seconds(100), delay: .milliseconds(4800), margin: .milliseconds(100))
        #expect(!isNearer && preparation.allowanceEnd == .milliseconds(104_500))
        #expect(preparation.orderEndsAt == .milliseconds(104_750) && preparation.release == .milliseconds(104_780))
    }

    @Test(arguments: [
        (Handler.didEnterBackground, Nanoseconds.seconds(10), 100_000, 4500),
        (.didEnterBackground, .seconds(1), 100_000, 1000), (.willResignActive, .seconds(10), 100_000, 2250),
        (.willResignActive, .seconds(10), 103_500, 1000), (.didEnterBackground, .seconds(10), 104_400, 100),
    ])
    func handlerGetsWhatIsLeft(_ handler: Handler, _ own: Nanoseconds, _ now: Int64, _ expected: Int64) {
        let allowance = Self.prepared().allowance(for: handler, own: own, at: .milliseconds(now))
        #expect(allowance == .milliseconds(expected))
    }

    @Test func handlerIsNotCalled_whenTooLittleIsLeftOrAllIsOver() {
        var preparation = Self.prepared()
        #expect(preparation.allowance(for: .didEnterBackground, own: .seconds(1), at: .milliseconds(104_401)) == nil)
        preparation.overtime.isAllowanceOver = true
        #expect(preparation.allowance(for: .didEnterBackground, own: .seconds(1), at: .seconds(100)) == nil)
    }

    /// One deadline after the other, each at the very moment at which something is over.
    @Test(arguments: [
        (nil, [104_500, 104_750], 104_900), (102_000, [102_000, 104_500, 104_750], 104_900),
        (104_500, [104_500, 104_750], 104_900),
    ])
    func deadlinesFollowOneAnother(_ graceEnd: Int64?, _ moments: [Int64], _ release: Int64) {
        var preparation = Self.prepared()
        preparation.graceEnd = graceEnd.map { .milliseconds($0) }
        for moment in moments {
            #expect(preparation.deadline.at == .milliseconds(moment))
            let isEarly = preparation.judge(at: .milliseconds(moment - 1))
            let isOver = preparation.judge(at: .milliseconds(moment))
            #expect(!isEarly && isOver)
        }
        #expect(preparation.deadline == Deadline(at: .milliseconds(release), reason: .sleepRelease))
    }

    @Test func whatIsTakenOutIsPutBack_whenAStageIsChanged() {
        var stage = SleepStage.preparing(Self.prepared())
        let client = WaitingClient(id: RequestID(rawValue: 1), isHook: true)
        stage.change { (preparation: inout Preparation) in preparation.waiting.append(client) }
        stage.change { (asleep: inout Asleep) in asleep.alarm = .zero }
        #expect(Sleep(stage: stage).preparation?.waiting == [client])
        #expect(Sleep(stage: stage).preparation?.release == Self.prepared().release)
        stage = .awake
        stage.change { (preparation: inout Preparation) in preparation.isOrderOver = true }
        #expect(stage == .awake)
    }
}
