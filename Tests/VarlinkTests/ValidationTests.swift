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

    /// Of the interface that operators see, whose parameters are mostly nullable.
    @Test(
        arguments: [
            ("Launch", [:], "app"), ("Launch", ["app": 5, "background": .null], "app"),
            ("Launch", ["app": .null], "app"),
            ("Launch", ["app": "app", "background": "yes"], "background"),
            ("Terminate", ["app": "app", "force": 1], "force"), ("Activate", ["app": ["app"]], "app"),
            ("Describe", ["app": ["name": "app"]], "app"), ("PrepareForSleep", [:], "start"),
            ("PrepareForSleep", ["start": "true"], "start"), ("PrepareForSleep", ["start": true, "kind": 4], "kind"),
            ("ListTerminations", ["app": 1], "app"), ("ListTerminations", ["app": .null, "since": 1.5], "since"),
            ("Launch", ["app": "app"], nil), ("Terminate", ["app": "app"], nil),
            ("PrepareForSleep", ["start": true], nil), ("ListTerminations", [:], nil),
        ] as [(String, JSONObject, String?)])
    func parametersOfControl(_ method: String, _ parameters: JSONObject, _ wrong: String?) throws {
        let control = try InterfaceDescription.parse(ControlInterface.description)
        let failure = control.validate(call: try #require(control.method(method)), parameters)
        #expect(failure?.parameter == wrong)
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
