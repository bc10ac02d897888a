import CLinux
import Foundation
import SystemCalls
import Testing

/// A socket of journald's or of a service manager's, played by a test.
final class PlayedSocket {
    /// As in NOTIFY_SOCKET.
    let name: String
    private let directory: String
    private var descriptor: Int32 = -1
    private let type: Int32

    private init(_ type: __socket_type, isAbstract: Bool) throws {
        self.type = Int32(type.rawValue)
        var template = Array((NSTemporaryDirectory() + "curfew-socket-XXXXXX").utf8CString)
        directory = String(cString: try #require(mkdtemp(&template)))
        name = isAbstract ? "@" + directory : directory + "/socket"
    }

    static func datagram(isAbstract: Bool = false, isOpen: Bool = true) throws -> PlayedSocket {
        let socket = try PlayedSocket(SOCK_DGRAM, isAbstract: isAbstract)
        if isOpen { try socket.open() }
        return socket
    }

    static func stream(backlog: Int32) throws -> PlayedSocket {
        let socket = try PlayedSocket(SOCK_STREAM, isAbstract: false)
        try socket.open()
        try #require(listen(socket.descriptor, backlog) == 0)
        return socket
    }

    deinit {
        close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func open() throws {
        descriptor = socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(name.utf8)
        if name.hasPrefix("@") { path[0] = 0 } else { path.append(0) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(2 + path.count)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, __CONST_SOCKADDR_ARG(__sockaddr__: $0), length)
            }
        }
        try #require(result == 0, "bind \(name): \(Errno.current.text)")
    }

    /// Gone, as when journald is stopped; the file too.
    func close() {
        if descriptor >= 0 { _ = CLinux.close(descriptor) }
        descriptor = -1
        unlink(name)
    }

    /// The next datagram; nil when there is none.
    func receive() -> [UInt8]? { Self.receive(descriptor) }

    func receiveText() -> String? { receive().map { String(decoding: $0, as: UTF8.self) } }

    /// The other end of the next connection.
    func accept() throws -> FileDescriptor {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(poll(&waiting, 1, 10_000) == 1)
        let connection = CLinux.accept(descriptor, __SOCKADDR_ARG(__sockaddr__: nil), nil)
        try #require(connection >= 0)
        return FileDescriptor(owning: connection)
    }

    static func receive(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? Array(bytes[0..<count]) : nil
    }
}
