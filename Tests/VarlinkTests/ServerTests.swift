import CLinux
import SystemCalls
import Testing
import Varlink

/// A server at a path, with bare sockets as its clients.
final class ServerTests {
    private let loop = PollLoop()
    private let place: TestDirectory
    private let path: String
    private let server: Server
    private var peers: [Peer] = []
    private var requests: [Request] = []
    private var admits = true

    init() throws {
        place = try TestDirectory()
        path = place.path("io.curfew.Application")
        let service = try Service(product: "curfewd", version: "0.1", url: "https://example.org")
        server = Server(try Listener(path: path, mode: 0o600), service)
        try service.register(ApplicationInterface.description) { [weak self] in self?.requests.append($0) }
        server.admit = { [unowned self] peer in
            peers.append(peer)
            return admits
        }
        loop.add(server)
    }

    deinit { loop.stop() }

    private func connect() throws -> RawPeer {
        let descriptor = linux_unix_socket()
        try #require(descriptor >= 0)
        let socket = FileDescriptor(owning: descriptor)
        _ = linux_set_flags(descriptor, O_NONBLOCK)
        try #require(linux_unix_connect(descriptor, path) == 0)
        return RawPeer(socket: socket)
    }

    private func answer(to text: String) throws -> String {
        let peer = try connect()
        peer.send(text + "\0")
        loop.runUntilQuiet()
        return peer.receive().text
    }

    private func error(_ name: String, _ parameter: String, _ value: String) -> String {
        "{\"error\":\"org.varlink.service.\(name)\",\"parameters\":{\"\(parameter)\":\"\(value)\"}}\0"
    }

    @Test func whoIsThere() throws {
        let client = try connect()
        loop.runUntilQuiet()
        let peer = try #require(peers.first)
        #expect(peer.pid == getpid() && peer.uid == geteuid() && peer.gid == getegid())
        if let pidfd = peer.pidfd {
            #expect(linux_get_flags(pidfd) >= 0)
            let info = String(decoding: try Files.read("/proc/self/fdinfo/\(pidfd)"), as: UTF8.self)
            #expect(info.contains("Pid:\t\(getpid())\n"))
        } else {
            // Before Linux 6.5.
            #expect(linux_unix_peer_pidfd(server.descriptor) < 0)
        }
        #expect(server.connectionCount == 1)
        #expect(client.receive() == Received("", ended: false))
    }

    @Test func getInfo() throws {
        let text = try answer(to: "{\"method\":\"org.varlink.service.GetInfo\"}")
        let reply = try Reply.decode(Array(text.utf8).dropLast())
        #expect(
            reply
                == Reply([
                    "vendor": "Curfew", "product": "curfewd", "version": "0.1", "url": "https://example.org",
                    "interfaces": ["org.varlink.service", "io.curfew.Application"],
                ]))
        let interface = try InterfaceDescription.parse(ServiceInterface.description)
        #expect(interface.validate(reply: try #require(interface.method("GetInfo")), reply.parameters) == nil)
    }

    @Test func getInterfaceDescription() throws {
        for (name, description) in [
            (ServiceInterface.name, ServiceInterface.description),
            (ApplicationInterface.name, ApplicationInterface.description),
        ] {
            let call = Call("org.varlink.service.GetInterfaceDescription", ["interface": .string(name)])
            let text = try answer(to: String(decoding: call.encode().dropLast(), as: UTF8.self))
            #expect(try Reply.decode(Array(text.utf8).dropLast()) == Reply(["description": .string(description)]))
        }
        let unknown = Call("org.varlink.service.GetInterfaceDescription", ["interface": "x.y"])
        #expect(
            try answer(to: String(decoding: unknown.encode().dropLast(), as: UTF8.self))
                == error("InterfaceNotFound", "interface", "x.y"))
    }

    @Test func whatIsNotThere() throws {
        #expect(try answer(to: "{\"method\":\"a.b.C\"}") == error("InterfaceNotFound", "interface", "a.b"))
        #expect(
            try answer(to: "{\"method\":\"io.curfew.Application.Nothing\"}")
                == error("MethodNotFound", "method", "io.curfew.Application.Nothing"))
        #expect(try answer(to: "{\"method\":\"GetState\"}") == error("InvalidParameter", "parameter", "method"))
        #expect(try answer(to: "{\"method\":\".\"}") == error("InterfaceNotFound", "interface", ""))
        #expect(requests.isEmpty)
    }

    @Test(arguments: [
        ("{}", "name"), ("{\"name\":1}", "name"), ("{\"name\":\"x\",\"keepAwake\":\"yes\"}", "keepAwake"),
        ("{\"name\":\"x\",\"nothing\":1}", "nothing"),
        ("{\"name\":\"x\",\"processIdentifier\":1.5}", "processIdentifier"),
    ])
    func parametersThatDoNotFit(_ parameters: String, _ wrong: String) throws {
        #expect(
            try answer(to: "{\"method\":\"io.curfew.Application.BeginBackgroundTask\",\"parameters\":\(parameters)}")
                == error("InvalidParameter", "parameter", wrong))
        #expect(requests.isEmpty)
    }

    @Test func theHandlerAnswersLater() throws {
        let client = try connect()
        client.send("{\"method\":\"io.curfew.Application.EndBackgroundTask\",\"parameters\":{\"identifier\":3}}\0")
        loop.runUntilQuiet()
        #expect(client.receive().text == "")
        let request = try #require(requests.first)
        #expect(request.peer?.pid == getpid())
        #expect(request.parameters == ["identifier": 3])
        request.fail(error: "io.curfew.Application.NoSuchBackgroundTask", ["identifier": 3])
        #expect(
            client.receive().text
                == "{\"error\":\"io.curfew.Application.NoSuchBackgroundTask\",\"parameters\":{\"identifier\":3}}\0")
    }

    @Test func aThousandThatAreNotAdmitted() throws {
        let inside = try connect()
        loop.runUntilQuiet()
        admits = false
        for _ in 0..<1000 {
            let outside = try connect()
            loop.runUntilQuiet()
            #expect(outside.receiveToEnd() == Received("", ended: true))
        }
        #expect(peers.count == 1001)
        #expect(server.connectionCount == 1)
        peers = []
        inside.send("{\"method\":\"io.curfew.Application.GetState\"}\0")
        loop.runUntilQuiet()
        #expect(requests.count == 1)
    }

    @Test func aCrowdWaitsItsTurn() throws {
        let clients = try (0..<100).map { _ in try connect() }
        #expect(loop.turn(milliseconds: 0))
        #expect(server.connectionCount < clients.count)
        loop.runUntilQuiet()
        #expect(server.connectionCount == clients.count)
    }

    @Test func stoppingEndsAll() throws {
        let client = try connect()
        loop.runUntilQuiet()
        server.stop(removePath: true)
        #expect(client.receiveToEnd().ended)
        #expect(loop.closed.map(\.reason) == [.closedHere])
        #expect(!server.wantsAccept)
        #expect(!Files.exists(path))
    }

    @Test func registeringTwice() throws {
        #expect(throws: DescriptionError.self) {
            try server.service.register(ApplicationInterface.description) { $0.reply() }
        }
    }
}
