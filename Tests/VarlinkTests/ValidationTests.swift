import Testing
import Varlink

struct ValidationTests {
    private let interface: InterfaceDescription

    init() throws {
        interface = try InterfaceDescription.parse(
            """
            interface a.b
            type Kind (one, two)
            type Item (name: string, kind: ?Kind, sub: ?[]Item)
            method M(b: bool, i: int, f: float, s: string, o: object, items: []Item, map: ?[string]int, last: ?string)
              -> (k: Kind)
            """)
    }

    private let good: JSONObject = [
        "b": true, "i": 1, "f": 2, "s": "x", "o": ["any": [1]],
        "items": [["name": "a", "sub": [["name": "b", "kind": "two"]]]],
    ]

    private func check(_ change: (inout JSONObject) -> Void) throws -> ValidationFailure? {
        var parameters = good
        change(&parameters)
        return interface.validate(call: try #require(interface.method("M")), parameters)
    }

    @Test func whatFits() throws {
        #expect(try check { _ in } == nil)
        #expect(try check { $0["map"] = ["x": 1] } == nil)
        #expect(try check { $0["last"] = nil } == nil)
        #expect(try check { $0["last"] = .null } == nil)
        #expect(try check { $0["f"] = 0.5 } == nil)
    }

    @Test(arguments: ["b", "i", "f", "s", "o", "items"])
    func missingOrNull(_ name: String) throws {
        #expect(try check { $0[name] = nil }?.path == name)
        #expect(try check { $0[name] = .null }?.path == name)
        #expect(try check { $0[name] = [[[:]]] }?.parameter == name)
    }

    @Test func wrongTypesSayWhere() throws {
        #expect(try check { $0["i"] = 1.5 }?.path == "i")
        #expect(try check { $0["i"] = "1" }?.path == "i")
        #expect(try check { $0["x"] = 1 }?.path == "x")
        #expect(try check { $0["map"] = ["x": 1, "y": "2"] }?.path == "map.y")
        #expect(try check { $0["items"] = [["name": "a"], ["name": 1]] }?.path == "items[1].name")
        let deep = try check { $0["items"] = [["name": "a", "sub": [["name": "b", "kind": "three"]]]] }
        #expect(deep == .init(path: "items[0].sub[0].kind", expected: "one of one, two"))
        #expect(deep?.parameter == "items")
    }

    @Test func repliesErrorsAndTypes() throws {
        let method = try #require(interface.method("M"))
        #expect(interface.validate(reply: method, ["k": "one"]) == nil)
        #expect(interface.validate(reply: method, [:])?.path == "k")
        #expect(interface.validate(["name": "x"], as: "Item") == nil)
        #expect(interface.validate(["kind": "one"], as: "Item")?.path == "Item.name")
        #expect(interface.validate(1, as: "Nothing") != nil)
    }
}
