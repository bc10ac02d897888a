import Foundation

/// One broken rule, at one place.
struct Violation: CustomStringConvertible {
    var path: String
    /// From 1; 0 for the file as a whole.
    var line: Int
    var message: String

    var place: String { "\(path):\(line)" }
    var description: String { "\(place): \(message)" }
}

/// A rule over the whole tree.
struct Rule: Sendable, CustomStringConvertible {
    let name: String
    let check: @Sendable (SourceTree) throws -> [Violation]

    var description: String { name }

    static let all: [Rule] = size + pure + device + imports + wording + layout
}

/// A regular expression as NSRegularExpression takes it, which knows what may stand before a match.
struct Pattern {
    private let expression: NSRegularExpression

    init(_ pattern: String) throws { expression = try NSRegularExpression(pattern: pattern) }

    func isFound(in text: String) -> Bool {
        expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    /// Per match the first group, or the whole match where that group has no part in it.
    func groups(in text: String) -> [String] {
        expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            let group = match.numberOfRanges > 1 ? Range(match.range(at: 1), in: text) : nil
            return (group ?? Range(match.range, in: text)).map { String(text[$0]) }
        }
    }
}
