/// Walks through the text of an interface description.
struct DescriptionScanner {
    private let text: [UInt8]
    private(set) var position = 0
    private(set) var line = 1

    init(_ text: [UInt8]) { self.text = text }

    var atEnd: Bool { position == text.count }

    func failure(_ message: String) -> DescriptionError { DescriptionError(line: line, message: message) }

    var peek: UInt8? { position < text.count ? text[position] : nil }

    private mutating func advance() {
        if peek == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || (0x09...0x0d).contains(byte) { advance() }
    }

    /// Whitespace and comments, where comments may stand: before members of the interface, and before fields.
    mutating func skipComments() throws(DescriptionError) {
        skipWhitespace()
        while peek == UInt8(ascii: "#") {
            let start = position
            while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { advance() }
            if !isUTF8(text[start..<position]) { throw failure("a comment that is not UTF-8") }
            skipWhitespace()
        }
    }

    /// Takes `token` if it stands here.
    mutating func take(_ token: StaticString) -> Bool {
        let count = token.utf8CodeUnitCount
        guard position + count <= text.count else { return false }
        for offset in 0..<count where text[position + offset] != token.utf8Start[offset] { return false }
        for _ in 0..<count { advance() }
        return true
    }

    mutating func expect(_ token: StaticString, _ message: String) throws(DescriptionError) {
        skipWhitespace()
        if !take(token) { throw failure(message) }
    }

    /// Letters, digits and what `also` says; may be empty.
    mutating func word(also: (UInt8) -> Bool = { $0 == UInt8(ascii: "_") }) -> [UInt8] {
        let start = position
        while let byte = peek, isLetter(byte) || isDigit(byte) || also(byte) { advance() }
        return Array(text[start..<position])
    }

    private func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
func isUppercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
func isLetter(_ byte: UInt8) -> Bool { isUppercase(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

/// The rules for names, those of systemd's `varlinkctl validate-idl`.
enum DescriptionName {
    /// Labels of letters and digits with single dashes within, joined by dots, the first byte a letter.
    static func isInterface(_ name: [UInt8]) -> Bool {
        guard let first = name.first, isLetter(first) else { return false }
        return hasSingleSeparators(name) { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    /// A type, method or error: an uppercase letter, then letters and digits.
    static func isMember(_ name: [UInt8]) -> Bool {
        guard let first = name.first, isUppercase(first) else { return false }
        return name.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// A letter, then letters, digits and single underscores, none at the end.
    static func isField(_ name: [UInt8]) -> Bool {
        guard let first = name.first, isLetter(first) else { return false }
        return hasSingleSeparators(name) { $0 == UInt8(ascii: "_") }
    }

    private static func hasSingleSeparators(_ name: [UInt8], _ isSeparator: (UInt8) -> Bool) -> Bool {
        var afterSeparator = false
        for byte in name {
            let separates = isSeparator(byte)
            if separates ? afterSeparator : !(isLetter(byte) || isDigit(byte)) { return false }
            afterSeparator = separates
        }
        return !afterSeparator
    }
}
