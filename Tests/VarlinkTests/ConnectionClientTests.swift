import CLinux
import SystemCalls
import Testing
import Varlink

/// The calling side, and the turning round by an upgrade.
final class ConnectionClientTests {
    private let loop = PollLoop()
    private let client: Connection
    private var peer: RawPeer?
    private var responses: [Response] = []

    init() throws {
        let pair = try SocketPair()
        client = Connection(owning: pair.ours, role: .client)
        peer = RawPeer(socket: pair.theirs)
        loop.add(client)
    }

    deinit { loop.stop() }

    private func call(_ method: String, more: Bool = false, upgrade: Bool = false) {
        let sent = client.call(Call(method, more: more, upgrade: upgrade)) { [weak self] in self?.responses.append($0) }
        #expect(sent)
    }

    @Test func repliesComeInTheOrderOfTheCalls() {
        call("a.A")
        call("a.B", more: true)
        #expect(client.call(Call("a.C", oneway: true)))
        call("a.D")
        let calls = [Call("a.A"), Call("a.B", more: true), Call("a.C", oneway: true), Call("a.D")]
        #expect(peer?.receive().text == String(decoding: calls.flatMap { $0.encode() }, as: UTF8.self))
        peer?.send("{\"error\":\"a.E\"}\0{\"continues\":true}\0{\"parameters\":{\"x\":1}}\0{}\0")
        loop.runUntilQuiet()
        let expected: [Response] = [
            .error(name: "a.E", parameters: [:]), .reply([:], continues: true), .reply(["x": 1], continues: false),
            .reply([:], continues: false),
        ]
        #expect(responses == expected)
    }

    @Test(arguments: ["{}\0{}\0", "{\"continues\":true}\0", "garbage\0", "{\"error\":1}\0", "[]\0"])
    func whatIsNoReplyEnds(_ text: String) {
        call("a.A")
        peer?.send(text)
        loop.runUntilQuiet()
        guard case .protocolError = loop.reason(client) else {
            Issue.record("still open")
            return
        }
        #expect(responses.count == 1)
    }

    /// What is read is looked at at once: a client that put some of it off until it may write would wait for a server
    /// that waits for it.
    @Test func allRepliesAreTakenInOneWake() {
        for _ in 0..<500 { call("a.A") }
        peer?.send(String(repeating: "{}\0", count: 500))
        client.onReadable()
        #expect(responses.count == 500)
        #expect(client.wantsRead)
    }

    @Test func aServerThatGoesEndsTheCalls() {
        call("a.A")
        call("a.B")
        peer?.send("{}\0")
        peer = nil
        loop.runUntilQuiet()
        #expect(responses == [.reply([:], continues: false), .connectionClosed])
        #expect(!client.call(Call("a.C")))
    }

    @Test func callingAPeerThatIsGone() {
        peer = nil
        _ = client.call(Call("a.A")) { [weak self] in self?.responses.append($0) }
        // Not out of the call itself.
        #expect(loop.closed.isEmpty)
        loop.runUntilQuiet()
        #expect(loop.reason(client) == .endOfStream)
    }

    @Test func anUpgradeTurnsBothSidesRound() throws {
        let pair = try SocketPair()
        let device = Connection(owning: pair.ours, role: .server)
        let app = Connection(owning: pair.theirs, role: .client)
        loop.add(device)
        loop.add(app)
        var heard: [String] = []
        app.onRequest = { request in
            heard.append(request.method)
            request.reply(["handled": true])
        }
        var earlier: Request?
        device.onRequest = { [unowned self] request in
            guard request.wantsUpgrade else {
                earlier = request
                return
            }
            #expect(request.acceptUpgrade())
            // At once, though the reply to the earlier call has not been given.
            let sent = device.call(Call("d.First")) { [weak self] in self?.responses.append($0) }
            #expect(sent)
        }
        var replies = 0
        app.call(Call("a.Slow")) { _ in replies += 1 }
        app.call(Call("a.Attach", upgrade: true)) { _ in replies += 1 }
        loop.runUntilQuiet()
        #expect(replies == 0 && device.role == .server)
        earlier?.reply()
        loop.runUntilQuiet()
        #expect(replies == 2)
        #expect(device.role == .client && app.role == .server)
        let sent = device.call(Call("d.Second")) { [weak self] in self?.responses.append($0) }
        #expect(sent)
        #expect(!app.call(Call("a.Again")))
        loop.runUntilQuiet()
        #expect(heard == ["d.First", "d.Second"])
        #expect(responses == Array(repeating: .reply(["handled": true], continues: false), count: 2))
    }

    @Test func anUpgradeThatIsRefusedChangesNothing() throws {
        let pair = try SocketPair()
        let device = Connection(owning: pair.ours, role: .server)
        let app = Connection(owning: pair.theirs, role: .client)
        loop.add(device)
        loop.add(app)
        device.onRequest = { $0.wantsUpgrade ? $0.fail(.permissionDenied) : $0.reply() }
        for upgrade in [true, false] {
            app.call(Call("a.M", upgrade: upgrade)) { [weak self] in self?.responses.append($0) }
        }
        loop.runUntilQuiet()
        #expect(device.role == .server && app.role == .client)
        #expect(
            responses == [
                .error(name: ServiceError.permissionDenied.name, parameters: [:]), .reply([:], continues: false),
            ])
    }

    @Test func acceptingAnUpgradeThatWasNotAskedFor() throws {
        let pair = try SocketPair()
        let device = Connection(owning: pair.ours, role: .server)
        loop.add(device)
        device.onRequest = { #expect(!$0.acceptUpgrade()) }
        RawPeer(socket: pair.theirs).send("{\"method\":\"a.M\"}\0")
        loop.runUntilQuiet()
        #expect(device.role == .server)
    }
}
