internal import CLinux
public import SystemCalls

/// Bytes for the next loop, in memory of no file (memfd_create(2)) that the keeper has too.
///
/// Each write goes to the place of the one before the last, and counts when it is whole: who dies in the middle of one
/// leaves the one before.
public final class KeptMemory {
    /// Bytes of one write, at most; the memory that is used is what was written.
    public static let limit = 32 << 20
    private static let mark: UInt64 = 0x6375_7266_6577_0001

    private struct Head {
        var mark = KeptMemory.mark
        /// Counts writes: an even one lies in the first place, an odd one in the second.
        var number: UInt64 = 0
        var length: UInt64 = 0
    }

    private let file: FileDescriptor
    private var number: UInt64 = 0

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

    /// The last that was written whole; nil: none was.
    public func read() -> [UInt8]? {
        guard let head, head.length <= UInt64(Self.limit) else { return nil }
        let length = Int(head.length)
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            count = pread(file.rawValue, buffer.baseAddress, length, Self.place(of: head.number))
            filled = max(0, count)
        }
        return count == length ? bytes : nil
    }

    /// Throws `.noSpace` where it is more than `limit`; what was written before counts then.
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        guard bytes.count <= Self.limit else { throw SystemError("keep the state", errno: .noSpace) }
        var next = Head(number: number + 1, length: UInt64(bytes.count))
        guard pwrite(file.rawValue, bytes, bytes.count, Self.place(of: next.number)) == bytes.count,
            pwrite(file.rawValue, &next, MemoryLayout<Head>.size, 0) == MemoryLayout<Head>.size
        else { throw SystemError("keep the state") }
        number += 1
    }
}
