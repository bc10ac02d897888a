internal import CLinux
internal import SystemCalls

/// What the kernel shows of the board, in /proc and /sys below a root.
struct SystemTree {
    /// Empty for the system's own.
    let root: String

    /// A file's first line, without blanks around it; nil where there is none.
    func line(_ path: String) -> String? {
        guard let bytes = try? Files.read(root + path, limit: 4096) else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }
        let text = String(decoding: line, as: UTF8.self).trimmed.printable
        return text.isEmpty ? nil : text
    }

    func number(_ path: String) -> Int? { line(path).flatMap { Int($0) } }

    func names(_ path: String) -> [String] { ((try? Files.list(root + path)) ?? []).map(\.printable) }

    func exists(_ path: String) -> Bool { Files.exists(root + path) }

    /// The last part of where a link leads.
    func linkName(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink(root + path, &buffer, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        let target = String(decoding: buffer[0..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return target.split(separator: "/").last.map { String($0).printable }
    }
}

extension String {
    /// Without blanks at both ends.
    var trimmed: String {
        var text = Substring(self)
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
