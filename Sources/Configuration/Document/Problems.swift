/// Collects what is wrong with one file.
final class Problems {
    /// More do not help anyone.
    static let limit = 20

    let file: String
    private var errors: [ConfigurationError] = []

    init(file: String) { self.file = file }

    var isEmpty: Bool { errors.isEmpty }
    var count: Int { errors.count }
    /// The first that was noted since there were so many.
    func after(_ count: Int) -> ConfigurationError? { errors.count > count ? errors[count] : nil }
    var isFull: Bool { errors.count >= Self.limit }
    /// In the order of the file; what concerns the whole file comes first.
    var sorted: [ConfigurationError] {
        var result: [ConfigurationError] = []
        for error in errors {
            let place = result.firstIndex { ($0.line ?? 0) > (error.line ?? 0) }
            result.insert(error, at: place ?? result.endIndex)
        }
        return result
    }

    func add(_ line: Int?, _ message: String) {
        if !isFull { errors.append(ConfigurationError(file: file, line: line, message: message)) }
    }
}

/// Text from a file in a message: short, and without what could steer a terminal or break a line of the journal.
func readable(_ text: String, limit: Int = 60) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == limit { return result + "..." }
        count += 1
        let isControl =
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
        result.unicodeScalars.append(isControl ? "?" : scalar)
    }
    return result
}

/// "a, b or c".
func alternatives(_ words: [String]) -> String {
    var result = ""
    for (index, word) in words.enumerated() {
        if index > 0 { result += index == words.count - 1 ? " or " : ", " }
        result += word
    }
    return result
}
