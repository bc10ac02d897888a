/// An app's file as text, of which single keys are replaced while all else stays as it is.
struct AppFileText {
    private(set) var text: String

    init(_ text: String) { self.text = text }

    /// Sets a key; value: as TOML.
    mutating func set(_ key: String, _ value: String) {
        remove(key)
        text = "\(key) = \(value)\n" + text
    }

    /// Removes a key of the file's top level, be it a value, a dotted key or a table.
    mutating func remove(_ key: String) {
        var bytes = Array(text.utf8)
        for range in Scanner(bytes).ranges(of: Array(key.utf8)).reversed() { bytes.removeSubrange(range) }
        text = String(decoding: bytes, as: UTF8.self)
    }

    func has(_ key: String) -> Bool { !Scanner(Array(text.utf8)).ranges(of: Array(key.utf8)).isEmpty }

    /// Finds where statements begin and end. The file has been found valid before.
    private struct Scanner {
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Where a key of the top level is given its value, in order.
        func ranges(of key: [UInt8]) -> [Range<Int>] {
            var scanner = self
            var found: [Range<Int>] = []
            // The first part of the table's name; nil at the top level.
            var table: [UInt8]?
            while let byte = scanner.skipBlanks() {
                let start = scanner.position
                if byte == UInt8(ascii: "[") {
                    scanner.skip { $0 == UInt8(ascii: "[") || $0 == 32 || $0 == 9 }
                    table = scanner.name()
                    scanner.skipToLineEnd()
                } else {
                    let name = scanner.name()
                    scanner.skipValue()
                    if table == nil, name == key { found.append(start..<scanner.position) }
                }
                // A table reaches to the next one.
                if let table, table == key { found.append(start..<scanner.position) }
            }
            return found
        }

        private func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }

        private mutating func skip(_ condition: (UInt8) -> Bool) {
            while position < bytes.count, condition(bytes[position]) { position += 1 }
        }

        /// The first byte of the next statement; nil at the end.
        private mutating func skipBlanks() -> UInt8? {
            while position < bytes.count {
                if bytes[position] == UInt8(ascii: "#") {
                    skipToLineEnd()
                } else if isBlank(bytes[position]) {
                    position += 1
                } else {
                    return bytes[position]
                }
            }
            return nil
        }

        private mutating func skipToLineEnd() {
            while position < bytes.count, bytes[position] != 10 { position += 1 }
            position = min(bytes.count, position + 1)
        }

        /// The first part of a key, without quotes.
        private mutating func name() -> [UInt8] {
            let start = position
            guard position < bytes.count else { return [] }
            if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") {
                skipString()
                return Array(bytes[start + 1..<max(start + 1, position - 1)])
            }
            let ends = Array("=.] \t\n".utf8)
            while position < bytes.count, !ends.contains(bytes[position]) { position += 1 }
            return Array(bytes[start..<position])
        }

        /// From within a key to the end of the line that ends its value.
        private mutating func skipValue() {
            var depth = 0
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    skipString()
                    continue
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: "#"):
                    while position < bytes.count, bytes[position] != 10 { position += 1 }
                    continue
                case 10 where depth <= 0:
                    position += 1
                    return
                default: break
                }
                position += 1
            }
        }

        /// From the opening quotes to behind the closing ones.
        private mutating func skipString() {
            let quote = bytes[position]
            let isLong = bytes[position...].starts(with: [quote, quote, quote])
            let closing = [UInt8](repeating: quote, count: isLong ? 3 : 1)
            position += closing.count
            while position < bytes.count, !bytes[position...].starts(with: closing) {
                position += quote == UInt8(ascii: "\"") && bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
            position = min(bytes.count, position + closing.count)
            // Up to two quotes may stand before those that close a long string.
            while isLong, position < bytes.count, bytes[position] == quote { position += 1 }
        }
    }
}
