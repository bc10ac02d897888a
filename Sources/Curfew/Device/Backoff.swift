/// How long to wait before the next try to reach the device: twice as long each time, up to a second.
struct Backoff {
    /// Nanoseconds.
    static let shortest: Int64 = 10_000_000
    static let longest: Int64 = 1_000_000_000

    private var delay = Backoff.shortest

    mutating func next() -> Int64 {
        defer { delay = min(delay * 2, Self.longest) }
        return delay
    }

    /// The device has answered.
    mutating func reset() { delay = Self.shortest }
}
