/// One entry in journald's native protocol: NAME=value lines; values with a newline as NAME, their length in 64 bits
/// (little endian) and the bytes.
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ name: String, _ value: String) {
        let newline = UInt8(ascii: "\n")
        bytes += Array(name.utf8)
        if value.utf8.contains(newline) {
            bytes.append(newline)
            let count = UInt64(value.utf8.count)
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: count >> UInt64(8 * shift))) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += Array(value.utf8)
        bytes.append(newline)
    }
}
