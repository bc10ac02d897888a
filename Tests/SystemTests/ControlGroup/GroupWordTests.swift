import CLinux
import SystemCalls
import Testing

/// Words to control groups that are not done at once: a FIFO without a reader takes none.
@Suite struct GroupWordTests {
    private func tell(_ directory: String, _ text: String) -> Int32 {
        linux_tell_group(directory + "/cgroup.freeze", text, false)
    }

    /// As a group of its own would be.
    private func group(_ directory: String, _ number: Int) throws -> String {
        let path = "\(directory)/\(number)"
        try #require(mkdir(path, 0o700) == 0 && mkfifo(path + "/cgroup.freeze", 0o600) == 0)
        return path
    }

    /// What was said is heard by now, or soon.
    private func hear(_ group: String) throws -> [UInt8] {
        let reader = try FileDescriptor.open(group + "/cgroup.freeze", O_RDONLY)
        return try reader.readAll(limit: 1)
    }

    @Test func secondWordIsNotBegun_beforeTheFirstIsDone() throws {
        try withTemporaryDirectory { directory in
            let group = try group(directory, 1)
            #expect(tell(group, "1") == EINPROGRESS)
            #expect(tell(group, "0") == EAGAIN)
            #expect(try hear(group) == [UInt8(ascii: "1")])
            // Its thread comes back by itself; another word hangs as the first did.
            let end = Clocks.monotonic + 20_000_000_000
            var answer = EAGAIN
            while answer == EAGAIN, Clocks.monotonic < end { answer = tell(group, "0") }
            #expect(answer == EINPROGRESS)
            #expect(try hear(group) == [UInt8(ascii: "0")])
        }
    }

    /// Where much was waited for lately nothing is, for a while.
    @Test func isWaitedForAgain_afterAWhile() throws {
        try withTemporaryDirectory { directory in
            let end = Clocks.monotonic + 20_000_000_000
            var (number, waits) = (0, [true])
            // Waited for, then not, then again: each lets its thread go.
            while waits != [true, false, true], Clocks.monotonic < end {
                number += 1
                let group = try group(directory, number)
                let begun = Clocks.monotonic
                let answer = tell(group, "1")
                let isWaited = Clocks.monotonic - begun > 15_000_000
                if answer == EINPROGRESS {
                    if isWaited != waits.last { waits.append(isWaited) }
                    _ = try hear(group)
                }
            }
            #expect(waits == [true, false, true])
        }
    }

    @Test func whatHasNoPlaceIsToldAtOnce() {
        #expect(linux_make_group("/nonexistent/group") == ENOENT)
        #expect(linux_remove_group("/nonexistent/group") == ENOENT)
    }
}
