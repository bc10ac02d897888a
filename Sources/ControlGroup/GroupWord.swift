internal import CLinux
internal import SystemCalls

/// What changes control groups. The kernel has one lock for all of them, which a user with groups of its own can keep
/// for seconds, so each is done by a thread and waited for in time. EAGAIN: nothing was begun, as another change of
/// that group is under way.
enum GroupWord {
    /// One that is not done in time is under way, and will be.
    static func write(_ path: String, _ text: String) throws(SystemError) {
        try check(linux_tell_group(path, text, false), "write", path)
    }

    /// The same, waited for as for a start.
    static func writeForStart(_ path: String, _ text: String) throws(SystemError) {
        try check(linux_tell_group(path, text, true), "write", path)
    }

    /// One that is not made in time is EAGAIN, and removed once it is.
    static func make(_ path: String) throws(SystemError) {
        try check(linux_make_group(path), "mkdir", path, mayBeUnderWay: false)
    }

    static func remove(_ path: String) throws(SystemError) { try check(linux_remove_group(path), "rmdir", path) }

    private static func check(_ error: Int32, _ operation: String, _ path: String, mayBeUnderWay: Bool = true)
        throws(SystemError)
    {
        if error == 0 || mayBeUnderWay && error == EINPROGRESS { return }
        throw SystemError(operation, path, errno: Errno(rawValue: error == EINPROGRESS ? EAGAIN : error))
    }
}
