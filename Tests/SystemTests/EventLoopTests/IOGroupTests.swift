import CLinux
import EventLoop
import SystemCalls
import Testing

@Suite struct IOGroupTests {
    let loop: EventLoop
    let group: IOGroup
    let alive = Lifetimes()

    init() throws {
        loop = try EventLoop()
        group = try loop.group()
    }

    private func readyPipe() throws -> PipePair {
        let pipe = try PipePair()
        try FileDescriptor.writeAll([1], to: pipe.writer.rawValue)
        return pipe
    }

    private func take(_ pipe: PipePair) {
        var byte: UInt8 = 0
        _ = read(pipe.reader.rawValue, &byte, 1)
    }

    @Test func member_isToldWhatItWaitsFor() throws {
        let pipe = try readyPipe()
        var seen: [IOReadiness] = []
        let member = try group.watch(pipe.reader.rawValue, []) { seen.append($0) }
        try loop.turn()
        #expect(seen == [])
        try member.setInterest(.readable)
        try loop.runOnce(timeoutMicroseconds: 0)
        #expect(seen == [.readable])
        try member.setInterest([])
        try pipe.closeWriter()
        // Children of other tests may hold it until they are their programs.
        try loop.run { seen.count > 1 }
        #expect(seen == [.readable, .hangup])
    }

    @Test func everyMemberHasItsTurn_beforeOneHasTwo() throws {
        let pipes = try (0..<3 * IOGroup.turn).map { _ in try readyPipe() }
        var calls = Array(repeating: 0, count: pipes.count)
        // Each stays ready.
        let members = try pipes.indices.map { index in
            try group.watch(pipes[index].reader.rawValue, .readable) { _ in calls[index] += 1 }
        }
        for round in 1...4 {
            // In three turns, or more where the processor is taken away in one of them.
            try loop.run { calls.reduce(0, +) >= round * pipes.count }
            #expect(calls == Array(repeating: round, count: pipes.count))
        }
        withExtendedLifetime(members) {}
    }

    @Test func turn_endsEarly_onceItHasTakenLong_andTheRestComesFirstInTheNext() throws {
        let pipes = try (0..<4).map { _ in try readyPipe() }
        var order: [Int] = []
        // Each stays ready; the first takes long.
        let members = try pipes.indices.map { index in
            try group.watch(pipes[index].reader.rawValue, .readable) { _ in
                order.append(index)
                let end = Clocks.monotonic + 20_000_000
                while index == 0, Clocks.monotonic < end {}
            }
        }
        try loop.runOnce(timeoutMicroseconds: 0)
        #expect(order == [0])
        try loop.run { order.count >= 5 }
        #expect(order == [0, 1, 2, 3, 0])
        withExtendedLifetime(members) {}
    }

    @Test func memberThatIsCancelled_afterATurnThatEndedEarly_isNotCalled() throws {
        let pipes = try (0..<2).map { _ in try readyPipe() }
        var order: [Int] = []
        let members = try pipes.indices.map { index in
            try group.watch(pipes[index].reader.rawValue, .readable) { _ in
                order.append(index)
                let end = Clocks.monotonic + 20_000_000
                while Clocks.monotonic < end {}
            }
        }
        try loop.runOnce(timeoutMicroseconds: 0)
        members[1].cancel()
        try loop.run { order.count >= 2 }
        #expect(order == [0, 0])
        withExtendedLifetime(members) {}
    }

    @Test func otherSourcesHaveTheirTurn_whileMembersAreAlwaysReady() throws {
        let pipes = try (0..<2 * IOGroup.turn).map { _ in try readyPipe() }
        var served = 0
        let members = try pipes.map { try group.watch($0.reader.rawValue, .readable) { _ in served += 1 } }
        let other = try readyPipe()
        var servedBefore: Int?
        let source = try loop.watch(other.reader.rawValue, .readable, priority: EventLoop.Priority.important) { _ in
            servedBefore = served
            take(other)
        }
        try loop.runOnce(timeoutMicroseconds: 0)
        #expect(servedBefore == 0)
        try FileDescriptor.writeAll([1], to: other.writer.rawValue)
        servedBefore = nil
        for _ in 0..<2 { try loop.runOnce(timeoutMicroseconds: 0) }
        #expect(servedBefore != nil)
        #expect(served <= IOGroup.turn)
        withExtendedLifetime((members, source)) {}
    }

    @Test func group_hasThePriorityThatItWasMadeWith() throws {
        let last = try loop.group(priority: EventLoop.Priority.idle)
        var calls: [String] = []
        let pipes = try [readyPipe(), readyPipe(), readyPipe()]
        func watch(_ name: String, _ pipe: PipePair, _ group: IOGroup) throws -> IOGroupMember {
            try group.watch(pipe.reader.rawValue, .readable) { _ in
                calls.append(name)
                take(pipe)
            }
        }
        let members = try [
            watch("last", pipes[0], last), watch("one", pipes[1], group), watch("two", pipes[2], group),
        ]
        try loop.turn()
        #expect(calls.last == "last" && calls.count == 3)
        withExtendedLifetime(members) {}
    }

    @Test func memberCancelledByOneBeforeIt_isNotCalled_thoughItsNumberIsTakenAgain() throws {
        let pipes = try [readyPipe(), readyPipe()]
        var members: [IOGroupMember] = []
        var calls: [String] = []
        var replacement: IOGroupMember?
        for pipe in pipes {
            members.append(
                try group.watch(pipe.reader.rawValue, .readable) { _ in
                    calls.append("old")
                    for member in members { member.cancel() }
                    // The very descriptors, watched anew: what was said of the old members is not theirs.
                    replacement = try? group.watch(pipes[1].reader.rawValue, []) { _ in calls.append("new") }
                })
        }
        try loop.turn()
        #expect(calls == ["old"])
        #expect(replacement != nil)
    }

    @Test func memberThatWasCancelled_doesNotReachTheOneThatHasItsDescriptor() throws {
        let pipe = try readyPipe()
        var calls = 0
        var old: IOGroupMember? = try group.watch(pipe.reader.rawValue, .readable) { _ in calls += 100 }
        old?.cancel()
        let new = try group.watch(pipe.reader.rawValue, .readable) { _ in
            calls += 1
            take(pipe)
        }
        old?.cancel()
        try old?.setInterest([])
        old = nil
        try loop.turn()
        #expect(calls == 1)
        withExtendedLifetime(new) {}
    }

    @Test func memberLetGoOfInItsOwnHandler_isWholeUntilItReturns() throws {
        let pipe = try readyPipe()
        var member: IOGroupMember?
        var calls = 0
        do {
            let token = alive.token()
            member = try group.watch(pipe.reader.rawValue, .readable) { [alive] _ in
                calls += 1
                member = nil
                #expect(alive.count == 1)
                _ = token
            }
        }
        #expect(member != nil)
        try loop.turn()
        #expect(calls == 1)
        #expect(alive.count == 0)
    }

    @Test func watch_ofARegularFile_isAnErrorThatLeaksNothing() throws {
        let file = try FileDescriptor.open("/proc/self/exe", O_RDONLY)
        do {
            let token = alive.token()
            let error = #expect(throws: SystemError.self) {
                try group.watch(file.rawValue, .readable) { _ in _ = token }
            }
            #expect(error?.errno == .notPermitted)
        }
        #expect(alive.count == 0)
    }
}
