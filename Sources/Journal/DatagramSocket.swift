internal import CLinux
internal import SystemCalls

/// Sends datagrams to one address and never waits: what the receiver has no room for is not sent.
final class DatagramSocket {
    private let address: UnixAddress
    private var descriptor: FileDescriptor?

    init?(to name: String) {
        guard let address = UnixAddress(name) else { return nil }
        self.address = address
    }

    /// nil when sent.
    func send(_ bytes: [UInt8]) -> Errno? {
        do throws(SystemError) {
            if descriptor == nil { descriptor = try UnixAddress.socket(SOCK_DGRAM) }
        } catch {
            return error.errno
        }
        guard let number = descriptor?.rawValue else { return nil }
        while true {
            if address.send(bytes, through: number) { return nil }
            let errno = Errno.current
            if errno != .interrupted { return errno }
        }
    }
}
