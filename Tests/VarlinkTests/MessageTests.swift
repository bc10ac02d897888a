import Testing
import Varlink

struct MessageTests {
    private func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

    @Test func callsRoundTrip() throws {
        let calls = [
            Call("a.B"), Call("a.B", ["x": 1], oneway: true), Call("a.B", ["x": ["y": nil]], more: true),
            Call("a.B", upgrade: true),
        ]
        for call in calls {
            let encoded = call.encode()
            #expect(encoded.last == 0)
            #expect(try Call.decode(encoded.dropLast()) == call)
        }
        #expect(Call("a.B").encode() == Array("{\"method\":\"a.B\"}\0".utf8))
    }

    @Test func repliesRoundTrip() throws {
        for reply in [Reply(), Reply(["x": 1], continues: true), Reply(["x": 1], error: "a.E")] {
            #expect(try Reply.decode(reply.encode().dropLast()) == reply)
        }
        #expect(Reply().encode() == Array("{\"parameters\":{}}\0".utf8))
    }

    @Test func unknownMembersAndNullsAreTaken() throws {
        let call = try Call.decode(bytes("{\"method\":\"a.B\",\"more\":null,\"parameters\":null,\"x\":[]}"))
        #expect(call == Call("a.B"))
        #expect(try Reply.decode(bytes("{}")) == Reply())
    }

    @Test(arguments: [
        "[]", "1", "{}", "{\"method\":1}", "{\"method\":null}", "{\"method\":\"a.B\",\"parameters\":[]}",
        "{\"method\":\"a.B\",\"more\":1}", "{\"method\":\"a.B\",\"oneway\":\"true\"}",
        "{\"method\":\"a.B\",\"upgrade\":{}}", "{\"method\":\"a.B\",\"oneway\":true,\"more\":true}",
        "{\"method\":\"a.B\",\"oneway\":true,\"upgrade\":true}",
    ])
    func shapesThatAreNoCall(_ text: String) throws {
        let error = try #require(throws: MessageError.self) { try Call.decode(bytes(text)) }
        guard case .shape = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: [
        "[]", "{\"parameters\":1}", "{\"error\":1}", "{\"continues\":1}", "{\"continues\":true,\"error\":\"a.E\"}",
    ])
    func shapesThatAreNoReply(_ text: String) {
        #expect(throws: MessageError.self) { try Reply.decode(bytes(text)) }
    }

    @Test func brokenJSONIsToldFromAWrongShape() throws {
        let error = try #require(throws: MessageError.self) { try Call.decode(bytes("{")) }
        guard case .json = error else {
            Issue.record("\(error)")
            return
        }
    }
}
