internal import CLinux
public import SystemCalls

/// A process that need not be a child of ours, held by a pidfd: what is read of it in /proc is checked to be of this
/// very process, not of a later one with its pid.
public final class ProcessHandle {
    public let pid: Int32
    private let pidfd: FileDescriptor

    /// The pidfd; readable once the process has ended. Owned by this object.
    public var descriptor: Int32 { pidfd.rawValue }

    private init(pid: Int32, pidfd: consuming FileDescriptor) {
        self.pid = pid
        self.pidfd = pidfd
    }

    /// pidfd_open(2). ESRCH when there is no such process.
    public static func open(_ pid: Int32) throws(SystemError) -> ProcessHandle {
        let pidfd = linux_pidfd_open(pid)
        guard pidfd >= 0 else { throw SystemError("pidfd_open", "\(pid)") }
        return ProcessHandle(pid: pid, pidfd: FileDescriptor(owning: pidfd))
    }

    /// A pidfd from SO_PEERPIDFD or SCM_PIDFD. ESRCH when the process is gone and reaped, or not visible from here.
    public static func adopt(_ pidfd: consuming FileDescriptor) throws(SystemError) -> ProcessHandle {
        let pid = linux_pidfd_pid(pidfd.rawValue)
        guard pid > 0 else { throw SystemError("pidfd", errno: .noProcess) }
        return ProcessHandle(pid: pid, pidfd: pidfd)
    }

    /// Whether it has not been reaped yet: until then its pid is its own.
    public var holdsPid: Bool {
        Self.holdsPid(pidfd.rawValue)
    }

    /// The same for a pidfd that another part owns, a peer's from SO_PEERPIDFD.
    public static func holdsPid(_ pidfd: Int32) -> Bool {
        // EPERM: it is there, but not ours to signal.
        linux_pidfd_send_signal(pidfd, 0) == 0 || Errno.current == .notPermitted
    }

    /// pidfd_send_signal(2).
    public func signal(_ number: Int32) throws(SystemError) {
        if linux_pidfd_send_signal(pidfd.rawValue, number) != 0 { throw SystemError("kill", "\(pid)") }
    }

    /// Whether it has not ended, reaped or not.
    public var isRunning: Bool { !linux_pidfd_is_over(pidfd.rawValue) }

    /// With the pid, it names a process for as long as the board is up; the keeper finds the same. nil when it is gone.
    public var identity: UInt64? {
        let identity = linux_process_identity(pid, pidfd.rawValue)
        return identity != 0 && holdsPid ? identity : nil
    }

    /// Whether it is a child of that process, and runs as that real user.
    public func isChild(of parent: Int32, user: UInt32) -> Bool {
        guard let kin, holdsPid else { return false }
        return kin.parent == parent && kin.user == user
    }

    /// The real one; nil when it is gone, or where that is not known soon.
    public var user: UInt32? {
        guard let kin, holdsPid else { return nil }
        return kin.user
    }

    private var kin: (parent: Int32, user: UInt32)? {
        var kin: (parent: Int32, user: UInt32) = (0, 0)
        return linux_parent_and_user(pid, pidfd.rawValue, &kin.parent, &kin.user) ? kin : nil
    }
}
