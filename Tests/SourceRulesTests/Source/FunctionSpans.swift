/// Where the functions of a file begin and end, found by their braces.
struct FunctionSpan {
    var name: String
    /// From 0.
    var first: Int
    var last: Int

    var lineCount: Int { last - first + 1 }

    static func all(in file: SourceFile) -> [FunctionSpan] {
        let tokens = Token.all(in: file.code)
        return switch file.language {
        case .swift: swift(tokens)
        case .c: c(tokens)
        case .python, .shell, .text: []
        }
    }

    /// Functions, initialisers, accessors and computed properties.
    private static func swift(_ tokens: [Token]) -> [FunctionSpan] {
        let starts: Set = ["func", "init", "deinit", "subscript", "var", "get", "set", "willSet", "didSet"]
        let ends: Set = [
            "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "class", "enum", "extension",
            "protocol", "actor", "typealias", "static", "public", "private", "internal", "mutating", "}", ";",
        ]
        return tokens.indices.compactMap { start in
            guard starts.contains(tokens[start].text), start == 0 || tokens[start - 1].text != "." else { return nil }
            var depth = 0
            for index in tokens.indices[(start + 1)...] {
                let text = tokens[index].text
                if text == "(" || text == "[" { depth += 1 }
                if text == ")" || text == "]" { depth -= 1 }
                if depth < 0 { return nil }
                guard depth == 0 else { continue }
                if text == "{" { return span(tokens, from: start, brace: index) }
                if ends.contains(text) { return nil }
            }
            return nil
        }
    }

    /// Blocks with parameters before them, outside all others; `extern "C"`, namespaces and types are looked into.
    private static func c(_ tokens: [Token]) -> [FunctionSpan] {
        var spans: [FunctionSpan] = []
        var header = 0
        var index = 0
        while index < tokens.count {
            let text = tokens[index].text
            if text == "{" {
                let words = tokens[header..<index].map(\.text)
                if words.contains("("), !words.contains("=") {
                    let span = span(tokens, from: header, brace: index)
                    spans.append(span)
                    while index < tokens.count, tokens[index].line < span.last || tokens[index].text != "}" {
                        index += 1
                    }
                }
            }
            index += 1
            if text == "{" || text == "}" || text == ";" { header = index }
        }
        return spans
    }

    private static func span(_ tokens: [Token], from start: Int, brace: Int) -> FunctionSpan {
        var depth = 0
        var last = tokens[brace].line
        for token in tokens[brace...] {
            last = token.line
            if token.text == "{" { depth += 1 }
            if token.text == "}" {
                depth -= 1
                if depth == 0 { break }
            }
        }
        let words = tokens[start..<brace].prefix(while: { $0.text != "(" && $0.text != ":" }).map(\.text)
        return FunctionSpan(name: words.joined(separator: " "), first: tokens[start].line, last: last)
    }
}

/// A word or a single other character.
struct Token {
    var text: String
    /// From 0.
    var line: Int

    static func all(in code: [String]) -> [Token] {
        var tokens: [Token] = []
        for (number, line) in code.enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("#include") { continue }
            var word: [UInt8] = []
            for byte in line.utf8 {
                if isWordByte(byte) {
                    word.append(byte)
                    continue
                }
                if !word.isEmpty { tokens.append(Token(text: String(decoding: word, as: UTF8.self), line: number)) }
                word = []
                if byte > UInt8(ascii: " ") {
                    tokens.append(Token(text: String(decoding: [byte], as: UTF8.self), line: number))
                }
            }
            if !word.isEmpty { tokens.append(Token(text: String(decoding: word, as: UTF8.self), line: number)) }
        }
        return tokens
    }
}
