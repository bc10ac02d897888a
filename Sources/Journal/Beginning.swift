// What others say may be of any length.

extension String {
    /// Its beginning, of so many bytes at most, and without a part of a character at its end.
    public func beginning(bytes most: Int) -> String {
        guard utf8.count > most else { return self }
        var bytes = Array(utf8.prefix(most + 1))
        bytes.cut(to: most)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Of UTF-8: the rest of the last character goes with what is too much.
    mutating func cut(to most: Int) {
        guard count > most else { return }
        var end = most
        while end > 0, self[end] & 0xc0 == 0x80 { end -= 1 }
        removeSubrange(end...)
    }
}
