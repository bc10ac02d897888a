internal import CLinux
public import SystemCalls

/// Who is at the other end of a Unix socket, as the kernel knew it when the connection was made.
public final class Peer {
    public let pid: Int32
    public let uid: UInt32
    public let gid: UInt32
    private let processDescriptor: FileDescriptor?

    /// Keeps meaning this process even when its pid is reused; nil before Linux 6.5. Belongs to this object.
    public var pidfd: Int32? {
        switch processDescriptor {
        case .some(let descriptor): descriptor.rawValue
        case .none: nil
        }
    }

    /// The user alone, which costs little to learn.
    static func user(of socket: Int32) -> UInt32? {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        return linux_unix_peer_credentials(socket, &pid, &uid, &gid) == 0 ? uid : nil
    }

    /// SO_PEERCRED and SO_PEERPIDFD. Of a socketpair(2): the process that made it.
    public init(of socket: Int32) throws(SystemError) {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        if linux_unix_peer_credentials(socket, &pid, &uid, &gid) != 0 { throw SystemError("getsockopt", "SO_PEERCRED") }
        self.pid = pid
        self.uid = uid
        self.gid = gid
        let pidfd = linux_unix_peer_pidfd(socket)
        processDescriptor = pidfd >= 0 ? FileDescriptor(owning: pidfd) : nil
    }
}
