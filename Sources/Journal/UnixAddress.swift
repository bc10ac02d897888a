internal import CLinux
internal import SystemCalls

/// An AF_UNIX address: a path, or "@name" in the abstract namespace.
struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// nil: empty or too long for sun_path.
    init?(_ name: String) {
        var bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        let isAbstract = first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    }

    /// For send(2): an error instead of waiting, and no SIGPIPE.
    static let withoutWaiting = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    /// A socket that does not block. type: SOCK_DGRAM or SOCK_STREAM.
    static func socket(_ type: __socket_type) throws(SystemError) -> FileDescriptor {
        let flags = type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = CLinux.socket(AF_UNIX, Int32(flags), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        return FileDescriptor(owning: descriptor)
    }

    /// connect(2); for a descriptor that does not block.
    func connect(_ descriptor: Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                CLinux.connect(descriptor, Self.argument($0), length)
            }
        }
    }

    /// sendto(2) that never blocks: true, or false with errno.
    func send(_ bytes: [UInt8], through descriptor: Int32) -> Bool {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                bytes.withUnsafeBytes {
                    sendto(descriptor, $0.baseAddress, $0.count, Self.withoutWaiting, Self.argument(target), length)
                        >= 0
                }
            }
        }
    }

    /// With _GNU_SOURCE socket addresses are a transparent union.
    private static func argument(_ pointer: UnsafePointer<sockaddr>) -> __CONST_SOCKADDR_ARG {
        __CONST_SOCKADDR_ARG(__sockaddr__: pointer)
    }
}
