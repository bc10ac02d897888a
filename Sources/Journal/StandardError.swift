internal import CLinux
internal import SystemCalls

/// Writing to a descriptor that others share, and that may be anything: a terminal, a file, a pipe or a socket
/// without a reader. Never waits; O_NONBLOCK is not touched, as it would be set for everyone who has the file open.
struct StandardError {
    private enum Kind { case socket, file, other }

    let descriptor: Int32
    private let kind: Kind

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        if fstat(descriptor, &status) != 0 {
            kind = .other
        } else {
            kind =
                switch Int32(bitPattern: status.st_mode) & S_IFMT {
                case S_IFSOCK: .socket
                case S_IFREG: .file
                default: .other
                }
        }
    }

    /// True when written whole.
    func write(_ bytes: [UInt8]) -> Bool {
        let written =
            switch kind {
            case .socket:
                bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, UnixAddress.withoutWaiting) }
            case .file: bytes.withUnsafeBytes { CLinux.write(descriptor, $0.baseAddress, $0.count) }
            case .other: hasRoom ? bytes.withUnsafeBytes { CLinux.write(descriptor, $0.baseAddress, $0.count) } : -1
            }
        return written == bytes.count
    }

    /// A pipe is ready when it has room for PIPE_BUF (4096), which is what a line has at most.
    private var hasRoom: Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&ready, 1, 0) == 1 else { return false }
        return Int32(ready.revents) & POLLOUT != 0 && Int32(ready.revents) & POLLERR == 0
    }
}
