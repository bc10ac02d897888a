internal import CLinux

/// A lock that dies with the process, however it ends: on a file to which no other user may write, so that none can
/// take it (fcntl(2), F_OFD_SETLK).
public enum FileLock {
    /// What to wait for at most: a predecessor that is ending, or a process that it has just forked.
    private static let patience: Int64 = 2_000_000_000
    private static let step: Int32 = 20

    /// Waits up to two seconds for another to let go; false where it does not. forReading: the file is open for reading
    /// alone, so that its file system can still be remounted read-only; that is another kind of lock (flock(2)).
    public static func take(_ file: borrowing FileDescriptor, forReading: Bool = false) throws(SystemError) -> Bool {
        let end = Clocks.monotonic + patience
        while (forReading ? linux_lock_for_reading(file.rawValue) : linux_lock_file(file.rawValue)) != 0 {
            let errno = Errno.current
            switch errno {
            case .again:
                guard Clocks.monotonic < end else { return false }
                _ = poll(nil, 0, step)
            case .interrupted: continue
            default: throw SystemError("lock", errno: errno)
            }
        }
        return true
    }

    /// Whether that path leads to this file still.
    public static func isStill(at path: String, _ file: borrowing FileDescriptor) -> Bool {
        var own = stat()
        var there = stat()
        return fstat(file.rawValue, &own) == 0 && lstat(path, &there) == 0 && own.st_ino == there.st_ino
            && own.st_dev == there.st_dev
    }

    /// Whether both lead to one file; -1 leads to none.
    public static func isOfSameFile(_ one: Int32, _ other: borrowing FileDescriptor) -> Bool {
        var first = stat()
        var second = stat()
        return one >= 0 && fstat(one, &first) == 0 && fstat(other.rawValue, &second) == 0
            && first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    /// A file of its own for a lock: readable and writable for its owner alone. One that others can open, which an
    /// older version made or another user put there, is replaced.
    public static func open(_ path: String) throws(SystemError) -> FileDescriptor {
        for _ in 0..<2 {
            let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            var status = stat()
            guard fstat(file.rawValue, &status) == 0 else { throw SystemError("fstat", path) }
            if status.st_uid == geteuid(), status.st_mode & 0o177 == 0 { return file }
            if unlink(path) != 0, Errno.current != .noEntry { throw SystemError("unlink", path) }
        }
        throw SystemError("lock", path, errno: .busy)
    }
}
