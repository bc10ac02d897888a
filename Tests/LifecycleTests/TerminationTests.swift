import Lifecycle
import Testing

/// What the report of an end says.
@Suite struct TerminationTests {
    private func end(_ board: inout Board, _ status: Lifecycle.ExitStatus) throws -> Termination {
        let effects = board.handle(.process(.exited(board.last("camera"), status)))
        let ends = effects.compactMap { if case .report(let end) = $0 { end } else { nil } }
        try #require(ends.count == 1)
        return try #require(ends.first)
    }

    private func running() -> Board {
        var board = Board([app("camera")])
        board.login()
        board.start()
        return board
    }

    @Test(arguments: [
        (Lifecycle.ExitStatus.exited(0), TerminationNamespace.exit, UInt64(0), "exited by itself", false),
        (.exited(255), .exit, 255, "exited by itself with status 255", true),
        (.signalled(11), .crash, 11, "killed by signal 11", true),
        (.unknown, .unknown, 0, "ended, and curfewd could not learn how", true),
    ])
    func reasonSaysHowItEnded_whenByItself(
        _ status: Lifecycle.ExitStatus, _ namespace: TerminationNamespace, _ code: UInt64, _ explanation: String,
        _ isFailure: Bool
    ) throws {
        var board = running()
        let reason = try end(&board, status).reason
        #expect(reason.namespace == namespace && reason.code == code && reason.explanation == explanation)
        #expect(reason.isFailure == isFailure)
    }

    @Test func reportNamesTheKeyThatGivesMoreTime_whenTimeWasTheMatter() throws {
        var board = running()
        #expect(try end(&board, .signalled(11)).reason.limitKey == nil)
        board = running()
        _ = board.sleepSignal(true)
        _ = board.pass(.seconds(10))
        #expect(try end(&board, .signalled(9)).reason.limitKey == "[allowances] will-resign-active")
        board = Board([app("camera") { $0.liveness = .seconds(10) }])
        board.login()
        board.start()
        _ = board.pass(.seconds(10))
        #expect(try end(&board, .signalled(9)).reason.limitKey == "liveness")
    }

    @Test func reportSaysWhereAndWhen_whenAnAppCrashesInAHandler() throws {
        var board = running()
        _ = board.pass(.seconds(3))
        _ = board.sleepSignal(true)
        _ = board.pass(.milliseconds(700))
        let termination = try end(&board, .signalled(6))
        #expect(termination.app == AppID(rawValue: 0))
        #expect(termination.name == "camera")
        #expect(termination.instance == board.last("camera"))
        #expect(termination.handler == .willResignActive)
        #expect(termination.allowance == .milliseconds(2250))
        #expect(termination.taken == .milliseconds(700))
        #expect(termination.uptime == .milliseconds(3700))
        #expect(termination.phase == .active)
        #expect(termination.sleep == 1)
        #expect(try board.view("camera").lastTermination == termination)
    }

    @Test func reportNamesNoHandler_whenNoneRan() throws {
        var board = running()
        let termination = try end(&board, .exited(1))
        #expect(termination.handler == nil)
        #expect(termination.allowance == nil)
        #expect(termination.taken == nil)
        #expect(termination.sleep == nil)
    }

    @Test func takenIsRunnableTime_whenTheAppWasFrozenMeanwhile() throws {
        var board = Board([app("camera")])
        board.login()
        _ = board.tell(.started)
        _ = board.spawned("camera")
        _ = board.sleepSignal(true)
        _ = board.pass(.seconds(20))
        _ = board.sleepSignal(false)
        _ = board.pass(.seconds(1))
        let termination = try end(&board, .signalled(6))
        #expect(termination.taken == .milliseconds(5500))
        #expect(termination.handler == .didFinishLaunching)
    }

    @Test func failedLaunchCarriesTheErrno_whenExecFails() throws {
        var board = Board([app("camera")])
        _ = board.tell(.started)
        _ = board.tell(
            .process(.spawnFailed(board.last("camera"), code: 13, explanation: "exec /x: Permission denied")))
        let reason = try #require(board.view("camera").lastTermination).reason
        #expect(reason == .launchFailed(errno: 13, "exec /x: Permission denied"))
        #expect(reason.namespace == .launchFailure && reason.code == 13)
        #expect(reason.explanation == "exec /x: Permission denied")
    }

    @Test(arguments: [
        (Nanoseconds.zero, "0 ms"), (.milliseconds(250), "250 ms"), (.milliseconds(2250), "2.25 s"),
        (.milliseconds(4500), "4.5 s"), (.milliseconds(1050), "1.05 s"), (.seconds(5), "5 s"), (.seconds(90), "90 s"),
        (.seconds(600), "10 min"), (Nanoseconds(rawValue: 1_999_600_000), "2 s"),
    ])
    func timesReadWell_whenWrittenForPeople(_ time: Nanoseconds, _ text: String) { #expect(time.text == text) }
}
