internal import CJansson
internal import SystemCalls

extension JSON {
    /// Compact JSON. A number that JSON cannot express (infinite, not a number) is null.
    public func bytes() -> [UInt8] {
        var writer = JSONWriter(indents: false)
        writer.write(self, depth: 0)
        return writer.bytes
    }

    /// Indented by two spaces, for people.
    public func prettyText() -> String {
        var writer = JSONWriter(indents: true)
        writer.write(self, depth: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let indents: Bool

    init(indents: Bool) { self.indents = indents }

    mutating func write(_ value: JSON, depth: Int) {
        switch value {
        case .null: text("null")
        case .bool(let flag): text(flag ? "true" : "false")
        case .integer(let integer): text("\(integer)")
        case .number(let number): write(number)
        case .string(let string): write(string)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                separate(index, depth + 1)
                write(element, depth: depth + 1)
            }
            close(UInt8(ascii: "]"), isEmpty: elements.isEmpty, depth)
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                separate(index, depth + 1)
                write(member.name)
                text(indents ? ": " : ":")
                write(member.value, depth: depth + 1)
            }
            close(UInt8(ascii: "}"), isEmpty: object.isEmpty, depth)
        }
    }

    private mutating func text(_ string: String) { bytes.append(contentsOf: string.utf8) }

    private mutating func separate(_ index: Int, _ depth: Int) {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        breakLine(depth)
    }

    private mutating func close(_ bracket: UInt8, isEmpty: Bool, _ depth: Int) {
        if !isEmpty { breakLine(depth) }
        bytes.append(bracket)
    }

    private mutating func breakLine(_ depth: Int) {
        guard indents else { return }
        bytes.append(UInt8(ascii: "\n"))
        for _ in 0..<(2 * depth) { bytes.append(UInt8(ascii: " ")) }
    }

    private mutating func write(_ number: Double) {
        guard number.isFinite else { return text("null") }
        var buffer = [CChar](repeating: 0, count: 40)
        let length = Int(jansson_format_real(&buffer, buffer.count, number))
        for index in 0..<length { bytes.append(UInt8(bitPattern: buffer[index])) }
    }

    /// What a terminal would obey, or not show, is escaped: free text of apps may come to one as it is.
    private mutating func write(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var isASCII = true
        for byte in string.utf8 where byte >= 0x7F { isASCII = false }
        if isASCII {
            for byte in string.utf8 { write(byte) }
        } else {
            for scalar in string.unicodeScalars {
                if scalar.isUnseen {
                    for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { escape(unit) }
                } else {
                    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { write(byte) }
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): text("\\\"")
        case UInt8(ascii: "\\"): text("\\\\")
        case 0x08: text("\\b")
        case 0x09: text("\\t")
        case 0x0a: text("\\n")
        case 0x0c: text("\\f")
        case 0x0d: text("\\r")
        case 0..<0x20: escape(UInt16(byte))
        default: bytes.append(byte)
        }
    }

    private mutating func escape(_ unit: UInt16) {
        text("\\u")
        for shift: UInt16 in [12, 8, 4, 0] {
            let digit = UInt8(unit >> shift & 15)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
