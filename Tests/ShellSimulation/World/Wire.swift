internal import CLinux
internal import PlayedKernel

/// The world's end of a Unix socket.
enum Wire {
    nonisolated(unsafe) private static var number: UInt32 = 0

    /// Connected, as that process; nil where no socket listens.
    static func connect(_ path: String, as pid: Int32, datagram: Bool = false) -> Int32? {
        let type = Int32((datagram ? SOCK_DGRAM : SOCK_STREAM).rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = __real_socket(AF_UNIX, type | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { return nil }
        number += 1
        _ = played_bind_as(socket, pid, number)
        let result = linux_unix_connect(socket, path)
        guard result == 0 else {
            _ = __real_close(socket)
            return nil
        }
        return socket
    }

    @discardableResult
    static func send(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
        __real_send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == bytes.count
    }

    /// What has come; nil at the end of it.
    static func receive(_ socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = __real_recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count > 0 { return Array(bytes[..<count]) }
        return count == 0 || errno_now() != EAGAIN ? nil : []
    }

    private static func errno_now() -> Int32 { linux_errno() }

    /// Whether it was sent: the queue of a socket is short.
    @discardableResult
    static func notify(_ path: String, as pid: Int32, _ text: String) -> Bool {
        guard let socket = connect(path, as: pid, datagram: true) else { return false }
        defer { _ = __real_close(socket) }
        return send(socket, Array(text.utf8))
    }

    static func message(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    /// A member of a message, where it is a plain string: good enough for messages that the daemon writes.
    static func string(_ name: String, in message: String) -> String? {
        guard let start = message.range(of: "\"\(name)\":\"") else { return nil }
        let rest = message[start.upperBound...]
        return rest.firstIndex(of: "\"").map { String(rest[..<$0]) }
    }
}

extension String {
    /// Where a text is found first.
    func range(of text: String) -> Range<String.Index>? {
        let own = Array(utf8)
        let wanted = Array(text.utf8)
        guard own.count >= wanted.count else { return nil }
        for start in 0...(own.count - wanted.count) where own[start..<(start + wanted.count)].elementsEqual(wanted) {
            let from = utf8.index(startIndex, offsetBy: start)
            return from..<utf8.index(from, offsetBy: wanted.count)
        }
        return nil
    }
}

/// Collects bytes into messages that end with NUL.
struct Inbox {
    private var bytes: [UInt8] = []

    mutating func take(_ more: [UInt8]) -> [String] {
        bytes += more
        var messages: [String] = []
        while let end = bytes.firstIndex(of: 0) {
            messages.append(String(decoding: bytes[..<end], as: UTF8.self))
            bytes.removeSubrange(...end)
        }
        return messages
    }
}
