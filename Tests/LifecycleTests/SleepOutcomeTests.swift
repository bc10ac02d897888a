import Lifecycle
import Testing

/// Whether the board has slept: by the kernel's own count where there is one, else by the clocks.
@Suite struct SleepOutcomeTests {
    @Test func noAppIsBlamed_whereTheKernelsWordLayUnread() throws {
        var board = Board([app("one") { $0.handlers = [] }, app("two") { $0.handlers = [] }])
        board.login()
        board.start()
        #expect(board.sleepSignal(true) == ["freeze one", "freeze two"])
        // Both are frozen by then; the loop stood.
        board.monotonic += .milliseconds(2500)
        #expect(board.frozen("one") == [])
        #expect(board.frozen("two") == ["sleep is handled", "release sleep"])
    }

    @Test func whatDoesNotFreezeIsNamed_thoughTheLoopStoodAtFirst() throws {
        var board = Board([app("one") { $0.handlers = [] }])
        board.login()
        board.start()
        #expect(board.sleepSignal(true) == ["freeze one"])
        board.monotonic += .milliseconds(2500)
        #expect(board.tell(.timePassed) == [])
        #expect(board.pass(.milliseconds(2000)).contains("unfreezable one"))
    }

    private func asleep() -> Board {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.obey(board.prepareForSleep(true))
        #expect(board.core.device.sleepState == .asleep)
        return board
    }

    private func outcome(_ board: inout Board) -> SleepOutcome? {
        let effects = board.handleAll(.login(.prepareForSleep(false, delayMax: nil, signalled: board.monotonic)))
        _ = board.obey(effects)
        return effects.compactMap { if case .note(.sleep(.ended(_, let outcome))) = $0 { outcome } else { nil } }.first
    }

    /// It stops every process before a device refuses, and MONOTONIC runs on for as long as that takes.
    @Test func sleepThatTheKernelRefusedHasFailed_howeverLongThatTook() {
        var board = asleep()
        _ = board.stall(.seconds(3))
        #expect(board.tell(.sleep(.kernelSlept(false))) == [])
        #expect(outcome(&board) == .failed)
    }

    @Test func sleepThatTheKernelCountedWasOne_thoughTheClocksTellNothing() {
        var board = asleep()
        #expect(board.tell(.sleep(.kernelSlept(true))) == [])
        #expect(outcome(&board) == .slept)
    }

    @Test func clocksTell_whereTheKernelDoesNotCount() {
        var board = asleep()
        _ = board.stall(.seconds(3))
        #expect(outcome(&board) == .slept)
        var awake = asleep()
        #expect(outcome(&awake) == .failed)
    }

    @Test func countOfOneSleepIsNotThatOfTheNext() {
        var board = asleep()
        _ = board.tell(.sleep(.kernelSlept(true)))
        _ = outcome(&board)
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.obey(board.prepareForSleep(true))
        #expect(outcome(&board) == .failed)
    }

    @Test func shortSleepsInARowDoNotPutOffTheQuestionForALock() {
        var board = asleep()
        board.slept += .seconds(60)
        #expect(board.tell(.timePassed) == ["sleep is over", "thaw camera", "call camera willEnterForeground 10 s"])
        for _ in 0..<2 {
            _ = board.pass(.seconds(12))
            board.slept += .seconds(60)
            #expect(board.tell(.timePassed) == [])
        }
        #expect(board.pass(.seconds(6)) == ["take sleep"])
    }

    @Test func kernelsWordOutlastsLogindsAnswer() {
        var board = asleep()
        _ = board.stall(.seconds(3))
        _ = board.tell(.sleep(.kernelSlept(false)))
        #expect(board.pass(.seconds(30)).contains("read PreparingForSleep"))
        _ = board.tell(.login(.preparingForSleep(true)))
        #expect(outcome(&board) == .failed)
    }

    @Test func announcedSleepHasFailed_thoughTheKernelSleptInTheLogicalOneBeforeIt() {
        var board = Board([app("camera")])
        board.login()
        board.start()
        _ = board.ask(1, .sleep(start: true, logical: true))
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        board.slept += .seconds(60)
        _ = board.tell(.timePassed)
        _ = board.sleepSignal(true)
        _ = board.pass(.seconds(1))
        #expect(outcome(&board) == .failed)
    }

    /// Time that the board did not give in the operator's sleep tells nothing of the real one that it became.
    @Test func timeBeforeTheRealSleepIsNotTheKernels_whenALogicalOneBecomesIt() {
        // What is never frozen has the core look at the clock.
        let camera = app("camera") {
            $0.suspend = false
            $0.liveness = .seconds(10)
        }
        var board = startedBoard([camera])
        _ = board.obey(board.handle(.client(.requested(RequestID(rawValue: 1), .sleep(start: true, logical: true)))))
        #expect(board.core.device.sleepState == .asleep)
        _ = board.stall(.seconds(15))
        _ = board.obey(board.prepareForSleep(true))
        #expect(outcome(&board) == .failed)
    }
}
