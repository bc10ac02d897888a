/// What a person can do about what the parser (toml++) says, which tells what it found and not what it takes. A message
/// that is not known here is left as it is.
enum SyntaxRemedy {
    private static let known: [(words: String, remedy: String)] = [
        (
            "could not determine value type",
            "; text is written in quotes, as in \"text\", and yes and no are true and false, without"
        ),
        ("unescaped control characters", "; is a closing quote missing in this line?"),
        ("leading zeroes are prohibited", "; a number like 0022 is written in quotes"),
    ]

    static func of(_ message: String) -> String {
        let message = Array(message.utf8)
        return known.first { holds(message, $0.words) }?.remedy ?? ""
    }
}
