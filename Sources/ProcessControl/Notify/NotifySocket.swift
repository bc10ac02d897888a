internal import CLinux
public import SystemCalls

/// Where apps send their sd_notify(3) messages: a datagram socket that our user alone may write to, until another or
/// every one is let in (`admit`).
///
/// The kernel queues few datagrams for one socket (net.unix.max_dgram_qlen) and lets senders wait beyond that. So an
/// app that floods its socket holds up others that share it; give such apps sockets of their own.
public final class NotifySocket {
    /// What it was bound to, or was kept at last.
    public private(set) var path: String
    private var socket: FileDescriptor?
    private let number: Int32
    /// The longest message, systemd's own limit.
    private static let capacity = 4096

    /// For an event loop: readable when there is a message.
    public var descriptor: Int32 { number }

    /// "NOTIFY_SOCKET=PATH", for the app's environment.
    public var environment: String { "NOTIFY_SOCKET=\(path)" }

    /// Binds at an absolute path of at most 107 bytes; what a predecessor left there is removed.
    public static func open(_ path: String) throws(SystemError) -> NotifySocket {
        try NotifySocket(path)
    }

    private init(_ path: String) throws(SystemError) {
        let descriptor = CLinux.socket(AF_UNIX, linux_datagram_type, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        socket = FileDescriptor(owning: descriptor)
        number = descriptor
        self.path = path
        if linux_notify_enable(descriptor) != 0 { throw SystemError("SO_PASSCRED") }
        if linux_notify_bind(descriptor, path) != 0 { throw SystemError("bind", path) }
    }

    /// One that an earlier loop has bound, and that lies there now.
    public init(kept: consuming FileDescriptor, at path: String) {
        number = kept.rawValue
        socket = .some(kept)
        self.path = path
    }

    deinit { _ = close() }

    /// Takes no more messages. The socket, where descriptors are left in it: to close it may take as long as their
    /// sender likes.
    public func close() -> FileDescriptor? {
        guard let socket = socket.take() else { return nil }
        _ = unlink(path)
        if linux_drain(number) { return nil }
        return .some(socket)
    }

    /// Moves what lies at the path. It keeps who may send.
    public func keep(at next: String) throws(SystemError) {
        if next == path { return }
        try Files.move(path, to: next)
        path = next
    }

    /// Who may send: this user and root, or everyone (nil).
    public func admit(only user: UInt32?) throws(SystemError) {
        guard Files.isSocket(path) else { throw SystemError("no socket", path, errno: .noEntry) }
        try Files.admit(only: user, to: path)
    }

    /// The next message, nil when there is none. Never blocks. One that has descriptors comes again until it was taken
    /// off in another way.
    public func receive() throws(SystemError) -> Notification? {
        while true {
            var raw = linux_notification()
            // On the stack: a socket that is silent costs none of our memory.
            let (errno, text) = withUnsafeTemporaryAllocation(byteCount: Self.capacity, alignment: 1) { buffer in
                guard linux_notify_receive(number, buffer.baseAddress, buffer.count, &raw) == 0 else {
                    return (Errno.current as Errno?, [UInt8]())
                }
                return (nil, Array(buffer[..<Int(raw.length)]))
            }
            guard let errno else { return Notification(raw, text[...]) }
            if errno == .again { return nil }
            if errno != .interrupted { throw SystemError("recvmsg", path, errno: errno) }
        }
    }

    /// At most `count` messages, in order, so that an app that floods the socket cannot hold up the loop: what is left
    /// makes the descriptor readable again. A second descriptor of the socket where the last one has descriptors: to
    /// take that message off may take as long as its sender likes.
    public func receive(atMost count: Int, _ body: (Notification) -> Void) throws(SystemError) -> FileDescriptor? {
        for _ in 0..<count {
            guard let notification = try receive() else { return nil }
            body(notification)
            if notification.hasDescriptors { return try FileDescriptor.duplicate(of: number) }
        }
        return nil
    }
}
