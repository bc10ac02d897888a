internal import CLinux
public import SystemCalls

/// A child of this process, held by its pidfd. `descriptor` becomes readable when it has ended; then `reap` it: until
/// then it stays a zombie, and its pid is not used again. Grandchildren that lose their parent go to init and are not
/// waited for here: their cgroup says what is left of an app, and ends it.
public final class ChildProcess {
    public let pid: Int32
    private let pidfd: FileDescriptor
    /// Set once the process has been reaped.
    public private(set) var exitStatus: ProcessExit?

    /// The pidfd, for an event loop. Owned by this object.
    public var descriptor: Int32 { pidfd.rawValue }

    /// Takes a child over, after a daemon has replaced itself by exec, say.
    public init(pid: Int32, pidfd: consuming FileDescriptor) {
        self.pid = pid
        self.pidfd = pidfd
    }

    /// pidfd_send_signal(2): never reaches another process that got the same pid. Throws ESRCH after `reap`.
    public func signal(_ number: Int32) throws(SystemError) {
        if linux_pidfd_send_signal(pidfd.rawValue, number) != 0 { throw SystemError("kill", "\(pid)") }
    }

    /// The end of the process, nil while it runs. Does not block. Throws ECHILD when it is no child of ours.
    public func reap() throws(SystemError) -> ProcessExit? {
        if let exitStatus { return exitStatus }
        var end = linux_exit()
        while true {
            switch linux_reap(pidfd.rawValue, false, &end) {
            case 0: return nil
            case 1:
                let status = ProcessExit(end)
                exitStatus = status
                return status
            default:
                let errno = Errno.current
                if errno != .interrupted { throw SystemError("waitid", "\(pid)", errno: errno) }
            }
        }
    }
}
