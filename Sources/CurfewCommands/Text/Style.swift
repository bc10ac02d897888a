/// What a piece of text means, and so how a terminal shows it.
enum Tone: CaseIterable {
    case plain, dim, bold, good, caution, bad, accent

    fileprivate var code: String {
        switch self {
        case .plain: ""
        case .dim: "2"
        case .bold: "1"
        case .good: "32"
        case .caution: "33"
        case .bad: "1;31"
        case .accent: "36"
        }
    }
}

/// Colours text, or leaves it as it is.
struct Style {
    let isColoured: Bool

    func paint(_ text: String, _ tone: Tone) -> String {
        isColoured && tone != .plain && !text.isEmpty ? "\u{1B}[\(tone.code)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// What follows a prefix; nil where there is another one.
    func suffix(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }

    /// Filled up with spaces to `width` columns.
    func padded(_ width: Int, toRight: Bool = false) -> String {
        let gap = String(repeating: " ", count: max(0, width - count))
        return toRight ? gap + self : self + gap
    }

    /// At most `width` columns, with an ellipsis where something was cut off.
    func clipped(_ width: Int) -> String {
        count <= width ? self : String(prefix(max(0, width - 1))) + "…"
    }

    /// Broken at spaces into lines of at most `width` columns; a word that is longer stays whole.
    func wrapped(_ width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if line.count + 1 + word.count <= width {
                line += " " + word
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        if !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }
}
