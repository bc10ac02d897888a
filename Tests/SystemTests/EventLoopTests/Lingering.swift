import CLinux
import Glibc
import SystemCalls
import Testing

/// TCP sockets whose close(2) waits for a peer that does not read.
final class Lingering {
    private let server: FileDescriptor
    private var address = sockaddr_in()
    /// Their other ends.
    private var kept: [Int32] = []

    init() throws {
        server = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        Self.set(SO_RCVBUF, 4096, of: server.rawValue)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listens = Self.withAddress(&address) {
            bind(server.rawValue, __CONST_SOCKADDR_ARG(__sockaddr__: $0), length) == 0
                && listen(server.rawValue, 128) == 0
                && getsockname(server.rawValue, __SOCKADDR_ARG(__sockaddr__: $0), &length) == 0
        }
        try #require(listens)
    }

    deinit { letGo() }

    /// Their peers are gone: none waits any more.
    func letGo() {
        for socket in kept { close(socket) }
        kept = []
    }

    /// One more, as a message of `peer` with a descriptor.
    func send(to peer: Int32) throws {
        let sender = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        Self.set(SO_SNDBUF, 4096, of: sender)
        let isConnected = Self.withAddress(&address) {
            connect(sender, __CONST_SOCKADDR_ARG(__sockaddr__: $0), socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
        try #require(isConnected)
        kept.append(accept4(server.rawValue, __SOCKADDR_ARG(__sockaddr__: nil), nil, Int32(SOCK_CLOEXEC.rawValue)))
        let bytes = [UInt8](repeating: 0, count: 65536)
        while Glibc.send(sender, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        var waits = linger(l_onoff: 1, l_linger: 60)
        setsockopt(sender, SOL_SOCKET, SO_LINGER, &waits, socklen_t(MemoryLayout<linger>.size))
        try #require(linux_packet_send(peer, "x", 1, [sender], 1) == 0)
        // Not the last: the message has one.
        close(sender)
    }

    private static func set(_ option: Int32, _ value: Int32, of socket: Int32) {
        var value = value
        setsockopt(socket, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func withAddress<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) throws -> Result
    ) rethrows -> Result {
        try withUnsafeMutablePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0) }
        }
    }
}
