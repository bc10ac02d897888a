import CLinux
import SystemCalls
import Testing

/// What is done in time, or left to itself (`linux_do_in_time`).
@Suite struct ErrandTests {
    private static let readsByte: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        var byte: UInt8 = 0
        if let pipe = context?.load(as: Int32.self) { _ = read(pipe, &byte, 1) }
    }
    private static let addsOne: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        context.storeBytes(of: context.load(as: Int32.self) + 1, as: Int32.self)
    }

    private func adds(to number: inout Int32, at subject: UInt64 = 1) -> Bool {
        linux_do_in_time(linux_errand(run: Self.addsOne, discard: nil, subject: subject), &number, 4, 10_000)
    }

    private func hangs(at subject: UInt64, _ end: Int32) -> Bool {
        var context = end
        return !linux_do_in_time(linux_errand(run: Self.readsByte, discard: nil, subject: subject), &context, 4, 1)
    }

    /// 64 at a time; those that are refused do not count among them.
    @Test func whatDoesNotComeBackIsLeft_andNoMoreThanSome() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe2(&ends, Int32(O_CLOEXEC)) == 0)
        defer { for end in ends { close(end) } }
        var number: Int32 = 1
        #expect(adds(to: &number) && number == 2)
        // One at each subject: what it hangs at keeps no other from theirs.
        for _ in 0..<100 { #expect(hangs(at: 2, ends[0])) }
        #expect(!adds(to: &number, at: 2) && adds(to: &number) && number == 3)
        // More than there is room for: others may have had some of it.
        for subject in 3..<100 { #expect(hangs(at: UInt64(subject), ends[0])) }
        for _ in 0..<20 { #expect(!adds(to: &number)) }
        #expect(number == 3)
        try #require(write(ends[1], [UInt8](repeating: 0, count: 64), 64) == 64)
        let end = Clocks.monotonic + 20_000_000_000
        while Clocks.monotonic < end, !adds(to: &number) {}
        #expect(number == 4)
    }
}
