internal import CLinux
public import SystemCalls

/// A state for the next loop, in memory of no file (memfd_create(2)) that the keeper has too: as it was written whole,
/// and after that what each step has changed.
///
/// Each whole state goes to the place of the one before the last, and counts when it is there: who dies in the middle
/// of one leaves the one before. A step counts when all of it is there.
public final class KeptMemory {
    /// Bytes of a whole state and of its steps, at most; the memory that is used is what was written.
    public static let limit = 32 << 20
    /// Steps of so many bytes, or of twice those of the whole state, are more to read than that.
    private static let fewSteps = 64 << 10
    private static let mark: UInt64 = 0x6375_7266_6577_0002

    private struct Head {
        var mark = KeptMemory.mark
        /// Counts whole states: an even one lies in the first place, an odd one in the second.
        var number: UInt64 = 0
        var length: UInt64 = 0
    }

    /// How often in a row a loop has read the state, and when the last one did (MONOTONIC).
    public struct Readers {
        public var count: Int64 = 0
        public var since: Int64 = 0
        /// Those of them, the last ones, that were gone before they were ready.
        public var unready: Int64 = 0
        public init() {}
    }

    private struct StepHead {
        var length: UInt32
        var seal: UInt32
    }

    private let file: FileDescriptor
    private var number: UInt64 = 0
    /// Where the next step goes; 0: none can follow.
    private var end = 0
    private var stepsBegin = 0

    public var descriptor: Int32 { file.rawValue }

    public init() throws(SystemError) {
        let descriptor = linux_memory("curfewd")
        guard descriptor >= 0 else { throw SystemError("memfd_create") }
        file = FileDescriptor(owning: descriptor)
    }

    /// What an earlier loop has written to.
    public init(kept: consuming FileDescriptor) {
        file = kept
        number = head?.number ?? 0
    }

    private var head: Head? {
        var head = Head()
        let size = MemoryLayout<Head>.size
        guard pread(file.rawValue, &head, size, 0) == size, head.mark == Self.mark else { return nil }
        return head
    }

    private static func place(of number: UInt64) -> Int { 4096 + Int(number % 2) * limit }

    // MARK: Who has read it

    private static let placeOfReaders = 64

    /// Zeros where none has.
    public var readers: Readers {
        var readers = Readers()
        let size = MemoryLayout<Readers>.size
        return pread(file.rawValue, &readers, size, Self.placeOfReaders) == size ? readers : Readers()
    }

    /// It stays whatever is written.
    public func note(_ readers: Readers) throws(SystemError) {
        var readers = readers
        let size = MemoryLayout<Readers>.size
        if pwrite(file.rawValue, &readers, size, Self.placeOfReaders) != size { throw SystemError("keep the state") }
    }

    // MARK: Reading

    /// The last whole state, and its steps in order; nil: none was written.
    public func read() -> (whole: [UInt8], steps: [[UInt8]])? {
        guard let head, head.length <= UInt64(Self.limit) else { return nil }
        var place = Self.place(of: head.number)
        guard let whole = read(Int(head.length), at: place) else { return nil }
        let end = place + Self.limit
        place += whole.count
        var steps: [[UInt8]] = []
        while place < end, let step = readStep(at: place, before: end, of: head.number) {
            steps.append(step)
            place += MemoryLayout<StepHead>.size + step.count
        }
        return (whole, steps)
    }

    private func read(_ length: Int, at place: Int) -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            count = pread(file.rawValue, buffer.baseAddress, length, place)
            filled = max(0, count)
        }
        return count == length ? bytes : nil
    }

    private func readStep(at place: Int, before end: Int, of number: UInt64) -> [UInt8]? {
        var head = StepHead(length: 0, seal: 0)
        let size = MemoryLayout<StepHead>.size
        guard pread(file.rawValue, &head, size, place) == size, head.length > 0,
            Int(head.length) <= end - place - size, let step = read(Int(head.length), at: place + size),
            head.seal == step.withUnsafeBytes({ Self.seal($0, number, place) })
        else { return nil }
        return step
    }

    /// Of eight bytes at a time, as FNV-1a. What lies there from an earlier state has another.
    private static func seal(_ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ place: Int) -> UInt32 {
        var hash = (number &* 31 &+ UInt64(place)) ^ 0xcbf2_9ce4_8422_2325
        func take(_ word: UInt64) {
            hash = (hash ^ word) &* 0x100_0000_01b3
            hash ^= hash >> 32
        }
        var at = 0
        while at + 8 <= bytes.count {
            take(bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at += 8
        }
        while at < bytes.count {
            take(UInt64(bytes[at]) | 0x100)
            at += 1
        }
        return UInt32(truncatingIfNeeded: hash)
    }

    // MARK: Writing

    /// It is to be written whole before the next step: there is none, or the steps after it are too many.
    public var wantsWhole: Bool { end == 0 || end - stepsBegin > max(Self.fewSteps, 2 * wholeLength) }
    private var wholeLength: Int { stepsBegin - Self.place(of: number) }

    /// Throws `.noSpace` where it is more than `limit`; what was written before counts then.
    public func write(whole bytes: [UInt8]) throws(SystemError) {
        guard bytes.count <= Self.limit else { throw SystemError("keep the state", errno: .noSpace) }
        var next = Head(number: number + 1, length: UInt64(bytes.count))
        let place = Self.place(of: next.number)
        // What lies after it is of an earlier one, and does not count.
        guard pwrite(file.rawValue, bytes, bytes.count, place) == bytes.count,
            pwrite(file.rawValue, &next, MemoryLayout<Head>.size, 0) == MemoryLayout<Head>.size
        else { throw SystemError("keep the state") }
        number += 1
        stepsBegin = place + bytes.count
        end = stepsBegin
    }

    /// Bytes before a step that its writer leaves free.
    public static let roomOfHead = MemoryLayout<StepHead>.size

    /// To be called where it does not `wantsWhole`. step: after `roomOfHead`. Throws where there is no room for it:
    /// nothing can follow what was written before, which is not what there is any more.
    public func write(step: inout [UInt8]) throws(SystemError) {
        let count = step.count
        let written = step.withUnsafeMutableBytes { bytes in
            let content = UnsafeRawBufferPointer(rebasing: bytes[Self.roomOfHead...])
            let head = StepHead(
                length: UInt32(truncatingIfNeeded: content.count), seal: Self.seal(content, number, end))
            bytes.storeBytes(of: head, as: StepHead.self)
            guard end + count <= Self.place(of: number) + Self.limit else { return 0 }
            return pwrite(file.rawValue, bytes.baseAddress, count, end)
        }
        guard written == count else {
            end = 0
            throw SystemError("keep the state", errno: .noSpace)
        }
        end += count
    }

    /// What was written before is not what there is any more, and nothing else can be.
    public func discard() {
        end = 0
        var none = Head(mark: 0)
        _ = pwrite(file.rawValue, &none, MemoryLayout<Head>.size, 0)
    }
}
