import Testing

@testable import Lifecycle

/// The two watchdogs above the daemon, without a board.
@Suite struct WatchdogStateTests {
    /// Armed with 30 s at second 100.
    private static func armed() -> HardwareWatchdog {
        var watchdog = HardwareWatchdog()
        watchdog.hear(timeout: .seconds(30), at: .seconds(100))
        return watchdog
    }

    @Test func itIsFedThriceInItsTimeout() {
        var watchdog = Self.armed()
        #expect(watchdog.nextDeadline(mayRetry: true) == Deadline(at: .seconds(110), reason: .hardwareWatchdog))
        #expect(!watchdog.isHungry(at: .milliseconds(109_999)) && watchdog.isHungry(at: .seconds(110)))
        watchdog.feed(at: .seconds(112))
        #expect(watchdog.nextDeadline(mayRetry: true)?.at == .seconds(122))
    }

    @Test func boardResets_aTimeoutAfterTheLastFood() {
        var watchdog = Self.armed()
        #expect(watchdog.starve(at: .seconds(110)) == .seconds(20))
        #expect(watchdog.starve(at: .seconds(111)) == nil && watchdog.nextDeadline(mayRetry: true) == nil)
        // As soon as what it starves for is mended.
        #expect(watchdog.isHungry(at: .seconds(111)))
        watchdog.feed(at: .seconds(111))
        #expect(!watchdog.isStarving && watchdog.starve(at: .seconds(200)) == .zero)
    }

    @Test func noneIsThere_beforeItIsArmed() {
        var watchdog = HardwareWatchdog()
        let rests = watchdog.rest()
        let isArmedAgain = watchdog.rearm()
        #expect(!rests && !isArmedAgain && !watchdog.isHungry(at: .max) && watchdog.nextDeadline(mayRetry: true) == nil)
        #expect(watchdog.starve(at: .zero) == nil)
        watchdog.hear(timeout: .zero, at: .zero)
        #expect(watchdog.timeout == .milliseconds(300))
    }

    @Test func itRestsOnce_andIsArmedOnceAfterwards() {
        var watchdog = Self.armed()
        let steps = [watchdog.rest(), watchdog.rest(), watchdog.wake(), watchdog.wake(), watchdog.rest()]
        #expect(steps == [true, false, true, false, true])
        // The clocks tell of the sleep before anything else does.
        let isArmedAgain = watchdog.rearm()
        let isWoken = watchdog.wake()
        #expect(isArmedAgain && !isWoken)
    }

    @Test func lostOneIsTriedAgain_laterEachTime() {
        var watchdog = Self.armed()
        watchdog.lose(at: .seconds(200))
        #expect(watchdog.timeout == nil && !watchdog.isHungry(at: .max))
        #expect(watchdog.nextDeadline(mayRetry: true) == Deadline(at: .seconds(201), reason: .hardwareWatchdog))
        #expect(watchdog.nextDeadline(mayRetry: false) == nil)
        let early = watchdog.takeRetry(at: .milliseconds(200_999))
        let due = watchdog.takeRetry(at: .seconds(201))
        #expect(!early && due && watchdog.retryDue == .seconds(203))
        // That it is still lost changes nothing.
        watchdog.lose(at: .seconds(202))
        #expect(watchdog.retryDue == .seconds(203))
        var delays: [Nanoseconds] = []
        while delays.count < 11, let due = watchdog.retryDue, watchdog.takeRetry(at: due) {
            delays.append((watchdog.retryDue ?? .zero) - due)
        }
        #expect(delays.prefix(2) == [.seconds(4), .seconds(8)] && delays.suffix(2) == [.seconds(600), .seconds(600)])
        watchdog.hear(timeout: .seconds(30), at: .zero)
        #expect(watchdog.retryDue == nil && watchdog.fault == nil)
        watchdog.lose(at: .zero)
        #expect(watchdog.retryDue == .seconds(1))
    }

    @Test func watchdogThatIsNotThereIsAFault() {
        #expect(HardwareWatchdog(isStarving: true).fault == .watchdogOfNone)
        #expect(HardwareWatchdog(timeout: .seconds(1), retryDue: .zero).fault == .watchdogOfNone)
        #expect(ServiceWatchdog(isResting: true).fault == .watchdogOfNone)
        #expect(Self.armed().fault == nil && ServiceWatchdog().fault == nil)
    }

    @Test func serviceManagerIsToldOfASleep_onlyIfItWatches() {
        var service = ServiceWatchdog()
        let before = service.rest()
        service.watch()
        let steps = [before, service.rest(), service.rest(), service.wake(), service.wake()]
        #expect(steps == [false, true, false, true, false])
    }
}
