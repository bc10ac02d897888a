/// Blanks comments and the contents of string literals, so that rules see code only. Lines and columns stay where they
/// are. Code inside an interpolation is kept. Swift's regex literals are not understood: use `Regex("…")` instead.
struct CodeMask {
    private struct Delimiter {
        var quote: UInt8
        /// 1, or 3 for a literal of several lines.
        var count: Int
        var hashes: Int
        var interpolates: Bool
    }

    private let bytes: [UInt8]
    private let language: Language
    private var output: [UInt8] = []
    private var position = 0
    /// The literals that the current code stands in, each with the parentheses open in its interpolation.
    private var interpolations: [(delimiter: Delimiter, open: Int)] = []

    static func code(of text: String, _ language: Language) -> String {
        guard language != .text && language != .shell else { return text }
        var mask = CodeMask(bytes: Array(text.utf8), language: language)
        mask.run()
        return String(decoding: mask.output, as: UTF8.self)
    }

    private init(bytes: [UInt8], language: Language) {
        self.bytes = bytes
        self.language = language
        output.reserveCapacity(bytes.count)
    }

    private mutating func run() {
        while position < bytes.count {
            if skipComment() || skipRawString() { continue }
            if let delimiter = literalStart() {
                emit(delimiter.hashes + delimiter.count)
                skipLiteral(delimiter)
            } else if closesInterpolation() {
                let delimiter = interpolations.removeLast().delimiter
                emit(1)
                skipLiteral(delimiter)
            } else {
                emit(1)
            }
        }
    }

    /// Counts parentheses inside an interpolation; true at the one that ends it.
    private mutating func closesInterpolation() -> Bool {
        guard let last = interpolations.last else { return false }
        if bytes[position] == UInt8(ascii: "(") { interpolations[interpolations.count - 1].open += 1 }
        guard bytes[position] == UInt8(ascii: ")") else { return false }
        if last.open == 0 { return true }
        interpolations[interpolations.count - 1].open -= 1
        return false
    }

    private mutating func skipComment() -> Bool {
        if language == .python {
            guard bytes[position] == UInt8(ascii: "#") else { return false }
            blankLine()
            return true
        }
        if starts("//") {
            blankLine()
            return true
        }
        guard starts("/*") else { return false }
        var depth = 0
        repeat {
            if starts("/*"), language == .swift || depth == 0 {
                depth += 1
                blank(2)
            } else if starts("*/") {
                depth -= 1
                blank(2)
            } else {
                blank(1)
            }
        } while depth > 0 && position < bytes.count
        return true
    }

    /// C++: R"delimiter(…)delimiter"
    private mutating func skipRawString() -> Bool {
        guard language == .c, starts("R\"") else { return false }
        guard let open = bytes[position...].firstIndex(of: UInt8(ascii: "(")) else { return false }
        let close = Array(")".utf8) + bytes[(position + 2)..<open] + Array("\"".utf8)
        emit(2)
        while position < bytes.count && !bytes[position...].starts(with: close) { blank(1) }
        emit(close.count)
        return true
    }

    private func literalStart() -> Delimiter? {
        var index = position
        while language == .swift, index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
        guard index < bytes.count else { return nil }
        let quote = bytes[index]
        let single = quote == UInt8(ascii: "'") && language != .swift
        guard quote == UInt8(ascii: "\"") || single else { return nil }
        if language == .c, single, position > 0, isWordByte(bytes[position - 1]) { return nil }  // 1'000
        let tripled = language != .c && bytes[index...].starts(with: [quote, quote, quote])
        return Delimiter(
            quote: quote, count: tripled ? 3 : 1, hashes: index - position, interpolates: language == .swift)
    }

    private mutating func skipLiteral(_ delimiter: Delimiter) {
        let hashes = [UInt8](repeating: UInt8(ascii: "#"), count: delimiter.hashes)
        let close = [UInt8](repeating: delimiter.quote, count: delimiter.count) + hashes
        let escape = [UInt8(ascii: "\\")] + hashes
        while position < bytes.count {
            if bytes[position...].starts(with: close) {
                emit(close.count)
                return
            }
            if bytes[position] == UInt8(ascii: "\n"), delimiter.count == 1 { return }
            guard bytes[position...].starts(with: escape) else {
                blank(1)
                continue
            }
            blank(escape.count)
            if delimiter.interpolates, position < bytes.count, bytes[position] == UInt8(ascii: "(") {
                emit(1)
                interpolations.append((delimiter, 0))
                return
            }
            blank(1)
        }
    }

    private func starts(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private mutating func emit(_ count: Int) {
        let end = min(position + count, bytes.count)
        output += bytes[position..<end]
        position = end
    }

    private mutating func blank(_ count: Int) {
        for _ in 0..<count where position < bytes.count {
            output.append(bytes[position] == UInt8(ascii: "\n") ? bytes[position] : UInt8(ascii: " "))
            position += 1
        }
    }

    private mutating func blankLine() {
        while position < bytes.count && bytes[position] != UInt8(ascii: "\n") { blank(1) }
    }
}

func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
        true
    default: false
    }
}
