internal import CLinux
public import SystemCalls

/// Messages with fields, to journald over its native protocol (systemd's docs/JOURNAL_NATIVE_PROTOCOL.md) where it
/// listens, else a line each on standard error.
///
/// Never waits. sd_journal_sendv(3) does when journald is stopped or behind; here such a message is dropped, and the
/// next one that gets through is followed by a note of how many were. Each message looks for the socket again, so
/// journald may come and go.
public final class Journal {
    /// syslog(3)'s.
    public enum Priority: Int32, Sendable {
        case emergency = 0
        case alert
        case critical
        case error
        case warning
        case notice
        case info
        case debug

        public var name: String {
            switch self {
            case .emergency: "emergency"
            case .alert: "alert"
            case .critical: "critical"
            case .error: "error"
            case .warning: "warning"
            case .notice: "notice"
            case .info: "info"
            case .debug: "debug"
            }
        }
    }

    /// Messages that neither the journal nor stderr took since the last that got through.
    public private(set) var dropped = 0
    private let identifier: String
    private let socket: DatagramSocket?
    private let streamPath: String
    private let standardError: StandardError

    /// identifier: SYSLOG_IDENTIFIER. socketPath: nil for standard error only. standardError: a descriptor that stays
    /// the caller's.
    public init(
        identifier: String, socketPath: String? = "/run/systemd/journal/socket",
        streamPath: String = "/run/systemd/journal/stdout", standardError: Int32 = 2
    ) {
        self.identifier = identifier
        self.socket = socketPath.flatMap { DatagramSocket(to: $0) }
        self.streamPath = streamPath
        self.standardError = StandardError(standardError)
    }

    /// fields: names of capital letters, digits and underscores, such as CURFEW_APP.
    public func send(
        _ priority: Priority, _ message: String, messageID: MessageID? = nil, fields: [(String, String)] = []
    ) {
        guard deliver(priority, message, messageID, fields) else {
            dropped += 1
            return
        }
        guard dropped > 0 else { return }
        let count = "\(dropped)"
        let isNoted = deliver(
            .warning, "\(count) messages before this were dropped: the journal did not take them", .messagesDropped,
            [("CURFEW_DROPPED", count)])
        if isNoted { dropped = 0 }
    }

    /// Bytes of a message that a datagram has room for, whatever comes with it.
    private static let longestMessage = 4096

    private func deliver(
        _ priority: Priority, _ message: String, _ messageID: MessageID?, _ fields: [(String, String)]
    ) -> Bool {
        if let socket {
            var entry = JournalEntry()
            // journalctl shows what has control characters in it as "[1.2K blob data]": a line that nothing is read of.
            entry.append("MESSAGE", String(decoding: Self.printable(message, keepsLines: true), as: UTF8.self))
            entry.append("PRIORITY", "\(priority.rawValue)")
            entry.append("SYSLOG_IDENTIFIER", identifier)
            if let messageID { entry.append("MESSAGE_ID", messageID.id) }
            for (name, value) in fields { entry.append(name, value) }
            guard let error = socket.send(entry.bytes) else { return true }
            // What is too long for a datagram says as much with its beginning.
            if error.rawValue == EMSGSIZE, message.utf8.count > Self.longestMessage {
                return deliver(priority, message.beginning(bytes: Self.longestMessage), messageID, fields)
            }
            // Full, or too big for a datagram: journald is there, and standard error may well lead to it.
            if error == .again || error.rawValue == EMSGSIZE || error.rawValue == ENOBUFS { return false }
        }
        return standardError.write(Self.line(priority, message, fields))
    }

    /// "warning: message CURFEW_APP=camera": one line, whatever is in it.
    private static func line(_ priority: Priority, _ message: String, _ fields: [(String, String)]) -> [UInt8] {
        var text = priority.name + ": " + message
        for (name, value) in fields { text += " " + name + "=" + value }
        var bytes = printable(text)
        // What a pipe takes in one piece.
        bytes.cut(to: 4095)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func printable(_ text: String, keepsLines: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 1)
        for scalar in text.unicodeScalars {
            if isControl(scalar), !keepsLines || scalar != "\n" {
                bytes.append(UInt8(ascii: " "))
            } else if let encoded = Unicode.UTF8.encode(scalar) {
                bytes += encoded
            }
        }
        return bytes
    }

    /// What a terminal takes for a command, or turns the direction of a text with: C0, C1, and those of U+2028 and on.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// A descriptor for the output of an app, to which journald puts the identifier and, where a line has none of its
    /// own ("<4>"), the priority: sd_journal_stream_fd(3) that does not wait. It blocks its writers, as programs
    /// expect. Throws where there is no journald, or it has no room for another connection now (EAGAIN).
    public func stream(identifier: String, priority: Priority) throws(SystemError) -> FileDescriptor {
        guard let address = UnixAddress(streamPath) else { throw SystemError("connect", streamPath, errno: .invalid) }
        let stream = try UnixAddress.socket(SOCK_STREAM)
        let number = stream.rawValue
        guard address.connect(number) == 0 else { throw SystemError("connect", streamPath) }
        // Identifier, unit, priority, whether "<4>" is looked for, forward to syslog, to kmsg, to the console.
        let clean = String(decoding: identifier.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        let header = Array("\(clean)\n\n\(priority.rawValue)\n1\n0\n0\n0\n".utf8)
        let count = header.withUnsafeBytes {
            CLinux.send(number, $0.baseAddress, $0.count, UnixAddress.withoutWaiting)
        }
        guard count == header.count else {
            throw SystemError("send", streamPath, errno: count < 0 ? Errno.current : .again)
        }
        guard shutdown(number, Int32(SHUT_RD)) == 0 else { throw SystemError("shutdown", streamPath) }
        guard linux_set_flags(number, linux_get_flags(number) & ~O_NONBLOCK) == 0 else {
            throw SystemError("fcntl", streamPath)
        }
        return stream
    }
}
