internal import CLinux
public import SystemCalls

extension Connection {
    /// Closes a socket in which descriptors of a peer's are left: that may take as long as their sender likes.
    public typealias Closer = (consuming FileDescriptor) -> Void

    /// Of a socket in which descriptors may be.
    static func close(_ socket: consuming FileDescriptor, _ closer: Closer) {
        if !linux_drain(socket.rawValue) { closer(socket) }
    }
}
