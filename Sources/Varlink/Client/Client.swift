internal import CLinux
public import SystemCalls

/// A blocking Varlink client: for command line tools and tests, never for the daemon.
///
/// After `timedOut`, `closed`, `system` or `protocol` it is of no further use.
public final class Client {
    private let socket: FileDescriptor
    private var decoder = MessageDecoder()

    /// Connects to the socket at `path`. timeout: nanoseconds to wait for a place in the server's queue, nil for none.
    public init(path: String, timeout: Int64? = nil) throws(VarlinkError) {
        let descriptor = linux_unix_socket()
        if descriptor < 0 { throw .system(SystemError("socket", path)) }
        socket = FileDescriptor(owning: descriptor)
        if let timeout { _ = linux_unix_set_connect_timeout(descriptor, max(0, timeout)) }
        while linux_unix_connect(descriptor, path) != 0 {
            let errno = Errno.current
            switch errno {
            case .interrupted: continue
            case .noEntry, .connectionRefused: throw .notRunning(path: path, errno)
            case .again: throw .timedOut
            default: throw .system(SystemError("connect", path, errno: errno))
            }
        }
    }

    /// Over a connected socket.
    public init(owning socket: consuming FileDescriptor) {
        self.socket = consume socket
    }

    /// Calls and waits for the reply. timeout: nanoseconds for the whole, nil for none.
    public func call(
        _ method: String, _ parameters: JSONObject = [:], timeout: Int64? = nil
    ) throws(VarlinkError) -> JSONObject {
        let deadline = Self.deadline(after: timeout)
        try send(Call(method, parameters), deadline)
        let reply = try receive(deadline)
        if reply.continues { throw .protocol("more replies than were asked for") }
        return reply.parameters
    }

    /// Sends without waiting for the server to do anything.
    public func notify(
        _ method: String, _ parameters: JSONObject = [:], timeout: Int64? = nil
    ) throws(VarlinkError) {
        try send(Call(method, parameters, oneway: true), Self.deadline(after: timeout))
    }

    /// Calls with "more" and hands over each reply, until the last or until `body` returns false; in the latter case
    /// the client is of no further use. timeout: nanoseconds for the whole, nil for none.
    public func stream(
        _ method: String, _ parameters: JSONObject = [:], timeout: Int64? = nil, _ body: (JSONObject) -> Bool
    ) throws(VarlinkError) {
        let deadline = Self.deadline(after: timeout)
        try send(Call(method, parameters, more: true), deadline)
        while true {
            let reply = try receive(deadline)
            if !body(reply.parameters) || !reply.continues { return }
        }
    }

    /// Calls with "upgrade" and waits for the reply; then the server calls on the connection it returns (role server),
    /// with the bytes that came already. The client is of no further use.
    public func upgrade(
        _ method: String, _ parameters: JSONObject = [:], timeout: Int64? = nil
    ) throws(VarlinkError) -> Connection {
        let deadline = Self.deadline(after: timeout)
        try send(Call(method, parameters, upgrade: true), deadline)
        _ = try receive(deadline)
        do throws(SystemError) {
            return Connection(owning: try socket.duplicate(), role: .server, read: decoder)
        } catch {
            throw .system(error)
        }
    }

    private static func deadline(after timeout: Int64?) -> Int64 {
        guard let timeout else { return .max }
        let (sum, overflow) = Clocks.monotonic.addingReportingOverflow(timeout)
        return overflow ? .max : sum
    }

    private func send(_ call: Call, _ deadline: Int64) throws(VarlinkError) {
        let bytes = call.encode()
        if bytes.count > MessageDecoder.messageLimit + 1 { throw .protocol("the call is over 1 MiB") }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                linux_unix_send(socket.rawValue, buffer.baseAddress.map { $0 + sent }, buffer.count - sent)
            }
            if count >= 0 {
                sent += count
                continue
            }
            let errno = Errno.current
            switch errno {
            case .interrupted: continue
            case .again: try wait(for: POLLOUT, deadline)
            // It may have said why before it closed.
            case .brokenPipe, Errno(rawValue: ECONNRESET): return
            default: throw .system(SystemError("send", errno: errno))
            }
        }
    }

    private func receive(_ deadline: Int64) throws(VarlinkError) -> Reply {
        while true {
            if let reply = try decode() {
                if let error = reply.error { throw .error(name: error, parameters: reply.parameters) }
                return reply
            }
            var failure: Errno?
            let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
                let received = linux_unix_receive(socket.rawValue, buffer.baseAddress, buffer.count)
                failure = received < 0 ? Errno.current : nil
                count = max(0, received)
            }
            switch failure {
            case nil:
                if bytes.isEmpty { throw .closed }
                decoder.append(bytes)
            case .interrupted?: continue
            case .again?: try wait(for: POLLIN, deadline)
            case Errno(rawValue: ECONNRESET)?: throw .closed
            case let errno?: throw .system(SystemError("recv", errno: errno))
            }
        }
    }

    private func decode() throws(VarlinkError) -> Reply? {
        let message: ArraySlice<UInt8>?
        do throws(MessageDecoder.Failure) {
            message = try decoder.next()
        } catch {
            throw .protocol("a message over 1 MiB")
        }
        guard let message else { return nil }
        do throws(MessageError) { return try Reply.decode(message) } catch { throw .protocol(error.text) }
    }

    private func wait(for events: Int32, _ deadline: Int64) throws(VarlinkError) {
        var entry = pollfd(fd: socket.rawValue, events: Int16(events), revents: 0)
        var milliseconds: Int32 = -1
        if deadline != .max {
            let left = deadline - Clocks.monotonic
            if left <= 0 { throw .timedOut }
            milliseconds = Int32(clamping: (left + 999_999) / 1_000_000)
        }
        let count = CLinux.poll(&entry, 1, milliseconds)
        if count < 0 {
            let errno = Errno.current
            if errno != .interrupted { throw .system(SystemError("poll", errno: errno)) }
        }
    }
}
