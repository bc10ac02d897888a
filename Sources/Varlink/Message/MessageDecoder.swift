/// Cuts a stream of bytes into Varlink messages: each ends with a NUL byte.
public struct MessageDecoder {
    /// The longest message there may be, without its NUL: 1 MiB.
    public static let messageLimit = 1 << 20
    /// What of the buffer is kept when everything in it has been taken.
    private static let keptCapacity = 16 << 10

    /// Why the stream cannot be read any further.
    public enum Failure: Error, Equatable, Sendable {
        /// More than `limit` bytes without a NUL. The stream cannot be read any further.
        case messageTooLong
    }

    /// The longest that is taken here; no more than `messageLimit`.
    public let limit: Int

    private var buffer: [UInt8] = []
    /// Where the first message that was not taken yet begins.
    private var start = 0
    /// Up to here there is no NUL after `start`.
    private var searched = 0
    private var failed = false
    /// How many messages have been complete.
    private(set) var count = 0

    public init(limit: Int = messageLimit) { self.limit = min(limit, Self.messageLimit) }

    /// "64 KiB"
    var limitText: String { limit == Self.messageLimit ? "1 MiB" : "\(limit >> 10) KiB" }

    /// Bytes that were fed and not yet taken as messages.
    public var pendingBytes: Int { buffer.count - start }

    /// Takes in what was read, in whatever pieces.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if failed { return }
        makeRoom()
        buffer.append(contentsOf: bytes)
    }

    /// The same from any bytes.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        if failed { return }
        makeRoom()
        buffer.append(contentsOf: bytes)
    }

    /// The next complete message without its NUL; nil when there is none yet. Let go of it before more is fed.
    public mutating func next() throws(Failure) -> ArraySlice<UInt8>? {
        if failed { throw .messageTooLong }
        let end = endOfMessage()
        let length = (end ?? buffer.count) - start
        if length > limit {
            failed = true
            buffer = []
            start = 0
            throw .messageTooLong
        }
        guard let end else {
            searched = buffer.count
            return nil
        }
        let message = buffer[start..<end]
        start = end + 1
        searched = start
        count &+= 1
        return message
    }

    private func endOfMessage() -> Int? {
        let from = searched
        return buffer.withUnsafeBufferPointer { bytes in
            var index = from
            while index < bytes.count {
                if bytes[index] == 0 { return index }
                index += 1
            }
            return nil
        }
    }

    /// Moves what is left to the front once it is the smaller part, so that each byte is moved a bounded number of
    /// times, and gives back what a large message needed.
    private mutating func makeRoom() {
        guard start > 0, start >= buffer.count - start else { return }
        if start == buffer.count, buffer.capacity <= Self.keptCapacity {
            buffer.removeAll(keepingCapacity: true)
        } else {
            buffer = start == buffer.count ? [] : Array(buffer[start...])
        }
        searched -= start
        start = 0
    }

    /// Gives memory back when nothing is left to take; for a stream that has gone silent.
    public mutating func trim() {
        if start == buffer.count, buffer.capacity > Self.keptCapacity {
            buffer = []
            start = 0
            searched = 0
        }
    }
}
