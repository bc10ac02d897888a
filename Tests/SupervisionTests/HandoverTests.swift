import CLinux
import ProcessControl
import SystemCalls
import Testing

@testable import Keeper

/// What one version of the keeper leaves to another.
@Suite struct HandoverTests {
    private static var full: Handover {
        var handover = Handover()
        handover.add(.head, [1, -1], "/usr/sbin/curfewd")
        handover.add(.arguments, [], "curfewd\0--root\0/tmp/a b\0")
        handover.add(.kept, [7], "door/camera")
        handover.add(.child, [Int64.max, Int64.min, 0])
        return handover
    }

    @Test func allArrives() throws {
        let read = try #require(Handover(Self.full.bytes))
        #expect(read.records.count == 4)
        #expect(read.all(.head)[0].numbers == [1, -1] && read.all(.head)[0].text == "/usr/sbin/curfewd")
        #expect(read.all(.arguments)[0].text == "curfewd\0--root\0/tmp/a b\0")
        #expect(read.all(.kept)[0].short(0) == 7 && read.all(.kept)[0].text == "door/camera")
        #expect(read.all(.child)[0].numbers == [.max, .min, 0])
        #expect(read.all(.failure).isEmpty)
    }

    /// A newer version says more, an older one less.
    @Test func whatIsNotKnownIsPassedOver_andWhatIsMissingIsZero() throws {
        var handover = Self.full
        handover.records[0].kind = 99
        handover.add(.head, [0, 5, 6, 7], "/new")
        let read = try #require(Handover(handover.bytes))
        let head = read.all(.head)
        #expect(head.count == 1 && head[0].short(1) == 5 && head[0].text == "/new")
        #expect(head[0][4] == 0 && head[0].short(100) == 0)
    }

    @Test func anotherMeaningIsRefused() {
        var bytes = Self.full.bytes
        bytes[0] += 1
        #expect(Handover(bytes) == nil)
        #expect(Handover([]) == nil)
    }

    /// It ends at a record, or is refused; no number of its own leads beyond it.
    @Test func damageIsSurvived() {
        let bytes = Self.full.bytes
        for length in 0..<bytes.count {
            if let read = Handover(Array(bytes[..<length])) { #expect(read.records.count < 4) }
        }
        for place in bytes.indices {
            for bit in [UInt8(1), 0x80] {
                var damaged = bytes
                damaged[place] ^= bit
                _ = Handover(damaged)
            }
        }
    }

    @Test func childrenAreHandedOver() throws {
        var (children, next) = (Children(), Children())
        let ended = children.add(5, pid: 1001, gate: -1, hasGroup: true)
        _ = children.end(of: ended, linux_exit(code: linux_code_exited, status: 9, cpu_ns: 77, max_rss_bytes: 88))
        children.forget(ended)
        _ = children.add(6, pid: 1002, gate: -1, hasGroup: true)
        var handover = Handover()
        #expect(children.leave(&handover) == [])
        next.take(try #require(Handover(handover.bytes)))
        #expect(next.hasAbandoned && !next.hasClaimed)
        guard case .over(let word) = next.claim(5) else { return #expect(Bool(false), "it is over") }
        #expect(word.status == 9 && word.cpu_ns == 77 && word.max_rss_bytes == 88 && word.id == 5)
        guard case .place(let place) = next.claim(6) else { return #expect(Bool(false), "it is there") }
        #expect(next.place(of: 1002) == place && next.hasClaimed)
        guard case .over(let unknown) = next.claim(7) else { return #expect(Bool(false), "it was never there") }
        #expect(Int(unknown.kind) == KEEPER_UNKNOWN)
    }

    @Test func whatAnotherKeeperHadStartedIsKnownByItsIdentity() throws {
        var children = Children()
        let identity = try #require(try ProcessHandle.open(getpid()).identity)
        var claim = keeper_claim(
            kind: UInt32(KEEPER_CLAIM), pid: getpid(), id: 9, identity: identity, has_group: 1, unused: 0)
        let adopted = children.adopt(claim)
        let place = try #require(adopted)
        // It is no child of ours, whose end waitid(2) would tell.
        #expect(children.place(of: getpid()) == nil)
        let pidfd = try #require(children.foreign(at: place))
        let first = try #require(children.nextWord(of: place))
        #expect(Int(first.kind) == KEEPER_STARTED && first.identity == identity)
        children.told(place)
        #expect(children.nextWord(of: place).map { Int($0.kind) } == KEEPER_RUNNING)
        children.told(place)
        #expect(children.nextWord(of: place) == nil)
        // Once it has ended its parent has a while to say how.
        #expect(children.foreignEnd(at: place, isReaped: false, now: 5) == nil)
        #expect(children.foreignEnd(at: place, isReaped: false, now: 100_000_004) == nil)
        #expect(children.foreignEndDue?.at == 100_000_005)
        #expect(children.foreignEnd(at: place, isReaped: false, now: 100_000_005)?.code == 0)
        #expect(children.foreignEnd(at: place, isReaped: true, now: 6)?.code == 0)
        var handover = Handover()
        #expect(children.leave(&handover).contains(pidfd))
        var next = Children()
        next.take(try #require(Handover(handover.bytes)))
        #expect(next.foreign(at: 0) == pidfd && next.place(of: getpid()) == nil)
        claim.identity += 1
        #expect(children.adopt(claim) == nil)
        claim.identity = 0
        #expect(children.adopt(claim) == nil)
        (claim.identity, claim.pid) = (identity, 0)
        #expect(children.adopt(claim) == nil)
        children.forget(place)
        #expect(children.foreign(at: place) == nil)
    }

    @Test func whatStaysOpenIsNamed() throws {
        var children = Children()
        var ends: [Int32] = [-1, -1]
        try #require(linux_packet_pair(&ends) == 0)
        defer { for end in ends { close(end) } }
        _ = children.add(6, pid: 1002, gate: ends[0], hasGroup: true)
        var handover = Handover()
        #expect(children.leave(&handover) == [ends[0]])
        // Where it is not taken over, it is closed with all others at the next exec.
        var next = Children()
        _ = linux_keep_over_exec(ends[0], true)
        next.take(try #require(Handover(handover.bytes)))
        let info = String(decoding: try Files.read("/proc/self/fdinfo/\(ends[0])"), as: UTF8.self)
        let flags = try #require(info.split(separator: "\n").first { $0.hasPrefix("flags:") })
        #expect(Int(flags.split(separator: "\t")[1], radix: 8).map { $0 & Int(O_CLOEXEC) != 0 } == true)
        #expect(next.gate(of: 0) == ends[0])
    }
}
