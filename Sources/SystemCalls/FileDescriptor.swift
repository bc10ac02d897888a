internal import CLinux

/// An open file descriptor with one owner; closed when that owner lets go.
@frozen public struct FileDescriptor: ~Copyable {
    public let rawValue: Int32

    /// Takes ownership of an open descriptor.
    public init(owning rawValue: Int32) { self.rawValue = rawValue }

    deinit { _ = CLinux.close(rawValue) }

    /// Closes now instead of at the end of the owner's life.
    public consuming func close() {}

    /// Gives up ownership: the caller closes.
    public consuming func take() -> Int32 {
        let value = rawValue
        discard self
        return value
    }

    /// A second descriptor for the same open file, close-on-exec.
    public func duplicate() throws(SystemError) -> FileDescriptor {
        try Self.duplicate(of: rawValue)
    }

    /// A second descriptor for a file that is open elsewhere, close-on-exec.
    public static func duplicate(of descriptor: Int32) throws(SystemError) -> FileDescriptor {
        let copy = linux_dup_cloexec(descriptor)
        guard copy >= 0 else { throw SystemError("dup") }
        return FileDescriptor(owning: copy)
    }

    /// open(2) with O_CLOEXEC. flags: O_*; mode: for O_CREAT.
    public static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> FileDescriptor
    {
        while true {
            let descriptor = linux_open_file(path, flags, mode)
            if descriptor >= 0 { return FileDescriptor(owning: descriptor) }
            let errno = Errno.current
            if errno != .interrupted { throw SystemError("open", path, errno: errno) }
        }
    }

    /// The same for a regular file alone, whatever lies there: it waits for nothing, and no terminal is taken.
    public static func openRegular(_ path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError)
        -> FileDescriptor
    {
        let file = try open(path, flags | O_NONBLOCK | O_NOCTTY, mode: mode)
        var status = stat()
        if fstat(file.rawValue, &status) != 0 { throw SystemError("fstat", path) }
        if Int32(bitPattern: status.st_mode) & S_IFMT == S_IFREG { return file }
        throw SystemError("open as a regular file", path, errno: .invalid)
    }

    /// Reads until the end of the file or `limit` bytes, whichever comes first.
    public func readAll(limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let wanted = min(chunk.count, limit - bytes.count)
            let count = chunk.withUnsafeMutableBytes { CLinux.read(rawValue, $0.baseAddress, wanted) }
            if count > 0 {
                bytes.append(contentsOf: chunk[0..<count])
            } else if count == 0 {
                break
            } else {
                let errno = Errno.current
                if errno != .interrupted { throw SystemError("read", errno: errno) }
            }
        }
        return bytes
    }

    /// Writes all of it; for files, pipes and blocking sockets.
    public func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        try Self.writeAll(bytes, to: rawValue)
    }

    /// Writes all of it to a descriptor that another part owns.
    public static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                CLinux.write(descriptor, $0.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if count >= 0 {
                offset += count
            } else {
                let errno = Errno.current
                if errno != .interrupted { throw SystemError("write", errno: errno) }
            }
        }
    }
}
