import Lifecycle
import Testing

/// No app is killed for time the board did not give.
@Suite struct ClockTests {
    private func launching() -> Board {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        return board
    }

    @Test func deadlineIsKeptToTheMillisecond_whenTheBoardIsPrompt() throws {
        var board = launching()
        #expect(board.pass(.milliseconds(19_999)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func coreLooksEverySecond_whileAHandlerRuns() throws {
        var board = launching()
        let deadline = try #require(board.core.nextDeadline)
        #expect(deadline.at == board.monotonic + .seconds(1))
        #expect(deadline.reason == .stallCheck)
        _ = board.returned("camera")
        _ = board.returned("camera")
        #expect(board.core.nextDeadline == nil)
    }

    @Test func deadlineMovesByTheExcess_whenTheBoardStalls() throws {
        var board = launching()
        _ = board.pass(.seconds(19))
        // The core asked to be woken after a second, and was after an hour.
        #expect(board.stall(.seconds(3600)) == [])
        #expect(board.pass(.milliseconds(749)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func stallIsAnnounced_whileAHandlerRuns() throws {
        var board = launching()
        board.monotonic += .milliseconds(1251)
        #expect(board.handleAll(.timePassed) == [.note(.board(.stalled(.milliseconds(502))))])
    }

    @Test func nothingIsCredited_whenTheWakeUpIsALittleLate() throws {
        var board = launching()
        _ = board.pass(.seconds(19))
        #expect(board.stall(.milliseconds(1250)) == ["kill camera"])
    }

    @Test func hangingAppIsKilledInTheEnd_whenEveryWakeUpIsLate() throws {
        var board = launching()
        var seconds = 0
        var effects: [String] = []
        while effects.isEmpty, seconds < 100 {
            effects = board.stall(.milliseconds(1300))
            seconds += 1
        }
        // 0.7 s of each round count, a quarter of a second at least; and some more times it might have answered
        // meanwhile.
        #expect(effects == ["kill camera"])
        #expect(seconds == 38)
    }

    @Test func replyIsReadBeforeTheDeadlineIsJudged_whenTheBoardStallsAtIt() throws {
        var board = launching()
        _ = board.pass(.milliseconds(19_900))
        // Something else is heard first, and its reply lies there unread.
        #expect(board.stall(.seconds(5)) == [])
        #expect(board.pass(.milliseconds(249)) == [])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }

    @Test func appIsNotKilledAtItsReturn_whenAStallEndsWithItsReply() throws {
        var board = launching()
        board.monotonic += .seconds(3600)
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }

    @Test func livenessLastsThroughAStall_whenNoHandlerRuns() throws {
        var board = Board([
            app("modem") {
                $0.suspend = false; $0.liveness = .seconds(10)
            }
        ])
        board.start()
        _ = board.pass(.seconds(2))
        _ = board.ping("modem")
        // s2idle: MONOTONIC ran on, and the modem never had its 10 s.
        #expect(board.stall(.seconds(3600)) == [])
        #expect(board.pass(.milliseconds(9749)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill modem"])
    }

    @Test func sleepAllowanceIsLogindsOwn_whenTheBoardStalls() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.sleepSignal(true)
        board.monotonic += .milliseconds(4600)
        // No time that was not given is held against the app, but the lock is not kept for it.
        #expect(board.tell(.timePassed) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }

    @Test func clockStandsStill_whileFrozenWithACallOutstanding() throws {
        var board = launching()
        _ = board.pass(.seconds(10))
        _ = board.sleepSignal(true)
        #expect(board.pass(.milliseconds(4500)) == ["freeze camera"])
        #expect(board.frozen("camera") == ["sleep is handled", "release sleep"])
        _ = board.pass(.seconds(20))
        #expect(board.sleepSignal(false) == ["sleep is over", "take sleep", "thaw camera"])
        #expect(board.pass(.milliseconds(5499)) == [])
        #expect(board.pass(.milliseconds(1)) == ["kill camera"])
    }

    @Test func unannouncedSleepIsNoted_whenTheClocksPartWhileAwake() throws {
        var board = Board([])
        board.slept = .seconds(7)
        #expect(board.handleAll(.timePassed) == [.note(.sleep(.unannounced(.seconds(7))))])
        board.slept += .milliseconds(500)
        #expect(board.handleAll(.timePassed) == [])
    }

    @Test func clocksThatGoBackwardsDoNoHarm_whenTheyDo() throws {
        var board = launching()
        board.monotonic = board.monotonic - .seconds(50)
        #expect(board.tell(.timePassed) == [])
        #expect(board.returned("camera") == ["call camera didBecomeActive 10 s"])
    }
}
