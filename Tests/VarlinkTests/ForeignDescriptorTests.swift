import CLinux
import SystemCalls
import Testing
import Varlink

/// Descriptors that a peer sends, on a socket that cannot refuse them, as before Linux 6.16.
final class ForeignDescriptorTests {
    private let loop = PollLoop()
    private let place: TestDirectory
    private let path: String
    /// What was left to be closed.
    private var left: [Int32] = []
    private var requests: [Request] = []
    private let reading: Int32
    private let writing: Int32

    init() throws {
        place = try TestDirectory()
        path = place.path("socket")
        var ends: [Int32] = [-1, -1]
        try #require(linux_pipe_cloexec(&ends) == 0)
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        loop.stop()
        close(reading)
    }

    private func connection(_ role: Connection.Role = .server) throws -> (Connection, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(linux_unix_pair(&ends) == 0)
        let connection = Connection(owning: FileDescriptor(owning: ends[0]), role: role)
        connection.refuseDescriptors { [unowned self] in left.append($0.take()) }
        connection.onRequest = { [unowned self] in requests.append($0) }
        loop.add(connection)
        return (connection, ends[1])
    }

    private func send(_ text: String, over socket: Int32) throws {
        let bytes = Array(text.utf8)
        try #require(linux_packet_send(socket, bytes, bytes.count, [writing], 1) == 0)
    }

    /// Whether the pipe's other end hangs up. A child that another test starts has a copy of it for a moment.
    private func isClosed(within milliseconds: Int32 = 10_000) -> Bool {
        close(writing)
        var entry = pollfd(fd: reading, events: 0, revents: 0)
        return poll(&entry, 1, milliseconds) == 1
    }

    private let call = "{\"method\":\"a.M\"}\0"

    @Test(arguments: ["", "{\"method\":\"a.M\"}\0"])
    func theyEndTheConnection_andStayInItsSocket(before: String) throws {
        let (connection, peer) = try connection()
        if !before.isEmpty { #expect(linux_unix_send(peer, before, before.utf8.count) == before.utf8.count) }
        try send(call, over: peer)
        loop.runUntilQuiet()
        #expect(!connection.isOpen && left == [connection.descriptor])
        #expect(loop.reason(connection)?.text.contains("descriptors") == true)
        let count = recv(peer, nil, 0, 0)
        #expect(count == 0)
        close(peer)
        #expect(!isClosed(within: 0))
        close(left[0])
        var entry = pollfd(fd: reading, events: 0, revents: 0)
        #expect(poll(&entry, 1, 10_000) == 1, "with the socket they are closed")
    }

    @Test func theyMayComeAfterTheConnectionIsClosed_orUnread() throws {
        let (connection, peer) = try connection()
        try send(call, over: peer)
        connection.close()
        #expect(left == [connection.descriptor])
        close(peer)
        close(left[0])
        #expect(isClosed())
    }

    @Test func withoutAnyAllIsAsElsewhere() throws {
        let (connection, peer) = try connection()
        let long = "{\"method\":\"a.M\",\"parameters\":{\"x\":\"" + String(repeating: "y", count: 40_000) + "\"}}\0"
        let text = call + long + call
        #expect(linux_unix_send(peer, text, text.utf8.count) == text.utf8.count)
        loop.runUntilQuiet()
        #expect(requests.count == 3)
        for request in requests { request.reply() }
        shutdown(peer, Int32(SHUT_WR))
        loop.runUntilQuiet()
        #expect(!connection.isOpen && left.isEmpty)
        var entry = pollfd(fd: peer, events: 0, revents: 0)
        #expect(poll(&entry, 1, 10_000) == 1 && entry.revents & Int16(POLLHUP) != 0)
        close(peer)
        close(writing)
    }

    @Test(arguments: [true, false])
    func ofOneThatIsNotLetIn_theyStayToo(passes: Bool) throws {
        let listening = linux_unix_socket()
        try #require(linux_unix_bind(listening, path) == 0 && linux_unix_listen(listening, 8) == 0)
        let service = try Service(product: "curfewd", version: "0.1", url: "https://example.org")
        let server = Server(
            Listener(adopting: FileDescriptor(owning: listening), path: path), service,
            closer: { [unowned self] in left.append($0.take()) }, admit: { _ in false })
        loop.add(server)
        let client = linux_unix_socket()
        try #require(linux_unix_connect(client, path) == 0)
        if passes { try send(call, over: client) }
        close(client)
        loop.runUntilQuiet()
        #expect(left.count == (passes ? 1 : 0))
        for socket in left { close(socket) }
        #expect(isClosed())
    }
}
