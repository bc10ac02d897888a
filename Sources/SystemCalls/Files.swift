internal import CLinux

/// Whole files and directories, by path.
public enum Files {
    /// At most `limit` bytes of a file. Never waits: what is no regular file (/proc and /sys have regular ones) is not
    /// read.
    public static func read(_ path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
        let file = try FileDescriptor.openRegular(path, O_RDONLY)
        do throws(SystemError) {
            return try file.readAll(limit: limit)
        } catch {
            throw SystemError(error.operation, path, errno: error.errno)
        }
    }

    /// Writes into an existing file, as /sys and /proc want it: one write, no truncation, no creation.
    public static func writeExisting(_ path: String, _ text: String) throws(SystemError) {
        let file = try FileDescriptor.open(path, O_WRONLY)
        do throws(SystemError) {
            try file.writeAll([UInt8](text.utf8))
        } catch {
            throw SystemError("write", path, errno: error.errno)
        }
    }

    /// Milliseconds that a file of the kernel's is waited for that all users may read.
    public static let sharedPatience: Int32 = 500

    /// The same of a file that other users may read too, and so hold up (inotify(7)): the first `limit` bytes, 2048 at
    /// most. ETIMEDOUT: not read in time, or too much was waited for lately.
    public static func readShared(_ path: String, limit: Int, within patience: Int32 = sharedPatience)
        throws(SystemError) -> [UInt8]
    {
        try take(limit, path) { linux_read_in_time(path, patience, $0, $1, $2) }
    }

    /// The same of one that is open.
    public static func readShared(_ file: borrowing FileDescriptor, limit: Int) throws(SystemError) -> [UInt8] {
        let number = file.rawValue
        return try take(limit, "") { linux_read_open_in_time(number, sharedPatience, $0, $1, $2) }
    }

    private static func take(
        _ limit: Int, _ path: String, _ read: (UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>) -> Int32
    ) throws(SystemError) -> [UInt8] {
        var length = 0
        var bytes = [UInt8](repeating: 0, count: limit)
        let error = bytes.withUnsafeMutableBytes { read($0.baseAddress, $0.count, &length) }
        if error != 0 { throw SystemError("read", path, errno: Errno(rawValue: error)) }
        bytes.removeLast(limit - length)
        return bytes
    }

    /// `writeExisting`, in time.
    public static func writeShared(_ path: String, _ text: String) throws(SystemError) {
        let bytes = [UInt8](text.utf8)
        let error = linux_write_in_time(path, sharedPatience, bytes, bytes.count)
        if error != 0 { throw SystemError("write", path, errno: Errno(rawValue: error)) }
    }

    /// Replaces a file so that a crash or power loss leaves the old or the new content, never a mixture:
    /// temporary file, fsync, rename, fsync of the directory when `durable`. The temporary file is always a new one.
    public static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, durable: Bool = true)
        throws(SystemError)
    {
        let temporary = path + ".new"
        do throws(SystemError) {
            let file = try create(temporary, mode)
            try file.writeAll(bytes)
            if durable, fsync(file.rawValue) != 0 { throw SystemError("fsync", temporary) }
            if rename(temporary, path) != 0 { throw SystemError("rename", path) }
        } catch {
            _ = unlink(temporary)
            throw SystemError(error.operation, path, errno: error.errno)
        }
        guard durable else { return }
        let directory = try FileDescriptor.open(directoryName(of: path), O_RDONLY | O_DIRECTORY)
        if fsync(directory.rawValue) != 0 { throw SystemError("fsync", path) }
    }

    /// Puts bytes into a file that is there, in place of what is in it, where there is room for nothing new. A loss of
    /// power in the midst of it leaves the one or the other where both are within a sector (512 bytes).
    public static func overwrite(_ path: String, with bytes: [UInt8], durable: Bool = true) throws(SystemError) {
        let file = try FileDescriptor.openRegular(path, O_WRONLY | O_NOFOLLOW)
        do throws(SystemError) {
            try file.writeAll(bytes)
            if ftruncate(file.rawValue, off_t(bytes.count)) != 0 { throw SystemError("ftruncate", path) }
            if durable, fsync(file.rawValue) != 0 { throw SystemError("fsync", path) }
        } catch {
            throw SystemError(error.operation, path, errno: error.errno)
        }
    }

    /// Not what lies there: that may be left from a crash, or a FIFO.
    private static func create(_ path: String, _ mode: UInt32) throws(SystemError) -> FileDescriptor {
        if unlink(path) != 0, Errno.current != .noEntry { throw SystemError("unlink", path) }
        return try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    }

    /// Creates a directory, and those above it with the mode 0755; one that is there already is left as it is.
    public static func createDirectories(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        if mkdir(path, mode) == 0 { return }
        let errno = Errno.current
        switch errno {
        case .exists: return
        case .noEntry:
            try createDirectories(directoryName(of: path))
            if mkdir(path, mode) != 0, Errno.current != .exists { throw SystemError("mkdir", path) }
        default: throw SystemError("mkdir", path, errno: errno)
        }
    }

    /// The names in a directory, sorted, without "." and "..". What cannot be read to its end is an error.
    public static func list(_ path: String) throws(SystemError) -> [String] {
        var names: UnsafeMutablePointer<CChar>?
        var length = 0
        return try take(path, linux_list(path, &names, &length), names, length)
    }

    private static func take(
        _ path: String, _ error: Int32, _ names: UnsafeMutablePointer<CChar>?, _ length: Int
    ) throws(SystemError) -> [String] {
        if error != 0 { throw SystemError("list", path, errno: Errno(rawValue: error)) }
        defer { free(names) }
        let bytes = UnsafeRawBufferPointer(start: names, count: length)
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// Milliseconds for a list that may have to come from a slow disk.
    public static let patience: Int32 = 3000

    /// The same of a directory that other users may read too: one of them may keep its lock for as long as it likes
    /// (getdents(2) into memory that is slow to come). ETIMEDOUT: not told within so many milliseconds.
    public static func listShared(_ path: String, within limit: Int32 = 100) throws(SystemError) -> [String] {
        var names: UnsafeMutablePointer<CChar>?
        var length = 0
        return try take(path, linux_list_in_time(path, limit, &names, &length), names, length)
    }

    /// Not where it is so already: who may read the folder above can hold up each change.
    public static func setMode(_ mode: UInt32, of path: String) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & 0o7777 != mode { _ = chmod(path, mode) }
    }

    /// Who may use what lies there: this user and root, or all (nil).
    public static func admit(only user: UInt32?, to path: String) throws(SystemError) {
        let mode: UInt32 = user == nil ? 0o666 : 0o600
        // Who owns a socket may have each change of it take its time (inotify(7)): none is made without need.
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & 0o7777 == mode, status.st_uid == user ?? 0 { return }
        // The mode first: with the old one, the new owner would let in whom it let in.
        if chmod(path, mode) != 0 { throw SystemError("chmod", path) }
        if chown(path, user ?? 0, gid_t.max) != 0, Errno.current != .notPermitted { throw SystemError("chown", path) }
    }

    /// And no link to one.
    public static func isSocket(_ path: String) -> Bool { kind(of: path) == S_IFSOCK }

    /// A regular one, and no link to one.
    public static func isFile(_ path: String) -> Bool { kind(of: path) == S_IFREG }

    private static func kind(of path: String) -> Int32? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int32(bitPattern: status.st_mode) & S_IFMT : nil
    }

    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// rename(2): what lies there is replaced.
    public static func move(_ path: String, to other: String) throws(SystemError) {
        if rename(path, other) != 0 { throw SystemError("rename", path) }
    }

    /// unlink(2).
    public static func remove(_ path: String) throws(SystemError) {
        if unlink(path) != 0 { throw SystemError("unlink", path) }
    }

    /// The path from the root directory; as it is where the working directory is not known.
    public static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        let folder = String(cString: here)
        return (folder == "/" ? "" : folder) + "/" + path
    }

    /// "/a/b" of "/a/b/c", "." of "c".
    public static func directoryName(of path: String) -> String {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == 0 ? "/" : String(decoding: bytes[0..<slash], as: UTF8.self)
    }
}
