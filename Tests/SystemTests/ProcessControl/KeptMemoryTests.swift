import Foundation
import ProcessControl
import SystemCalls
import Testing

@Suite struct KeptMemoryTests {
    /// As the next loop has it.
    private func copy(_ memory: KeptMemory) throws -> KeptMemory {
        KeptMemory(kept: try FileDescriptor.duplicate(of: memory.descriptor))
    }

    @Test func whatWasWrittenLastIsRead_byWhoComesNext() throws {
        let memory = try KeptMemory()
        #expect(memory.read() == nil)
        for text in ["first", "", String(repeating: "x", count: 100_000), "short"] {
            try memory.write(Array(text.utf8))
            #expect(memory.read() == Array(text.utf8))
            #expect(try copy(memory).read() == Array(text.utf8))
        }
        let next = try copy(memory)
        try next.write([7])
        #expect(memory.read() == [7])
        try next.write([8])
        #expect(try copy(memory).read() == [8])
    }

    @Test func whatWasNotWrittenWholeDoesNotCount() throws {
        let memory = try KeptMemory()
        try memory.write([1, 2, 3])
        try memory.write([4, 5, 6])
        // The third goes to the place of the first, and this one has no head.
        #expect(pwrite(memory.descriptor, [UInt8](repeating: 9, count: 3), 3, off_t(4096 + KeptMemory.limit)) == 3)
        let next = try copy(memory).read()
        #expect(next == [4, 5, 6])
        try memory.write([7])
        let last = try copy(memory).read()
        #expect(last == [7])
    }

    @Test func memoryOfAnotherIsNotRead() throws {
        let memory = try KeptMemory()
        try memory.write([1])
        #expect(pwrite(memory.descriptor, [0], 1, 0) == 1)
        #expect(memory.read() == nil)
        // Nor what is longer than there is.
        let other = try KeptMemory()
        try other.write([1])
        var length = UInt64(KeptMemory.limit) + 1
        #expect(pwrite(other.descriptor, &length, 8, 16) == 8)
        #expect(other.read() == nil)
        length = 100
        #expect(pwrite(other.descriptor, &length, 8, 16) == 8)
        #expect(other.read() == nil)
    }

    @Test func moreThanThereIsRoomForIsRefused_andWhatWasThereStays() throws {
        let memory = try KeptMemory()
        try memory.write([1])
        #expect(throws: SystemError.self) { try memory.write([UInt8](repeating: 0, count: KeptMemory.limit + 1)) }
        #expect(memory.read() == [1])
    }
}
