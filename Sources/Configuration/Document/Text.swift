internal import CLinux

/// Whether a word is part of a text.
func holds(_ text: [UInt8], _ word: String) -> Bool {
    let word = Array(word.utf8)
    return text.withUnsafeBytes { text in
        word.withUnsafeBytes { part in
            guard let start = text.baseAddress, let beginning = part.baseAddress else { return false }
            return memmem(start, text.count, beginning, part.count) != nil
        }
    }
}

/// Whether bytes are UTF-8 text without NULs, and no more than 1 MiB; notes a problem where they are not.
func checkText(_ bytes: [UInt8], _ problems: Problems) -> Bool {
    if bytes.count > InputFile.limit {
        problems.add(nil, "is larger than 1 MiB")
        return false
    }
    // A loop over plain ASCII first: the parser below takes its time.
    guard let start = bytes.firstIndex(where: { $0 == 0 || $0 >= 0x80 }) else { return true }
    var line = 1
    for byte in bytes[..<start] where byte == UInt8(ascii: "\n") { line += 1 }
    var parser = Unicode.UTF8.ForwardParser()
    var rest = bytes[start...].makeIterator()
    while true {
        switch parser.parseScalar(from: &rest) {
        case .valid(let scalar):
            if scalar.first == UInt8(ascii: "\n") { line += 1 }
            if scalar.first == 0 {
                problems.add(line, "contains a NUL byte; expected text")
                return false
            }
        case .emptyInput: return true
        case .error:
            problems.add(line, "is not UTF-8; expected UTF-8 text")
            return false
        }
    }
}
