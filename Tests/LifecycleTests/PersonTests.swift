import Lifecycle
import Testing

/// Wakes by our own alarm: with work to do and without, with a person at the board and without.
@Suite struct PersonTests {
    /// "camera" was in front; "upload" holds a task, which the alarm is set for.
    private func preparing(logical: Bool = false) throws -> Board {
        var board = startedBoard([app("camera"), app("upload")]) { $0.darkWakeInterval = .seconds(900) }
        _ = board.begin("upload")
        try board.goBack("upload")
        _ = logical ? board.ask(7, .sleep(start: true, logical: true)) : board.sleepSignal(true)
        return board
    }

    private func fallAsleep(_ board: inout Board) {
        _ = board.returned("camera")
        _ = board.returned("camera")
        _ = board.frozen("camera")
        _ = board.pass(.seconds(2))
        _ = board.frozen("upload")
        #expect(board.core.device.sleepState == .asleep)
        #expect(board.core.wakeAlarm != nil)
    }

    private static let person: [Event] = [.board(.keyPressed(.power)), .board(.lid(closed: false))]

    @Test(arguments: person)
    func nextWakeIsFull_whenAPersonWasThereWhilePreparing(_ event: Event) throws {
        var board = try preparing()
        _ = board.tell(.board(.lid(closed: true)))
        _ = board.tell(event)
        fallAsleep(&board)
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .awake)
    }

    @Test(arguments: person)
    func nextWakeIsFull_whenAPersonWasThereWhileAsleep(_ event: Event) throws {
        var board = try preparing()
        _ = board.tell(.board(.lid(closed: true)))
        fallAsleep(&board)
        #expect(board.tell(event) == [])
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .awake)
    }

    /// Where MONOTONIC runs on in a sleep logind is asked whether it is over.
    @Test(arguments: [false, nil])
    func wakeIsDark_whenTheAnswerToAQuestionTellsOfIt(_ answer: Bool?) throws {
        var board = try preparing()
        fallAsleep(&board)
        board.monotonic += .seconds(899)
        #expect(board.tell(.timePassed) == ["read PreparingForSleep"])
        _ = board.tell(.login(.preparingForSleep(answer)))
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func alarmIsNotPutOff_whenLogindSaysThatItIsStillAtIt() throws {
        var board = try preparing()
        fallAsleep(&board)
        let alarm = board.core.wakeAlarm
        board.monotonic += .seconds(899)
        #expect(board.tell(.timePassed) == ["read PreparingForSleep"])
        #expect(board.tell(.login(.preparingForSleep(true))) == [])
        #expect(board.core.wakeAlarm == alarm)
    }

    @Test func wakeIsDark_whenALidWasClosedAfterTheAnnouncement() throws {
        var board = try preparing()
        _ = board.tell(.board(.lid(closed: true)))
        fallAsleep(&board)
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func keyOfAnEarlierSleepIsForgotten() throws {
        var board = try preparing()
        _ = board.tell(.board(.keyPressed(.power)))
        fallAsleep(&board)
        board.wakePromptly(afterSleeping: .seconds(60))
        _ = board.tell(.login(.lockTaken(.sleep)))
        _ = board.sleepSignal(true)
        fallAsleep(&board)
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func boardGoesBackToSleep_whenTheWorkIsDoneBeforeTheAlarm() throws {
        var board = try preparing()
        fallAsleep(&board)
        // Between the release of the lock and the kernel's sleep.
        #expect(board.end("upload").contains("reply 0: done"))
        #expect(board.wake(afterSleeping: .seconds(901)) == ["alarm off", "sleep is over", "take sleep", "suspend"])
        #expect(board.core.device.sleepState == .darkWake)
        #expect(try board.view("camera").taskState == .suspended)
        _ = board.tell(.login(.lockTaken(.sleep)))
        #expect(board.sleepSignal(true) == ["sleep is handled", "release sleep"])
    }

    @Test func boardGoesBackToSleep_whenTheWorkIsDoneAndTheClocksTellFirst() throws {
        var board = try preparing()
        fallAsleep(&board)
        _ = board.end("upload")
        board.slept += .seconds(901)
        #expect(board.tell(.timePassed) == ["alarm off", "sleep is over"])
        #expect(board.core.device.sleepState == .darkWake)
        #expect(board.sleepSignal(false) == ["take sleep", "suspend"])
    }

    @Test func logicalSleepGoesOn_whenTheWorkIsDoneBeforeTheAlarm() throws {
        var board = try preparing(logical: true)
        fallAsleep(&board)
        _ = board.end("upload")
        board.slept += .seconds(901)
        #expect(board.tell(.timePassed) == ["alarm off"])
        #expect(board.core.device.sleepState == .asleep)
    }

    private func dark() throws -> Board {
        var board = try preparing()
        fallAsleep(&board)
        _ = board.wake(afterSleeping: .seconds(901))
        #expect(board.core.device.sleepState == .darkWake)
        return board
    }

    @Test func wakeStaysDark_whenARequestIsRefused() throws {
        var board = try dark()
        #expect(
            board.ask(1, .adopt(app: "camera", TaskParameters(name: "run"))) == [
                "reply 1: denied, camera is there already"
            ])
        #expect(board.core.device.sleepState == .darkWake)
        _ = board.tell(.board(.session(SessionReading(users: 1, isLocked: true, isIdle: false))))
        #expect(try board.ask(2, .activate(board.id("camera"))) == ["reply 2: denied, the session is locked"])
        #expect(board.core.device.sleepState == .darkWake)
    }

    @Test func wakeIsFull_whenARequestIsGranted() throws {
        for request in [
            ClientRequest.adopt(app: "run", TaskParameters(name: "run")), .activate(try dark().id("camera")),
        ] {
            var board = try dark()
            _ = board.ask(1, request)
            #expect(board.core.device.sleepState == .awake)
        }
    }
}
