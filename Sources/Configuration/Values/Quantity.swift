/// Numbers with units, as systemd writes them.
enum Quantity {
    /// In nanoseconds: "5s", "500ms", "1h 30min", "2.5s"; a bare number is in seconds.
    case duration
    /// In bytes: "64M", "1.5G"; a bare number is in bytes.
    case size

    enum Outcome: Equatable {
        case value(Int64)
        /// What was expected.
        case malformed(String)
    }

    private static let durationUnits: [(String, Int64)] = [
        ("", 1_000_000_000),
        ("us", 1000), ("usec", 1000), ("\u{B5}s", 1000), ("\u{3BC}s", 1000),
        ("ms", 1_000_000), ("msec", 1_000_000),
        ("s", 1_000_000_000), ("sec", 1_000_000_000), ("second", 1_000_000_000), ("seconds", 1_000_000_000),
        ("m", 60_000_000_000), ("min", 60_000_000_000), ("minute", 60_000_000_000), ("minutes", 60_000_000_000),
        ("h", 3_600_000_000_000), ("hr", 3_600_000_000_000), ("hour", 3_600_000_000_000),
        ("hours", 3_600_000_000_000),
        ("d", 86_400_000_000_000), ("day", 86_400_000_000_000), ("days", 86_400_000_000_000),
        ("w", 604_800_000_000_000), ("week", 604_800_000_000_000), ("weeks", 604_800_000_000_000),
    ]
    private static let sizeUnits: [(String, Int64)] = [
        ("", 1), ("B", 1), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("T", 1 << 40),
    ]

    var what: String {
        switch self {
        case .duration: "a duration"
        case .size: "a size"
        }
    }

    var example: String {
        switch self {
        case .duration: "\"5s\", \"500ms\" or \"1h 30min\""
        case .size: "\"64M\", \"512K\" or \"1G\""
        }
    }

    var usualUnit: String {
        switch self {
        case .duration: "s"
        case .size: "M"
        }
    }

    func parse(_ text: String) -> Outcome {
        var scanner = Scanner(bytes: Array(text.utf8))
        scanner.skipBlanks()
        if scanner.isAtEnd { return .malformed("\(what) such as \(example)") }
        if scanner.peek == UInt8(ascii: "-") { return .malformed("\(what) that is not negative") }
        var total: Int64 = 0
        repeat {
            guard let number = scanner.number() else { return .malformed("\(what) such as \(example)") }
            scanner.skipBlanks()
            guard let unit = factor(scanner.unit()) else { return .malformed("\(what) such as \(example)") }
            let (sum, overflow) = total.addingReportingOverflow(number.times(unit) ?? .max)
            if overflow || sum == .max { return .malformed("\(what) that is not that large") }
            total = sum
            scanner.skipBlanks()
        } while !scanner.isAtEnd && allowsSeveral
        return scanner.isAtEnd ? .value(total) : .malformed("\(what) such as \(example)")
    }

    /// nil for what is no number.
    func value(_ text: String) -> Int64? {
        switch parse(text) {
        case .value(let value): value
        case .malformed: nil
        }
    }

    /// As a file has it: "1h 30min", "64M"; exact.
    func text(_ value: Int64) -> String {
        var rest = value
        var parts: [String] = []
        for (unit, factor) in usualUnits where factor <= rest {
            // A size is one number.
            if !allowsSeveral, rest % factor != 0 { continue }
            parts.append("\(rest / factor)\(unit)")
            rest %= factor
        }
        return parts.isEmpty ? "0" : parts.reduce("") { $0.isEmpty ? $1 : $0 + " " + $1 }
    }

    /// The largest first.
    private var usualUnits: [(String, Int64)] {
        switch self {
        case .duration:
            [
                ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000),
                ("ms", 1_000_000), ("us", 1000),
            ]
        case .size: [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("", 1)]
        }
    }

    private var allowsSeveral: Bool {
        switch self {
        case .duration: true
        case .size: false
        }
    }

    private func factor(_ word: [UInt8]) -> Int64? {
        let units =
            switch self {
            case .duration: Self.durationUnits
            case .size: Self.sizeUnits
            }
        for (name, factor) in units where Array(name.utf8) == word { return factor }
        return nil
    }
}

/// A decimal number: its whole part and the digits after the point.
private struct Decimal {
    var whole: Int64 = 0
    var fraction: [Int64] = []
    var isTooLarge = false

    /// Rounded down; nil beyond Int64.
    func times(_ unit: Int64) -> Int64? {
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        if isTooLarge || overflow { return nil }
        // unit * 0.d1d2d3... by Horner's rule from the last digit, in tenths of what is left.
        var part: Int64 = 0
        for digit in fraction.prefix(9).reversed() { part = (digit * unit + part) / 10 }
        let (sum, carry) = product.addingReportingOverflow(part)
        return carry ? nil : sum
    }
}

private struct Scanner {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    var peek: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func skipBlanks() {
        while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { position += 1 }
    }

    private mutating func digit() -> Int64? {
        guard let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        position += 1
        return Int64(byte - UInt8(ascii: "0"))
    }

    /// nil where there is none, also for "5." and ".5".
    mutating func number() -> Decimal? {
        guard let first = digit() else { return nil }
        var result = Decimal(whole: first)
        while let next = digit() {
            let (product, overflow) = result.whole.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(next)
            if overflow || carry { result.isTooLarge = true }
            result.whole = sum
        }
        guard peek == UInt8(ascii: ".") else { return result }
        position += 1
        while let next = digit() { result.fraction.append(next) }
        return result.fraction.isEmpty ? nil : result
    }

    /// What stands before the next blank or digit.
    mutating func unit() -> [UInt8] {
        let start = position
        while let byte = peek, byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"),
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        {
            position += 1
        }
        return Array(bytes[start..<position])
    }
}
