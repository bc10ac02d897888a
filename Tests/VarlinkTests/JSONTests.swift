import Testing
import Varlink

struct JSONTests {
    /// Swift's `==` takes these for equal: by canonical equivalence, with bytes of another or of the same number.
    @Test(arguments: [
        ("K", "\u{212A}"), ("a\u{340}", "a\u{300}"), ("", "a"),
        ("longer than fifteen bytes.", "longer than fifteen bytes!"),
    ])
    func namesAreEqualByTheirBytes(_ name: String, _ other: String) {
        let object: JSONObject = [name: 1]
        #expect(object[name] == 1)
        #expect(object[other] == nil)
    }

    @Test(arguments: [
        "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "0.1", "1e+300", "-2.5",
        "\"\"", "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u001f\"", "\"grün 🎉\"", "[]", "{}", "[1,[2,[]],{}]",
        "{\"b\":1,\"a\":{\"c\":[null]}}",
    ])
    func writesWhatItRead(_ text: String) throws {
        let value = try JSON.parse(text)
        #expect(String(decoding: value.bytes(), as: UTF8.self) == text)
        #expect(try JSON.parse(value.prettyText()) == value)
    }

    @Test(arguments: [
        0.0, -0.0, 0.1, 1.0 / 3, 5, 1e22, 1e-7, 123456789012345680, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
        .pi, 0.1 + 0.2,
    ])
    func doublesRoundTrip(_ value: Double) throws {
        let read = try JSON.parse(JSON.number(value).bytes())
        guard case .number(let back) = read else {
            Issue.record("became \(read)")
            return
        }
        #expect(back.bitPattern == value.bitPattern)
    }

    @Test func shortestDoubles() {
        #expect(text(.number(0.1)) == "0.1")
        #expect(text(.number(5)) == "5.0")
        #expect(text(.number(0.1 + 0.2)) == "0.30000000000000004")
    }

    @Test func numbersJSONCannotExpressAreNull() {
        #expect(text([.number(.nan), .number(.infinity), .number(-.infinity)]) == "[null,null,null]")
    }

    @Test func embeddedNUL() throws {
        let value = try JSON.parse("\"a\\u0000b\"")
        #expect(value == .string("a\0b"))
        #expect(text(value) == "\"a\\u0000b\"")
    }

    @Test func lastOfEqualNamesCounts() throws {
        #expect(try JSON.parse("{\"a\":1,\"b\":2,\"a\":3}") == ["b": 2, "a": 3])
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "'a'", "01", "nul", "1 2", "\"\\x\"", "\"\\ud800\"", "[1}",
        "\u{1}",
        "\"a\nb\"", "99999999999999999999", "1e999", "{\"a\\u0000b\":1}",
    ])
    func refuses(_ text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(text) }
    }

    @Test func refusesWhatIsNotUTF8() {
        #expect(throws: JSONError.self) { try JSON.parse([0x22, 0xff, 0x22]) }
        #expect(throws: JSONError.self) { try JSON.parse([0x22, 0xc0, 0x80, 0x22]) }
    }

    /// A terminal obeys C1 and DEL, and turns text around: escaped they are the same to a program.
    @Test(arguments: [
        ("\u{1B}[2J", #"\u001b[2J"#), ("\u{7F}", #"\u007f"#), ("\u{85}\u{9B}1m", #"\u0085\u009b1m"#),
        ("a\u{202E}b\u{2066}", #"a\u202eb\u2066"#), ("\u{200B}\u{FEFF}\u{2028}", #"\u200b\ufeff\u2028"#),
        ("\u{E0041}", #"\udb40\udc41"#), ("Füße 😀 \u{A0}", "Füße 😀 \u{A0}"),
    ])
    func whatIsNotSeenIsEscaped(_ text: String, _ expected: String) throws {
        let written = JSON.array([.string(text)]).bytes()
        #expect(String(decoding: written, as: UTF8.self) == "[\"\(expected)\"]")
        #expect(try JSON.parse(written) == .array([.string(text)]))
    }

    @Test func errorsHaveAPlace() throws {
        let error = try #require(throws: JSONError.self) { try JSON.parse("{\n  \"a\": ?\n}") }
        #expect(error.line == 2)
        #expect(error.column > 0)
        #expect(!error.message.isEmpty)
    }

    @Test func nestingHasALimit() throws {
        let limit = JSON.nestingLimit
        let fits = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(throws: Never.self) { try JSON.parse(fits) }
        #expect(throws: JSONError.self) { try JSON.parse("[" + fits + "]") }
        #expect(throws: JSONError.self) { try JSON.parse(String(repeating: "{\"a\":", count: 200_000)) }
        // Brackets within strings are none.
        let quoted = "\"" + String(repeating: "[", count: 1000) + "\\\"[\""
        #expect(throws: Never.self) { try JSON.parse(quoted) }
    }

    @Test func aMegabyteOfEmptyObjectsIsRefused() {
        let text = "[" + String(repeating: "{},", count: 300_000) + "{}]"
        #expect(throws: JSONError.self) { try JSON.parse(text) }
        let values = "[" + String(repeating: "0,", count: 300_000) + "0]"
        #expect(throws: JSONError.self) { try JSON.parse(values) }
    }

    @Test func accessors() {
        let value: JSON = ["s": "x", "i": 3, "d": 0.5, "b": true, "n": nil, "a": [1, "two"]]
        #expect(value["s"]?.stringValue == "x")
        #expect(value["i"]?.intValue == 3)
        #expect(value["i"]?.doubleValue == 3)
        #expect(value["d"]?.doubleValue == 0.5)
        #expect(value["d"]?.intValue == nil)
        #expect(value["b"]?.boolValue == true)
        #expect(value["n"]?.isNull == true)
        #expect(value["a"]?.arrayValue == [1, "two"])
        #expect(value["x"] == nil)
        #expect(value["a"]?["x"] == nil)
        #expect(JSON(nil as String?) == .null)
    }

    @Test func objectsKeepTheirOrderAndCompareWithoutIt() {
        var object: JSONObject = ["z": 1, "a": 2]
        object["m"] = 3
        object["z"] = 4
        #expect(object.members.map(\.name) == ["z", "a", "m"])
        object["a"] = nil
        #expect(object == ["m": 3, "z": 4])
        #expect(object != ["m": 3, "z": 5])
        #expect(object != ["m": 3])
    }

    @Test func namesAreComparedByteByByte() {
        let object: JSONObject = ["\u{212A}": 1]
        #expect(object["K"] == nil)
    }

    @Test func prettyText() {
        let value: JSON = ["a": [1, []], "b": [:]]
        #expect(value.prettyText() == "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": {}\n}")
    }

    private func text(_ value: JSON) -> String { String(decoding: value.bytes(), as: UTF8.self) }
}
