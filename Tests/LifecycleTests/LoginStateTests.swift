import Testing

@testable import Lifecycle

/// What is known of logind, and of the locks that are held there, without a board.
@Suite struct LoginStateTests {
    private static func appeared() -> Login {
        var login = Login()
        login.appear(delayMax: .seconds(8))
        return login
    }

    @Test func lockIsAskedForOnce_whereLogindIs() {
        var nowhere = Login()
        let isAskedNowhere = nowhere.ask(for: .sleep, at: .zero)
        var login = Self.appeared()
        let isAsked = login.ask(for: .sleep, at: .seconds(100))
        let isAskedTwice = login.ask(for: .sleep, at: .seconds(101))
        #expect(!isAskedNowhere && isAsked && !isAskedTwice && login.locks.sleep == .requested)
        #expect(login.nextDeadline == Deadline(at: .seconds(130), reason: .login))
        #expect(login.wasGranted(.sleep, isWelcome: false) == .held && login.nextDeadline == nil)
        #expect(login.wasGranted(.sleep, isWelcome: false) == .known)
        let isReleased = login.release(.sleep)
        let isReleasedTwice = login.release(.sleep)
        #expect(isReleased && !isReleasedTwice)
    }

    @Test func lockThatComesLateIsTaken_ifItIsOfUse() {
        var login = Self.appeared()
        _ = login.ask(for: .shutdown, at: .zero)
        let isOver = login.judge(.shutdown, at: .seconds(30))
        #expect(isOver && login.locks.shutdown == .none)
        #expect(login.wasGranted(.shutdown, isWelcome: false) == .useless && login.locks.shutdown == .none)
        #expect(login.wasGranted(.shutdown, isWelcome: true) == .held)
    }

    @Test func questionsRestLonger_eachTimeThatTheyComeToNothing() {
        var login = Self.appeared()
        var at = Nanoseconds.zero
        var waits: [Nanoseconds] = []
        for _ in 0..<4 {
            _ = login.ask(for: .sleep, at: at)
            let due = login.nextDeadline?.at ?? .max
            waits.append(due - at)
            at = due
            let isOver = login.judge(.sleep, at: at)
            #expect(isOver)
        }
        #expect(waits == [.seconds(30), .seconds(60), .seconds(120), .seconds(120)])
        _ = login.ask(for: .sleep, at: .zero)
        _ = login.wasGranted(.sleep, isWelcome: true)
        _ = login.release(.sleep)
        _ = login.ask(for: .sleep, at: .zero)
        #expect(login.nextDeadline?.at == .seconds(30))
    }

    @Test func onlyTheRefusalForAShutdownRests_andThatToKeepAwakeIsRemembered() {
        for kind in LockKind.allCases {
            var login = Self.appeared()
            let isStray = login.wasRefused(kind, at: .seconds(100))
            _ = login.ask(for: kind, at: .seconds(100))
            let isRefused = login.wasRefused(kind, at: .seconds(110))
            #expect(!isStray && isRefused && login.locks[kind] == .none)
            #expect(login.nextDeadline?.at == (kind == .shutdown ? .seconds(170) : nil))
            #expect(login.isKeepAwakeRefused == (kind == .keepAwake))
        }
    }

    @Test func allIsForgottenWithLogind_butWhatIsAboutItsFirstWord() {
        var login = Login()
        login.note(.seconds(7))
        login.forget()
        #expect(login.notedSleep == .seconds(7) && !login.wasAvailable && login.inhibitDelay == .seconds(5))
        login.appear(delayMax: .seconds(8))
        _ = login.ask(for: .sleep, at: .zero)
        login.askPreparing(at: .seconds(10))
        #expect(login.notedSleep == nil && login.inhibitDelay == .seconds(8))
        #expect(!login.isAnswerOverdue(at: .milliseconds(39_999)) && login.isAnswerOverdue(at: .seconds(40)))
        login.forget()
        #expect(login.wasAvailable && !login.isAvailable && login.nextDeadline == nil && login.locks.sleep == .none)
    }

    @Test func grantIsDoubted_ifTheBoardHasSleptSinceItWasAskedFor() {
        var login = Self.appeared()
        login.doubtGrant()
        #expect(!login.isGrantOld)
        _ = login.ask(for: .sleep, at: .zero)
        login.doubtGrant()
        #expect(login.isGrantOld)
    }

    @Test func stateThatCannotBeIsAFault() {
        #expect(Login(locks: .init(.requested)).fault == .questionWithoutEnd)
        #expect(Login(locks: .init(.held)).fault == .lockOfNone)
        #expect(Self.appeared().fault == nil && Login().fault == nil)
    }
}
