import CLinux
import Glibc
import SystemCalls
import Testing

/// What the thread that asks logind for a lock says to the loop.
@Suite struct LockAnswerTests {
    @Test func lockThatIsNotThereIsNone() throws {
        #expect(try heard(limit: nil) == EPROTO)
    }

    /// In a process of its own: the limit is a process's.
    @Test func lockThatThereIsNoRoomForIsNone() async {
        await #expect(processExitsWith: .success) {
            let error = try heard(limit: 64)
            #expect(error == EMFILE)
        }
    }
}

/// The error of an answer without one; limit: a lock comes with it, and so many descriptors are all that there
/// may be.
private func heard(limit most: rlim_t?) throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    var order = linux_lock_order()
    order.socket = ends[0]
    linux_answer_lock(&order, 0, nil, most == nil ? -1 : ends[0])
    if let most {
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        try #require(Glibc.setrlimit(__rlimit_resource_t(7), &limit) == 0)
        while dup(0) >= 0 {}
    }
    var answer = linux_lock_answer()
    var descriptor: Int32 = 0
    try #require(linux_hear_lock(ends[1], &answer, &descriptor))
    #expect(descriptor == -1)
    close(ends[0])
    close(ends[1])
    return answer.error
}
