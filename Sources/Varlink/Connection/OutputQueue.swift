internal import CLinux
internal import SystemCalls

/// Bytes on their way to a socket that may not take them now.
struct OutputQueue {
    private static let keptCapacity = 16 << 10

    private var bytes: [UInt8] = []
    private var sent = 0

    var count: Int { bytes.count - sent }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: [UInt8]) {
        if sent > 0, sent >= count {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes.append(contentsOf: more)
    }

    mutating func removeAll() {
        bytes = []
        sent = 0
    }

    /// Sends what the socket takes now; the error that ended it, if any.
    mutating func flush(to descriptor: Int32) -> SystemError? {
        while sent < bytes.count {
            let offset = sent
            let count = bytes.withUnsafeBytes { buffer in
                linux_unix_send(descriptor, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
            }
            if count >= 0 {
                sent += count
                continue
            }
            switch Errno.current {
            case .interrupted: continue
            case .again: return nil
            case let errno: return SystemError("send", errno: errno)
            }
        }
        if bytes.capacity > Self.keptCapacity { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
        sent = 0
        return nil
    }
}
