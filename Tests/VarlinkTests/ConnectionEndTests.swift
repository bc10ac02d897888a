import CLinux
import SystemCalls
import Testing
import Varlink

/// How connections end, against a peer that is a bare socket.
final class ConnectionEndTests {
    private let loop = PollLoop()
    private let connection: Connection
    private var peer: RawPeer?
    private var requests: [Request] = []
    private var cancelled = 0

    init() throws {
        let pair = try SocketPair()
        connection = Connection(owning: pair.ours, role: .server)
        peer = RawPeer(socket: pair.theirs)
        loop.add(connection)
        connection.onRequest = { [unowned self] request in
            requests.append(request)
            request.onCancelled = { [weak self] in self?.cancelled += 1 }
        }
    }

    deinit { loop.stop() }

    private let call = "{\"method\":\"a.M\"}\0"

    private func send(_ text: String) { peer?.send(text) }

    @Test func aPeerThatGoesCancelsItsRequests() {
        send(call + call)
        loop.runUntilQuiet()
        requests[0].reply()
        peer = nil
        loop.runUntilQuiet()
        #expect(loop.closed.map(\.reason) == [.endOfStream])
        #expect(cancelled == 1)
        #expect(requests.allSatisfy { !$0.isAlive })
        requests[1].reply()
        requests[1].reply(continuing: [:])
        #expect(cancelled == 1)
    }

    @Test func whatWasSentBeforeGoingIsStillHeard() {
        send(String(repeating: "{\"method\":\"a.M\",\"oneway\":true}\0", count: 500))
        peer = nil
        loop.runUntilQuiet()
        #expect(requests.count == 500)
        #expect(!connection.isOpen)
    }

    @Test func aPeerThatStoppedWritingGetsItsReplies() {
        send(call)
        peer?.shutdownWriting()
        loop.runUntilQuiet()
        #expect(connection.isOpen)
        #expect(cancelled == 0)
        let wakes = loop.wakes
        loop.runUntilQuiet()
        #expect(loop.wakes == wakes)
        requests[0].reply(["n": 1])
        loop.runUntilQuiet()
        #expect(peer?.receive().text == "{\"parameters\":{\"n\":1}}\0")
        #expect(loop.reason(connection) == .endOfStream)
    }

    @Test func aPeerThatStoppedWritingAndThenGoesCancels() {
        send(call)
        peer?.shutdownWriting()
        loop.runUntilQuiet()
        peer = nil
        loop.runUntilQuiet()
        #expect(loop.reason(connection) == .endOfStream)
        #expect(cancelled == 1)
    }

    @Test func aFullPipelineWhosePeerGoesIsCancelled() {
        send(String(repeating: call, count: 2 * Connection.requestLimit))
        loop.runUntilQuiet()
        #expect(requests.count == Connection.requestLimit)
        peer = nil
        loop.runUntilQuiet()
        #expect(!connection.isOpen)
        #expect(cancelled == Connection.requestLimit)
    }

    @Test func aStreamThatIsNotReadEndsTheConnection() {
        send("{\"method\":\"a.S\",\"more\":true}\0")
        loop.runUntilQuiet()
        let load: JSONObject = ["load": .string(String(repeating: "x", count: 10_000))]
        var count = 0
        while requests[0].isAlive, count < 1000 {
            requests[0].reply(continuing: load)
            count += 1
            if count % 20 == 0 { loop.runUntilQuiet() }
        }
        // The socket's own buffer, and 1 MiB of ours.
        #expect((100..<200).contains(count))
        #expect(loop.reason(connection) == .outputOverflow)
        #expect(cancelled == 1)
    }

    @Test func repliesHeldBackCountToo() {
        send(call + "{\"method\":\"a.S\",\"more\":true}\0")
        loop.runUntilQuiet()
        let load: JSONObject = ["load": .string(String(repeating: "x", count: 10_000))]
        #expect(!connection.hasHeldMuch)
        for _ in 0..<200 { requests[1].reply(continuing: load) }
        #expect(connection.hasHeldMuch)
        // Out of the owner's own calls nothing is torn down.
        #expect(loop.closed.isEmpty)
        loop.runUntilQuiet()
        #expect(loop.reason(connection) == .outputOverflow)
    }

    @Test func aClientThatCallsAndNeverReadsStandsStill() {
        var handled = 0
        let load: JSONObject = ["load": .string(String(repeating: "x", count: 5000))]
        connection.onRequest = { request in
            handled += 1
            request.reply(load)
        }
        for _ in 0..<20 {
            send(String(repeating: call, count: 50))
            loop.runUntilQuiet()
        }
        #expect(connection.isOpen)
        #expect(handled < 200)
        // Once it reads it gets everything.
        var text = ""
        #expect(
            loop.run {
                text += peer?.receive().text ?? ""
                return handled == 1000
            })
        loop.runUntilQuiet()
        text += peer?.receive().text ?? ""
        #expect(text.utf8.filter { $0 == 0 }.count == 1000)
    }

    @Test func aReplyOverTheLimitEndsTheConnection() {
        send(call)
        loop.runUntilQuiet()
        requests[0].reply(["load": .string(String(repeating: "x", count: MessageDecoder.messageLimit))])
        loop.runUntilQuiet()
        #expect(loop.reason(connection) == .messageTooLong)
    }

    @Test func closingHere() {
        send(call)
        loop.runUntilQuiet()
        connection.close()
        connection.close()
        #expect(loop.closed.map(\.reason) == [.closedHere])
        #expect(cancelled == 1)
        #expect(peer?.receiveToEnd().ended == true)
        connection.onReadable()
        connection.onWritable()
        connection.onHangup()
        #expect(!connection.call(Call("a.M")))
    }

    @Test func closingOutOfAHandler() {
        connection.onRequest = { [unowned self] _ in connection.close() }
        send(call + call)
        loop.runUntilQuiet()
        #expect(loop.closed.count == 1)
    }

    @Test func interestIsToldWhenItChanges() {
        var interests: [[Bool]] = []
        connection.onInterestChanged = { interests.append([$0.wantsRead, $0.wantsWrite]) }
        send("{\"method\":\"a.M\",\"upgrade\":true}\0")
        loop.runUntilQuiet()
        #expect(interests.last == [false, true] || interests.last == [false, false])
        requests[0].reply()
        loop.runUntilQuiet()
        #expect(interests.last == [true, false])
    }
}
