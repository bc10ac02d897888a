internal import CLinux
public import SystemCalls

/// A listening Unix socket at a path.
public final class Listener {
    /// What came of one try to accept.
    public enum Accepted: ~Copyable {
        case socket(FileDescriptor)
        /// No client waits any more.
        case none
        /// One was turned away: there are no descriptors left (EMFILE, ENFILE).
        case turnedAway
        /// There are none left even to turn one away.
        case exhausted
        case failed(SystemError)
    }

    public let path: String
    public var descriptor: Int32 { socket.rawValue }
    private let socket: FileDescriptor
    /// Given up when descriptors run out, so that a waiting client can be taken and turned away instead of keeping the
    /// event loop spinning.
    private var reserve: FileDescriptor?
    private static let backlog: Int32 = 128

    /// Takes over a socket that listens already, as one handed on by a predecessor.
    public init(adopting socket: consuming FileDescriptor, path: String) {
        _ = linux_set_flags(socket.rawValue, linux_get_flags(socket.rawValue) | O_NONBLOCK)
        self.socket = consume socket
        self.path = path
        takeReserve()
    }

    /// Listens at `path` with exactly `mode` (0o666) and, where given, that group. A socket left by a dead predecessor
    /// is replaced; where a server answers it fails with EADDRINUSE, where something else lies with EEXIST. Two that
    /// start at the same moment must be kept apart by other means, such as a lock.
    public convenience init(path: String, mode: UInt32, group: UInt32? = nil) throws(SystemError) {
        self.init(adopting: try Self.listen(at: path, mode: mode, group: group), path: path)
    }

    /// The socket alone, for `accept(at:)` of another listener.
    public static func listen(at path: String, mode: UInt32, group: UInt32? = nil) throws(SystemError)
        -> FileDescriptor
    {
        try checkVacant(path)
        let temporary = path + ".new"
        if unlink(temporary) != 0, Errno.current != .noEntry { throw SystemError("unlink", temporary) }
        let descriptor = linux_unix_socket()
        if descriptor < 0 { throw SystemError("socket", path) }
        let socket = FileDescriptor(owning: descriptor)
        if linux_unix_bind(descriptor, temporary) != 0 { throw SystemError("bind", path) }
        do throws(SystemError) {
            if let group, chown(temporary, uid_t.max, group) != 0 { throw SystemError("chown", path) }
            if chmod(temporary, mode) != 0 { throw SystemError("chmod", path) }
            _ = linux_refuse_descriptors(descriptor)
            _ = linux_set_flags(descriptor, linux_get_flags(descriptor) | O_NONBLOCK)
            if linux_unix_listen(descriptor, backlog) != 0 { throw SystemError("listen", path) }
            if rename(temporary, path) != 0 { throw SystemError("rename", path) }
        } catch {
            _ = unlink(temporary)
            throw error
        }
        return socket
    }

    private static func checkVacant(_ path: String) throws(SystemError) {
        switch linux_is_socket(path) {
        case 1: break
        case 0: throw SystemError("listen: remove what lies there, which is no socket:", path, errno: .exists)
        default:
            let errno = Errno.current
            if errno == .noEntry { return }
            throw SystemError("stat", path, errno: errno)
        }
        let descriptor = linux_unix_socket()
        if descriptor < 0 { throw SystemError("socket", path) }
        let probe = FileDescriptor(owning: descriptor)
        // A full queue, too, belongs to a server: EAGAIN.
        _ = linux_set_flags(probe.rawValue, O_NONBLOCK)
        if linux_unix_connect(probe.rawValue, path) == 0 { throw SystemError("bind", path, errno: .addressInUse) }
        switch Errno.current {
        case .connectionRefused, .noEntry: return
        case .again: throw SystemError("bind", path, errno: .addressInUse)
        case let errno: throw SystemError("connect", path, errno: errno)
        }
    }

    /// accept4(2), never blocking.
    ///
    /// closer: of a client that is turned away and has sent descriptors. door: another socket that listens.
    public func accept(_ closer: Connection.Closer? = nil, at door: Int32? = nil) -> Accepted {
        if reserve == nil { takeReserve() }
        let listening = door ?? socket.rawValue
        while true {
            let descriptor = linux_unix_accept(listening)
            if descriptor >= 0 { return .socket(FileDescriptor(owning: descriptor)) }
            let errno = Errno.current
            switch errno {
            case .again: return .none
            case .interrupted, Errno(rawValue: ECONNABORTED): continue
            case .tooManyFiles, .tooManyFilesInSystem: return turnAway(closer, at: listening)
            default: return .failed(SystemError("accept", path, errno: errno))
            }
        }
    }

    private func turnAway(_ closer: Connection.Closer?, at listening: Int32) -> Accepted {
        if reserve == nil { return .exhausted }
        reserve = nil
        let descriptor = linux_unix_accept(listening)
        let errno = Errno.current
        if descriptor >= 0 {
            let socket = FileDescriptor(owning: descriptor)
            if let closer { Connection.close(socket, closer) }
        }
        takeReserve()
        if descriptor >= 0 { return .turnedAway }
        return errno == .again ? .none : .exhausted
    }

    private func takeReserve() {
        // No file: who may read one can make each open of it take its time.
        do throws(SystemError) { reserve = try FileDescriptor.duplicate(of: socket.rawValue) } catch { reserve = nil }
    }

    /// Removes the path, so that clients see that it is not served; not after the socket was handed on.
    public func removePath() {
        _ = unlink(path)
    }
}
