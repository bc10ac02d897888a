import CLinux
import Testing

@testable import Keeper

@Suite struct OrphanEndsTests {
    /// Of this process, which stands for one that has ended: its identity can be read.
    private let pid = getpid()
    private let identity: UInt64

    init() throws {
        let pidfd = linux_pidfd_open(pid)
        try #require(pidfd >= 0)
        identity = linux_process_identity(pid, pidfd)
        close(pidfd)
        try #require(identity != 0)
    }

    private func end(_ status: Int32) -> linux_exit {
        linux_exit(code: linux_code_exited, status: status, cpu_ns: 0, max_rss_bytes: 0)
    }

    private func answer(_ ends: inout OrphanEnds, identity: UInt64) throws -> keeper_word {
        ends.ask(keeper_question(kind: UInt32(KEEPER_HOW_ENDED), pid: pid, id: 5, identity: identity))
        let word = try #require(ends.nextWord)
        ends.told()
        #expect(ends.nextWord == nil && word.id == 5 && word.pid == pid)
        return word
    }

    @Test func endIsTold_ofTheProcessThatHadIt() throws {
        var ends = OrphanEnds()
        ends.add(pid, end(7))
        let word = try answer(&ends, identity: identity)
        #expect(word.code == linux_code_exited && word.status == 7)
    }

    /// An app that forks until it has another's pid leaves an end of its own.
    @Test func endOfAnotherProcessWithThatPid_isNotTold() throws {
        var ends = OrphanEnds()
        ends.add(pid, end(0))
        #expect(try answer(&ends, identity: identity + 1).code == 0)
        #expect(try answer(&ends, identity: identity - 1).code == 0)
    }

    @Test func endsAreKeptForAWhile() throws {
        var ends = OrphanEnds()
        #expect(try answer(&ends, identity: identity).code == 0)
        // What is not there any more cannot be told from another.
        ends.add(Int32.max, end(1))
        ends.add(pid, end(3))
        for _ in 1..<256 { ends.add(getppid(), end(0)) }
        #expect(try answer(&ends, identity: identity).status == 3)
        ends.add(getppid(), end(0))
        #expect(try answer(&ends, identity: identity).code == 0)
    }

    @Test func questionsOfADeadLoopAreForgotten() {
        var ends = OrphanEnds()
        ends.ask(keeper_question(kind: UInt32(KEEPER_HOW_ENDED), pid: pid, id: 5, identity: identity))
        ends.loopEnded()
        #expect(ends.nextWord == nil)
    }

    private var question: keeper_question {
        keeper_question(kind: UInt32(KEEPER_FOLLOW), pid: pid, id: 0, identity: identity)
    }

    @Test(arguments: [true, false]) func endOfOneThatIsFollowed_staysUntilItIsAskedFor(isFollowedFirst: Bool) throws {
        var ends = OrphanEnds()
        if isFollowedFirst { ends.follow(question, true) }
        ends.add(pid, end(3))
        if !isFollowedFirst { ends.follow(question, true) }
        for _ in 0..<300 { ends.add(getppid(), end(0)) }
        #expect(try answer(&ends, identity: identity).status == 3)
        // The next loop follows it again, before it lets go of what it does not know.
        ends.loopEnded()
        ends.follow(question, true)
        ends.forgetUnclaimed()
        #expect(try answer(&ends, identity: identity).status == 3)
    }

    @Test func oneThatIsNotFollowedAnyMore_isForgotten() throws {
        for isLetGo in [true, false] {
            var ends = OrphanEnds()
            ends.follow(question, true)
            ends.add(pid, end(3))
            if isLetGo { ends.follow(question, false) } else { ends.loopEnded() }
            ends.forgetUnclaimed()
            #expect(try answer(&ends, identity: identity).code == 0)
        }
    }

    @Test func endsAreHandedOver() throws {
        var (ends, next) = (OrphanEnds(), OrphanEnds())
        ends.follow(question, true)
        ends.add(pid, end(3))
        ends.add(getppid(), end(4))
        var handover = Handover()
        ends.leave(&handover)
        next.take(try #require(Handover(handover.bytes)))
        for _ in 0..<300 { next.add(getppid(), end(0)) }
        #expect(try answer(&next, identity: identity).status == 3)
    }
}
