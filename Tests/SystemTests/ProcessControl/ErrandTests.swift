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

    private func adds(to number: inout Int32) -> Bool { linux_do_in_time(Self.addsOne, &number, 4, 10_000) }

    /// Sixteen at a time; those that are refused do not count among them.
    @Test func whatDoesNotComeBackIsLeft_andNoMoreThanSome() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe2(&ends, Int32(O_CLOEXEC)) == 0)
        defer { for end in ends { close(end) } }
        var number: Int32 = 1
        #expect(adds(to: &number) && number == 2)
        // More than there is room for: others may have had some of it.
        for _ in 0..<32 {
            var context = ends[0]
            #expect(!linux_do_in_time(Self.readsByte, &context, 4, 1))
        }
        for _ in 0..<20 { #expect(!adds(to: &number)) }
        #expect(number == 2)
        try #require(write(ends[1], [UInt8](repeating: 0, count: 32), 32) == 32)
        let end = Clocks.monotonic + 20_000_000_000
        while Clocks.monotonic < end, !adds(to: &number) {}
        #expect(number == 3)
    }
}
