internal import CLinux
internal import SystemCalls

/// Writing to a descriptor that others share, and that may be anything: a terminal, a file, a pipe or a socket
/// without a reader.
enum StandardError {
    /// True when written whole. Never waits; O_NONBLOCK is not touched, as it would be set for everyone who has the
    /// file open.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        let sent = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, UnixAddress.withoutWaiting) }
        if sent >= 0 { return sent == bytes.count }
        guard linux_errno() == ENOTSOCK else { return false }
        // A pipe is ready when it has room for PIPE_BUF (4096), which is what a line has at most.
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&ready, 1, 0) == 1, Int32(ready.revents) & POLLOUT != 0, Int32(ready.revents) & POLLERR == 0 else {
            return false
        }
        return bytes.withUnsafeBytes { CLinux.write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }
}
