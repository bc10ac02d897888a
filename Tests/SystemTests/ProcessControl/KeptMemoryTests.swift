import Foundation
import ProcessControl
import SystemCalls
import Testing

@Suite struct KeptMemoryTests {
    /// As the next loop has it.
    private func copy(_ memory: KeptMemory) throws -> KeptMemory {
        KeptMemory(kept: try FileDescriptor.duplicate(of: memory.descriptor))
    }

    /// What is read by it: the whole, and the steps.
    private func read(_ memory: KeptMemory) throws -> [[UInt8]] {
        guard let state = try copy(memory).read() else { return [] }
        return [state.whole] + state.steps
    }

    private func write(_ step: [UInt8], to memory: KeptMemory) throws {
        var bytes = [UInt8](repeating: 0, count: KeptMemory.roomOfHead) + step
        try memory.write(step: &bytes)
    }

    @Test func whatWasWrittenLastIsRead_byWhoComesNext() throws {
        let memory = try KeptMemory()
        #expect(try read(memory).isEmpty && memory.wantsWhole)
        for text in ["first", "", String(repeating: "x", count: 100_000), "short"] {
            try memory.write(whole: Array(text.utf8))
            #expect(try read(memory) == [Array(text.utf8)])
            try write([1], to: memory)
            try write([2, 3], to: memory)
            #expect(try read(memory) == [Array(text.utf8), [1], [2, 3]] && !memory.wantsWhole)
        }
        let next = try copy(memory)
        // Another goes on with a state of its own.
        #expect(next.wantsWhole)
        try next.write(whole: [7])
        #expect(try read(memory) == [[7]])
        try write([8], to: next)
        #expect(try read(memory) == [[7], [8]])
    }

    @Test func stepsWithoutEndAreWrittenWholeAgain() throws {
        let memory = try KeptMemory()
        var (wholes, steps) = (0, 0)
        for number in 0..<1000 {
            if memory.wantsWhole {
                wholes += 1
                steps = 0
                try memory.write(whole: [UInt8](repeating: 1, count: 1000))
            }
            steps += 1
            try write([UInt8](repeating: UInt8(number % 256), count: 1000), to: memory)
            if number % 97 == 0 { #expect(try read(memory).count == 1 + steps) }
        }
        #expect((10...20).contains(wholes))
    }

    @Test func whatWasNotWrittenWholeDoesNotCount() throws {
        let memory = try KeptMemory()
        try memory.write(whole: [1, 2, 3])
        try memory.write(whole: [4, 5, 6])
        // The third goes to the place of the first, and this one has no head.
        #expect(pwrite(memory.descriptor, [UInt8](repeating: 9, count: 3), 3, off_t(4096 + KeptMemory.limit)) == 3)
        #expect(try read(memory) == [[4, 5, 6]])
        try memory.write(whole: [7])
        #expect(try read(memory) == [[7]])
    }

    /// It ends what is read: what comes after it is of no use without it. Nor is a step of an earlier state read that
    /// lies where the next one would be.
    @Test(arguments: 0..<14) func aStepThatIsDamagedEndsWhatIsRead(_ place: Int) throws {
        let memory = try KeptMemory()
        try memory.write(whole: [1])
        for number in UInt8(2)...4 { try write([number, 0, 0, 0, 0, 0], to: memory) }
        #expect(try read(memory).count == 4)
        let at = off_t(4096 + KeptMemory.limit + 1 + 14 + place)
        var byte: UInt8 = 0
        #expect(pread(memory.descriptor, &byte, 1, at) == 1)
        byte ^= 0x10
        #expect(pwrite(memory.descriptor, &byte, 1, at) == 1)
        #expect(try read(memory) == [[1], [2, 0, 0, 0, 0, 0]])
        try memory.write(whole: [5])
        try memory.write(whole: [6])
        #expect(try read(memory) == [[6]])
    }

    @Test func memoryOfAnotherIsNotRead() throws {
        let memory = try KeptMemory()
        try memory.write(whole: [1])
        #expect(pwrite(memory.descriptor, [0], 1, 0) == 1)
        #expect(memory.read() == nil)
        // Nor what is longer than there is.
        let other = try KeptMemory()
        try other.write(whole: [1])
        var length = UInt64(KeptMemory.limit) + 1
        #expect(pwrite(other.descriptor, &length, 8, 16) == 8)
        #expect(other.read() == nil)
        length = 100
        #expect(pwrite(other.descriptor, &length, 8, 16) == 8)
        #expect(other.read() == nil)
    }

    @Test func moreThanThereIsRoomForIsRefused() throws {
        let memory = try KeptMemory()
        try memory.write(whole: [1])
        #expect(throws: SystemError.self) {
            try memory.write(whole: [UInt8](repeating: 0, count: KeptMemory.limit + 1))
        }
        #expect(try read(memory) == [[1]])
        // A step that has no room is the last: without it no other makes sense.
        #expect(throws: SystemError.self) { try write([UInt8](repeating: 0, count: KeptMemory.limit), to: memory) }
        #expect(memory.wantsWhole)
        memory.discard()
        #expect(try read(memory).isEmpty && memory.wantsWhole)
        try memory.write(whole: [2])
        #expect(try read(memory) == [[2]])
    }

    @Test func whoHasReadItIsCountedBesideIt() throws {
        let memory = try KeptMemory()
        #expect(memory.readers.count == 0)
        var readers = KeptMemory.Readers()
        readers.count = 2
        readers.since = 99
        try memory.note(readers)
        try memory.write(whole: [1])
        let next = try copy(memory)
        #expect(next.readers.count == 2 && next.readers.since == 99)
        #expect(try read(memory) == [[1]])
    }
}
