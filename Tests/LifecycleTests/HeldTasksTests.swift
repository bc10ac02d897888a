import Testing

@testable import Lifecycle

/// What one app holds of background tasks, by itself. All moments are readings of its clock.
@Suite struct HeldTasksTests {
    private static func id(_ number: Int64) -> BackgroundTaskID { BackgroundTaskID(rawValue: number) }

    /// Tasks 1, 2, ... begun at second 10, each allowed until then.
    private static func holding(_ ends: Nanoseconds?...) -> HeldTasks {
        var tasks = HeldTasks()
        for (place, end) in ends.enumerated() {
            tasks.begin(
                HeldTask(id: id(Int64(place) + 1), name: "t", keepsAwake: false, begun: .seconds(10), allowedUntil: end)
            )
        }
        return tasks
    }

    @Test func newestIsWarnedFirst_whenThePoolIsAboutToBeEmpty() {
        var tasks = Self.holding(nil, nil)
        tasks.startPool(.seconds(30), at: .seconds(10))
        #expect(tasks.poolEnd == .seconds(40) && tasks.nextExpiration(lead: .seconds(3)) == .seconds(37))
        #expect(tasks.dueTask(lead: .seconds(3), at: .milliseconds(36_999)) == nil)
        #expect(tasks.dueTask(lead: .seconds(3), at: .seconds(37))?.id == Self.id(2))
        let warned = tasks.markWarned(Self.id(2), at: .seconds(37))
        #expect(warned?.isWarned == true && warned?.isOver == false)
        #expect(tasks.dueTask(lead: .seconds(3), at: .seconds(37))?.id == Self.id(1))
        _ = tasks.markWarned(Self.id(1), at: .seconds(37))
        #expect(tasks.dueTask(lead: .seconds(3), at: .seconds(39)) == nil && tasks.nextExpiration(lead: .zero) == nil)
    }

    @Test func aLimitOfItsOwnEndsATask_whateverThePoolHas() {
        var tasks = Self.holding(.seconds(15), nil)
        #expect(tasks.shortestLimit == .seconds(5) && tasks.nextExpiration(lead: .zero) == .seconds(15))
        let warned = tasks.markWarned(Self.id(1), at: .seconds(15))
        #expect(warned?.isOver == true && tasks.shortestLimit == .max)
        #expect(tasks.dueTask(lead: .zero, at: .seconds(99)) == nil)
    }

    @Test func warningsAreForgotten_butNotOfATaskWhoseOwnLimitIsOver() {
        var tasks = Self.holding(.seconds(15), nil)
        _ = tasks.markWarned(Self.id(1), at: .seconds(15))
        _ = tasks.markWarned(Self.id(2), at: .seconds(15))
        tasks.forgetWarnings()
        #expect(tasks.all.map { $0.isWarned } == [true, false])
    }

    @Test func poolKeepsWhatIsLeft_whenItStops() {
        var tasks = Self.holding(nil)
        tasks.startPool(.seconds(30), at: .seconds(10))
        tasks.startPool(.seconds(99), at: .seconds(20))
        #expect(tasks.stopPool(at: .seconds(25)) == .seconds(15))
        #expect(tasks.stopPool(at: .seconds(26)) == nil)
        tasks.startPool(.seconds(1), at: .seconds(30))
        #expect(tasks.stopPool(at: .seconds(99)) == .zero)
    }

    @Test func itIsFull_atTheLimit() {
        var tasks = HeldTasks(
            all: (1..<64).map { HeldTask(id: Self.id($0), name: "t", keepsAwake: false, begun: .zero) })
        #expect(!tasks.isFull && !tasks.keepAwake)
        tasks.begin(HeldTask(id: Self.id(64), name: "t", keepsAwake: true, begun: .zero))
        #expect(tasks.isFull && tasks.keepAwake && tasks.fault == nil)
        tasks.end(Self.id(64))
        #expect(tasks.task(Self.id(64)) == nil && tasks.task(Self.id(63)) != nil)
    }

    @Test func lockTimeRuns_fromItsStartToItsStop() {
        var tasks = Self.holding(nil)
        #expect(tasks.keepAwakeLeft(at: .seconds(10)) == nil)
        tasks.startKeepAwake(.seconds(60), at: .seconds(10))
        tasks.startKeepAwake(.seconds(99), at: .seconds(20))
        #expect(tasks.keepAwakeLeft(at: .seconds(40)) == .seconds(30) && tasks.keepAwakeLeft(at: .seconds(99)) == .zero)
        tasks.stopKeepAwake()
        #expect(tasks.keepAwakeEnd == nil)
    }
}

/// What an app is told of the board.
@Suite struct NewsTests {
    @Test func latestWordIsTold_once() {
        let conditions = Conditions()
        var news = News(knowing: conditions)
        news.warn(.critical)
        news.warn(.warning)
        #expect(news.next(conditions) == .didReceiveMemoryWarning(.warning))
        #expect(news.next(conditions) == nil)
    }

    @Test func ownLimitIsHeardOnce_untilItIsListenedToAgain() {
        var news = News()
        let isNews = news.reachedLimit(quietUntil: .seconds(10))
        let isSecond = news.reachedLimit(quietUntil: .seconds(11))
        #expect(isNews && !isSecond && news.limitQuietEnd == .seconds(10) && news.isWarnedOfMemory)
        let isEarly = news.endQuiet(at: .milliseconds(9999))
        let isOver = news.endQuiet(at: .seconds(10))
        let isNewsAgain = news.reachedLimit(quietUntil: .seconds(20))
        #expect(!isEarly && isOver && isNewsAgain)
    }
}
