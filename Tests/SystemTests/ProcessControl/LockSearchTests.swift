import CLinux
import ProcessControl
import SystemCalls
import Testing

/// The keeper's search for those that have a lock (`linux_find_lock_holders`), which is a thread.
@Suite(.serialized) struct LockSearchTests {
    /// The loop may be late: then the socket to it is full.
    @Test func itsEnd_isTold_thoughThereIsNoRoomForIt() throws {
        var ends: [Int32] = [-1, -1]
        try #require(linux_packet_pair(&ends) == 0)
        let near = FileDescriptor(owning: ends[0])
        let far = FileDescriptor(owning: ends[1])
        var word = keeper_word()
        while linux_packet_send(near.rawValue, &word, MemoryLayout<keeper_word>.size, nil, 0) == 0 {}
        #expect(Errno.current == .again)
        linux_find_lock_holders(near.rawValue, 4711, 42, "/nonexistent")
        // It waits for room, or has ended without a word.
        while Self.threadStates.contains("R") {}
        var isTold = false
        while !isTold, waitReadable(far.rawValue, bound: 5000) {
            var count = 0
            var isLost = false
            let length = linux_packet_receive(
                far.rawValue, &word, MemoryLayout<keeper_word>.size, nil, &count, &isLost, false)
            isTold = length > 0 && word.id == 4711 << 32 | 42
        }
        #expect(isTold)
    }

    /// Of the search's threads: R while one runs.
    private static var threadStates: [Character] {
        let threads = (try? Files.list("/proc/self/task")) ?? []
        return threads.compactMap { thread in
            guard let text = try? Files.read("/proc/self/task/\(thread)/stat") else { return nil }
            let parts = String(decoding: text, as: UTF8.self).split(separator: ") ", maxSplits: 1)
            return parts.first?.hasSuffix("(curfewd-locks") == true ? parts.last?.first : nil
        }
    }
}
