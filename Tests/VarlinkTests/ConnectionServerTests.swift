import CLinux
import SystemCalls
import Testing
import Varlink

/// The server's side of a connection, against a peer that is a bare socket.
final class ConnectionServerTests {
    private let loop = PollLoop()
    private let connection: Connection
    private let peer: RawPeer
    private var requests: [Request] = []

    init() throws {
        let pair = try SocketPair()
        connection = Connection(owning: pair.ours, role: .server)
        peer = RawPeer(socket: pair.theirs)
        loop.add(connection)
        connection.onRequest = { [weak self] in self?.requests.append($0) }
    }

    deinit { loop.stop() }

    private func call(_ index: Int) -> String { "{\"method\":\"a.M\",\"parameters\":{\"n\":\(index)}}\0" }
    private func reply(_ index: Int) -> String { "{\"parameters\":{\"n\":\(index)}}\0" }

    @Test func aCallByteByByte() {
        for byte in Array(call(1).utf8) {
            #expect(requests.isEmpty)
            peer.send([byte])
            loop.runUntilQuiet()
        }
        #expect(requests.map(\.call) == [Call("a.M", ["n": 1])])
        requests.first?.reply(["n": 1])
        #expect(peer.receive() == Received(reply(1), ended: false))
        #expect(requests.first?.isAlive == false)
    }

    @Test func repliesKeepTheOrderOfTheCalls() {
        peer.send((0..<4).map(call).joined())
        loop.runUntilQuiet()
        #expect(requests.count == 4)
        requests[2].reply(["n": 2])
        requests[1].fail(error: "a.E")
        #expect(peer.receive().text == "")
        requests[0].reply(["n": 0])
        #expect(peer.receive().text == reply(0) + "{\"error\":\"a.E\",\"parameters\":{}}\0" + reply(2))
        requests[3].reply(["n": 3])
        #expect(peer.receive().text == reply(3))
    }

    /// Far more than is kept for a peer that does not read: it is asked for as the peer takes it.
    @Test func whatIsTooMuchToBeSaidAtOnce_isSaidAsItIsRead() {
        peer.send(call(0) + "{\"method\":\"a.S\",\"more\":true}\0" + call(1))
        loop.runUntilQuiet()
        var said = 0
        let stream = requests[1]
        let text = String(repeating: "x", count: 10_000)
        stream.onRoom = {
            said += 1
            if said < 1000 { return stream.reply(continuing: ["n": .integer(Int64(said)), "text": .string(text)]) }
            stream.reply(["n": .integer(Int64(said))])
        }
        requests[2].reply(["n": 1])
        loop.runUntilQuiet()
        #expect(said == 0)
        requests[0].reply(["n": 0])
        loop.runUntilQuiet()
        #expect(said > 0 && said < 500)
        #expect(peer.receive().text.hasPrefix(reply(0)))
        var last = ""
        while said < 1000 {
            loop.runUntilQuiet()
            let received = peer.receive()
            #expect(!received.ended)
            last = received.text
        }
        loop.runUntilQuiet()
        last += peer.receive().text
        #expect(last.hasSuffix(reply(1000) + reply(1)))
        #expect(!connection.wantsWrite && connection.isOpen)
    }

    @Test func aStreamHoldsBackWhatCameLater() {
        peer.send("{\"method\":\"a.S\",\"more\":true}\0" + call(1))
        loop.runUntilQuiet()
        requests[1].reply(["n": 1])
        requests[0].reply(continuing: ["n": 7])
        #expect(peer.receive().text == "{\"parameters\":{\"n\":7},\"continues\":true}\0")
        requests[0].reply(["n": 8])
        #expect(peer.receive().text == reply(8) + reply(1))
    }

    @Test func aStreamThatWaitedItsTurn() {
        peer.send(call(0) + "{\"method\":\"a.S\",\"more\":true}\0")
        loop.runUntilQuiet()
        requests[1].reply(continuing: ["n": 1])
        requests[1].reply(continuing: ["n": 2])
        #expect(peer.receive().text == "")
        requests[0].reply(["n": 0])
        let stream = [Reply(["n": 1], continues: true), Reply(["n": 2], continues: true)].flatMap { $0.encode() }
        #expect(peer.receive().text == reply(0) + String(decoding: stream, as: UTF8.self))
        requests[1].reply(["n": 3])
        #expect(peer.receive().text == reply(3))
    }

    @Test func continuingWithoutMoreIsExpectedMore() {
        peer.send(call(0))
        loop.runUntilQuiet()
        requests[0].reply(continuing: ["n": 1])
        #expect(peer.receive().text == "{\"error\":\"org.varlink.service.ExpectedMore\",\"parameters\":{}}\0")
        #expect(!requests[0].isAlive)
    }

    @Test func aSecondAnswerIsDropped() {
        peer.send(call(0) + call(1))
        loop.runUntilQuiet()
        requests[0].reply(["n": 0])
        requests[0].reply(["n": 0])
        requests[0].fail(.permissionDenied)
        #expect(peer.receive().text == reply(0))
    }

    @Test func onewayGetsNoReply() {
        peer.send("{\"method\":\"a.M\",\"oneway\":true}\0" + call(1))
        loop.runUntilQuiet()
        #expect(requests[0].oneway)
        requests[0].reply(["n": 0])
        requests[1].reply(["n": 1])
        #expect(peer.receive().text == reply(1))
    }

    @Test func onlySoManyCallsWait() {
        let count = 3 * Connection.requestLimit
        peer.send((0..<count).map(call).joined())
        loop.runUntilQuiet()
        #expect(requests.count == Connection.requestLimit)
        #expect(!connection.wantsRead && !connection.wantsWrite)
        var answered = 0
        var replies = ""
        while answered < requests.count {
            requests[answered].reply(["n": .integer(Int64(answered))])
            answered += 1
            replies += peer.receive().text
            loop.runUntilQuiet()
            #expect(requests.count - answered <= Connection.requestLimit)
        }
        #expect(answered == count)
        #expect(replies == (0..<count).map(reply).joined())
    }

    @Test func aChattyClientGetsItsShareOfAWake() {
        connection.onRequest = { [unowned self] request in
            requests.append(request)
            request.reply()
        }
        peer.send((0..<1000).map(call).joined())
        #expect(loop.turn(milliseconds: 1000))
        #expect(requests.count <= 16)
        #expect(connection.wantsWrite)
        for _ in 0..<100 where requests.count < 1000 {
            _ = peer.receive()
            loop.runUntilQuiet()
        }
        #expect(requests.count == 1000)
    }

    @Test func brokenJSONCloses() {
        peer.send("{\"method\":\0")
        loop.runUntilQuiet()
        #expect(peer.receiveToEnd() == Received("", ended: true))
        guard case .protocolError = loop.reason(connection) else {
            Issue.record("not closed for it")
            return
        }
    }

    @Test func deepNestingCloses() {
        peer.send(Array(String(repeating: "[", count: 60_000).utf8) + [0])
        #expect(loop.run { !connection.isOpen })
        #expect(peer.receiveToEnd().ended)
    }

    @Test func jsonThatIsNoCallIsToldSoInItsTurn() {
        peer.send(call(0) + "{\"method\":\"a.M\",\"more\":3}\0" + call(2))
        loop.runUntilQuiet()
        #expect(requests.count == 1)
        #expect(connection.isOpen)
        requests[0].reply(["n": 0])
        loop.runUntilQuiet()
        let error = "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"more\"}}\0"
        #expect(peer.receiveToEnd() == Received(reply(0) + error, ended: true))
        #expect(loop.reason(connection) == .protocolError("\"more\" is not a bool"))
    }

    @Test func aMessageOverTheLimitCloses() {
        let part = [UInt8](repeating: UInt8(ascii: " "), count: 64 << 10)
        for _ in 0..<(MessageDecoder.messageLimit / part.count) {
            peer.send(part)
            loop.runUntilQuiet()
        }
        #expect(connection.isOpen)
        peer.send(" ")
        loop.runUntilQuiet()
        #expect(loop.reason(connection) == .protocolError("a message over 1 MiB"))
    }

    @Test func aMessageOfTheLimitPasses() {
        let head = "{\"method\":\"a.M\"}"
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: MessageDecoder.messageLimit - head.utf8.count)
        var rest = Array(head.utf8) + padding + [0]
        while !rest.isEmpty {
            peer.send(Array(rest.prefix(64 << 10)))
            rest.removeFirst(min(rest.count, 64 << 10))
            loop.runUntilQuiet()
        }
        #expect(requests.map(\.method) == ["a.M"])
    }

    @Test func halfAMessageAndSilenceCostsNothing() {
        peer.send("{\"method\":")
        loop.runUntilQuiet()
        let wakes = loop.wakes
        loop.runUntilQuiet()
        #expect(loop.wakes == wakes)
        #expect(connection.isOpen)
    }
}
