enum Language {
    case swift
    case c
    case python
    case shell
    case text
}

/// A file of the tree, as written and as bare code.
struct SourceFile: Sendable {
    /// From the package's root, with slashes.
    let path: String
    let language: Language
    let lines: [String]
    /// The same lines without comments and without the contents of string literals.
    let code: [String]

    init(_ path: String, _ text: String) {
        self.path = path
        language = Self.language(path, text)
        lines = Self.lines(text)
        code = Self.lines(CodeMask.code(of: text, language))
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    func isIn(_ folder: String) -> Bool { path.hasPrefix(folder + "/") }

    /// The target that the file belongs to: the folder below Sources or Tests.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : nil
    }

    func violation(_ index: Int, _ message: String) -> Violation {
        Violation(path: path, line: index + 1, message: message)
    }

    /// A violation for every line of code that the pattern is found in.
    func violations(of pattern: Pattern, _ message: String) -> [Violation] {
        code.indices.filter { pattern.isFound(in: code[$0]) }.map { violation($0, message) }
    }

    private static func lines(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    private static func language(_ path: String, _ text: String) -> Language {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            guard text.hasPrefix("#!") else { return .text }
            return text.prefix(while: { $0 != "\n" }).contains("python") ? .python : .shell
        }
        return switch name[name.index(after: dot)...] {
        case "swift": .swift
        case "c", "h", "cc", "cpp", "hpp": .c
        case "py": .python
        case "sh": .shell
        default: .text
        }
    }
}
