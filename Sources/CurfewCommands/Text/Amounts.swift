/// Amounts as people read them.
enum Amounts {
    /// "4.57" of 4.5678: decimals from 1 to 6, rounded.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "?" }
        var scale: Int64 = 1
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int64((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + "\(scaled)" }
        let fraction = "\(scaled % scale)"
        return sign + "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    /// "0.4 ms", "120 ms", "2.01 s", "5 s", "3 min 5 s", "2 h 5 min", "3 d 4 h".
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e11 else { return "?" }
        let value = max(0, seconds)
        if value > 0, value < 0.00995 { return fixed(value * 1000, 1) + " ms" }
        if value < 0.9995 { return "\(Int((value * 1000).rounded())) ms" }
        if value < 59.995 {
            let text = fixed(value, value < 9.995 ? 2 : 1)
            let trimmed = text.reversed().drop { $0 == "0" }
            return String((trimmed.first == "." ? trimmed.dropFirst() : trimmed).reversed()) + " s"
        }
        let whole = Int(value.rounded())
        if whole < 3600 { return pair(whole / 60, "min", whole % 60, "s") }
        if whole < 86400 { return pair(whole / 3600, "h", whole % 3600 / 60, "min") }
        return pair(whole / 86400, "d", whole % 86400 / 3600, "h")
    }

    private static func pair(_ major: Int, _ unit: String, _ minor: Int, _ lesser: String) -> String {
        minor == 0 ? "\(major) \(unit)" : "\(major) \(unit) \(minor) \(lesser)"
    }

    /// "5 min ago", in one unit.
    static func age(_ seconds: Double) -> String {
        if seconds < 1 { return "just now" }
        let whole = Int(min(seconds, 1e11))
        if whole < 60 { return "\(whole) s ago" }
        if whole < 3600 { return "\(whole / 60) min ago" }
        if whole < 172_800 { return "\(whole / 3600) h ago" }
        return "\(whole / 86400) days ago"
    }

    /// "612 KiB", "12.3 MiB".
    static func bytes(_ count: Int64) -> String {
        let value = Double(count)
        if value < 1024 * 1000 { return "\(Int((value / 1024).rounded())) KiB" }
        if value < 1024 * 1024 * 1000 { return fixed(value / 1_048_576, 1) + " MiB" }
        return fixed(value / 1_073_741_824, 2) + " GiB"
    }

    /// "1 app", "3 apps".
    static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
}
