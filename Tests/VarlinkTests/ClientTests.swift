import CLinux
import Foundation
import SystemCalls
import Testing
import Varlink

/// The blocking client against a server that runs on a thread of its own.
struct ClientTests {
    private static let second: Int64 = 1_000_000_000

    private static let interface = """
        interface a.b
        method Echo(text: string) -> (text: string)
        method Count(to: int) -> (n: int)
        method Never() -> ()
        method Drop() -> ()
        method Turn() -> ()
        error Bad (why: string)
        method Fail() -> ()
        method Note() -> ()
        """

    /// Runs `body` with a client of a served path; the server ends after it.
    private func withServer(_ body: (Client, _ path: String) throws -> Void) throws {
        let place = try TestDirectory()
        let path = place.path("socket")
        let host = try Host(path, Self.interface)
        host.start()
        defer { host.stop() }
        try body(try Client(path: path, timeout: 10 * Self.second), path)
    }

    @Test func calls() throws {
        try withServer { client, _ in
            for index in 0..<100 {
                let reply = try client.call("a.b.Echo", ["text": .string("x\(index)")], timeout: 10 * Self.second)
                #expect(reply == ["text": .string("x\(index)")])
            }
            let info = try client.call("org.varlink.service.GetInfo")
            #expect(info["interfaces"] == ["org.varlink.service", "a.b"])
        }
    }

    @Test func aLargeCallAndReply() throws {
        try withServer { client, _ in
            let text = String(repeating: "x", count: 1_000_000)
            #expect(
                try client.call("a.b.Echo", ["text": .string(text)], timeout: 10 * Self.second)["text"] == .string(text)
            )
            let error = try #require(throws: VarlinkError.self) {
                _ = try client.call("a.b.Echo", ["text": .string(text + text)])
            }
            #expect(error == .protocol("the call is over 1 MiB"))
        }
    }

    @Test func errors() throws {
        try withServer { client, _ in
            let bad = try #require(throws: VarlinkError.self) { try client.call("a.b.Fail") }
            #expect(bad == .error(name: "a.b.Bad", parameters: ["why": "asked for"]))
            #expect(bad.text == "a.b.Bad {\"why\":\"asked for\"}")
            // The connection is still good.
            #expect(try client.call("a.b.Echo", ["text": ""]) == ["text": ""])
        }
    }

    @Test func streams() throws {
        try withServer { client, path in
            var numbers: [Int64] = []
            try client.stream("a.b.Count", ["to": 5]) { reply in
                numbers.append(reply["n"]?.intValue ?? -1)
                return true
            }
            #expect(numbers == [1, 2, 3, 4, 5])
            var first = 0
            try client.stream("a.b.Count", ["to": 5]) { _ in
                first += 1
                return false
            }
            #expect(first == 1)
            let error = try #require(throws: VarlinkError.self) {
                try Client(path: path).call("a.b.Count", ["to": 5])
            }
            #expect(error == .error(name: "org.varlink.service.ExpectedMore", parameters: [:]))
        }
    }

    @Test func timeoutsAreKept() throws {
        try withServer { client, _ in
            let start = Clocks.monotonic
            #expect(throws: VarlinkError.timedOut) { try client.call("a.b.Never", timeout: Self.second / 20) }
            let passed = Clocks.monotonic - start
            #expect(passed >= Self.second / 20 && passed < 5 * Self.second)
        }
    }

    @Test func aServerThatCloses() throws {
        try withServer { client, _ in
            #expect(throws: VarlinkError.closed) { try client.call("a.b.Drop") }
            #expect(throws: VarlinkError.closed) { try client.call("a.b.Echo", ["text": ""]) }
        }
    }

    @Test func oneway() throws {
        try withServer { client, _ in
            try client.notify("a.b.Note")
            #expect(try client.call("a.b.Echo", ["text": "after"]) == ["text": "after"])
        }
    }

    @Test func upgrading() throws {
        try withServer { client, _ in
            let connection = try client.upgrade("a.b.Turn", timeout: 10 * Self.second)
            #expect(connection.role == .server)
            let loop = PollLoop()
            loop.add(connection)
            var heard: [String] = []
            connection.onRequest = { request in
                heard.append(request.method)
                request.reply()
            }
            // The server calls twice right behind its reply, the second time out of the first's reply.
            #expect(loop.run { heard.count == 2 })
            #expect(heard == ["d.First", "d.Second"])
            loop.stop()
        }
    }

    @Test func noServerThere() throws {
        let place = try TestDirectory()
        let path = place.path("none")
        let error = try #require(throws: VarlinkError.self) { try Client(path: path) }
        #expect(error == .notRunning(path: path, .noEntry))
        #expect(error.text.contains(path))
    }

    @Test func aServerThatAcceptsNoClient() throws {
        let place = try TestDirectory()
        let path = place.path("socket")
        let listener = try Listener(path: path, mode: 0o600)
        var clients: [Client] = []
        let error = try #require(throws: VarlinkError.self) {
            while true { clients.append(try Client(path: path, timeout: Self.second / 50)) }
        }
        #expect(error == .timedOut)
        #expect(throws: VarlinkError.timedOut) { try clients[0].call("a.B", timeout: Self.second / 50) }
        #expect(listener.path == path)
    }

    @Test(arguments: ["garbage\0", "{\"parameters\":1}\0", "[]\0", "{\"continues\":true}\0"])
    func serversThatTalkNonsense(_ text: String) throws {
        let pair = try SocketPair()
        RawPeer(socket: pair.theirs).send(text)
        let client = Client(owning: pair.ours)
        let error = try #require(throws: VarlinkError.self) { try client.call("a.B", timeout: Self.second) }
        guard case .protocol = error else {
            Issue.record("\(error)")
            return
        }
    }
}

/// A server on a thread of its own.
private final class Host: @unchecked Sendable {
    private let loop = PollLoop()
    private let server: Server
    private let stopped = DispatchSemaphore(value: 0)
    private let stopSocket: Connection
    private let stopper: RawPeer

    init(_ path: String, _ interface: String) throws {
        let service = try Service(product: "test", version: "0", url: "")
        server = Server(try Listener(path: path, mode: 0o600), service)
        let pair = try SocketPair()
        stopSocket = Connection(owning: pair.ours, role: .client)
        stopper = RawPeer(socket: pair.theirs)
        try service.register(interface) { [unowned self] in handle($0) }
    }

    func start() {
        loop.add(server)
        loop.add(stopSocket)
        Thread.detachNewThread { [self] in
            while stopSocket.isOpen { _ = loop.turn(milliseconds: -1) }
            loop.stop()
            stopped.signal()
        }
    }

    func stop() {
        stopper.shutdownWriting()
        stopped.wait()
    }

    private func handle(_ request: Request) {
        switch request.method {
        case "a.b.Echo": request.reply(request.parameters)
        case "a.b.Count":
            let last = request.parameters["to"]?.intValue ?? 0
            for n in 1..<last { request.reply(continuing: ["n": .integer(n)]) }
            request.reply(["n": .integer(last)])
        case "a.b.Drop": request.connection?.close()
        case "a.b.Fail": request.fail(error: "a.b.Bad", ["why": "asked for"])
        case "a.b.Turn":
            let connection = request.connection
            _ = request.acceptUpgrade()
            connection?.call(Call("d.First")) { _ in connection?.call(Call("d.Second")) }
        default: break
        }
    }
}
