internal import CLinux

/// A point in time as the interfaces write it (RFC 3339, UTC), shown as the local clock has it.
struct LocalTime: Comparable {
    /// Since 1970-01-01 UTC.
    let milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// "2026-11-21T05:48:23.123Z"; nil for anything else.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int32? {
            guard range.upperBound <= bytes.count else { return nil }
            var value: Int32 = 0
            for byte in bytes[range] {
                guard byte >= 48, byte <= 57 else { return nil }
                value = value * 10 + Int32(byte - 48)
            }
            return value
        }
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T"),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, month - 1, day)
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (hour, minute, second)
        let fraction = bytes.count >= 24 && bytes[19] == UInt8(ascii: ".") ? number(20..<23) : nil
        milliseconds = Int64(timegm(&fields)) * 1000 + Int64(fraction ?? 0)
    }

    static func < (left: LocalTime, right: LocalTime) -> Bool { left.milliseconds < right.milliseconds }

    /// "05:48:23.123".
    var clock: String {
        let fraction = "\(parts.fraction)"
        return format("%H:%M:%S") + "." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }

    /// "2026-11-21 05:48:23".
    var date: String { format("%Y-%m-%d %H:%M:%S") }

    /// "2026-11-21 05:48:23 CET".
    var full: String { format("%Y-%m-%d %H:%M:%S %Z") }

    /// strftime(3) in the local time zone.
    /// Before 1970, too, a fraction is what has passed of a second.
    private var parts: (seconds: Int64, fraction: Int64) {
        let (seconds, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return fraction < 0 ? (seconds - 1, fraction + 1000) : (seconds, fraction)
    }

    private func format(_ pattern: String) -> String {
        var seconds = time_t(parts.seconds)
        var fields = tm()
        guard localtime_r(&seconds, &fields) != nil else { return "?" }
        var buffer = [CChar](repeating: 0, count: 80)
        let length = strftime(&buffer, buffer.count, pattern, &fields)
        return String(decoding: buffer[0..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
