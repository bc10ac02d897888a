/// Whether bytes are UTF-8 text without NULs; notes a problem where they are not.
func isText(_ bytes: [UInt8], _ problems: Problems) -> Bool {
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
