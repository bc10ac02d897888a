internal import CLinux

/// An errno(3) value.
public struct Errno: RawRepresentable, Equatable, Hashable, Sendable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The calling thread's errno, to be read right after a failed call.
    public static var current: Errno { Errno(rawValue: linux_errno()) }

    public static let notPermitted = Errno(rawValue: EPERM)
    public static let noEntry = Errno(rawValue: ENOENT)
    public static let noProcess = Errno(rawValue: ESRCH)
    public static let interrupted = Errno(rawValue: EINTR)
    public static let again = Errno(rawValue: EAGAIN)
    public static let noMemory = Errno(rawValue: ENOMEM)
    public static let accessDenied = Errno(rawValue: EACCES)
    public static let busy = Errno(rawValue: EBUSY)
    public static let exists = Errno(rawValue: EEXIST)
    public static let notDirectory = Errno(rawValue: ENOTDIR)
    public static let invalid = Errno(rawValue: EINVAL)
    public static let tooManyFiles = Errno(rawValue: EMFILE)
    public static let tooManyFilesInSystem = Errno(rawValue: ENFILE)
    public static let noSpace = Errno(rawValue: ENOSPC)
    public static let overQuota = Errno(rawValue: EDQUOT)
    public static let brokenPipe = Errno(rawValue: EPIPE)
    public static let notEmpty = Errno(rawValue: ENOTEMPTY)
    public static let notSupported = Errno(rawValue: EOPNOTSUPP)
    public static let timedOut = Errno(rawValue: ETIMEDOUT)
    public static let connectionReset = Errno(rawValue: ECONNRESET)
    public static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    public static let addressInUse = Errno(rawValue: EADDRINUSE)

    /// The file system takes nothing more.
    public var isFull: Bool { self == .noSpace || self == .overQuota }

    /// strerror(3): "No such file or directory".
    public var text: String { String(cString: strerror(rawValue)) }
}

/// A system call that failed: which one, on what, and why.
public struct SystemError: Error, Equatable, Sendable {
    public let operation: String
    /// The path, address or process the call was about; empty where there is none.
    public let subject: String
    public let errno: Errno

    public init(_ operation: String, _ subject: String = "", errno: Errno = .current) {
        self.errno = errno
        self.operation = operation
        self.subject = subject
    }

    /// "open /etc/x: Permission denied".
    public var text: String {
        subject.isEmpty ? "\(operation): \(errno.text)" : "\(operation) \(subject): \(errno.text)"
    }
}
