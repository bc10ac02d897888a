public import SystemCalls

/// What a pressure file says: how much waiting there was.
public struct PressureReading: Equatable, Sendable {
    /// Shares of the last 10 s, in hundredths of a percent.
    public let someAverage10: Int64
    public let fullAverage10: Int64
    /// Microseconds since boot, or since the cgroup was made.
    public let someTotal: Int64
    public let fullTotal: Int64

    /// path: /proc/pressure/memory, or memory.pressure of a cgroup. Not to be read often: time since the last reading
    /// counts in whole ticks, so that readings a few milliseconds apart lose it.
    public init(path: String = PressureTrigger.board) throws(PressureUnavailable) {
        let text: [UInt8]
        do throws(SystemError) {
            text = try Files.readShared(path, limit: 512)
        } catch {
            throw PressureUnavailable(error)
        }
        guard let reading = PressureReading(parsing: text) else {
            throw .failed(SystemError("read", path, errno: .invalid))
        }
        self = reading
    }

    init?(parsing text: [UInt8]) {
        guard let some = Self.line("some ", in: text), let full = Self.line("full ", in: text) else { return nil }
        (someAverage10, someTotal) = some
        (fullAverage10, fullTotal) = full
    }

    /// some avg10=1.28 avg60=0.35 avg300=0.52 total=4559243
    private static func line(_ name: String, in text: [UInt8]) -> (average: Int64, total: Int64)? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: name.utf8) {
            var average: Int64?
            var total: Int64?
            for word in line.split(separator: UInt8(ascii: " ")) {
                if word.starts(with: "avg10=".utf8) {
                    average = NumberedLines.number((word.dropFirst(6).filter { $0 != UInt8(ascii: ".") })[...])
                } else if word.starts(with: "total=".utf8) {
                    total = NumberedLines.number(word.dropFirst(6))
                }
            }
            if let average, let total { return (average, total) }
        }
        return nil
    }
}

/// How much memory there is, and how much can be had without making a process wait.
public struct MemoryReading: Equatable, Sendable {
    public let totalBytes: Int64
    /// MemAvailable: free, and what the kernel can take back of its caches. At most `totalBytes`.
    public let availableBytes: Int64

    /// path: /proc/meminfo. EINVAL where it makes no sense.
    public init(path: String = "/proc/meminfo") throws(SystemError) {
        guard let reading = MemoryReading(parsing: try Files.readShared(path, limit: 2048)) else {
            throw SystemError("read", path, errno: .invalid)
        }
        self = reading
    }

    init?(parsing text: [UInt8]) {
        guard let total = NumberedLines.number("MemTotal:", in: text), total > 0, total < Int64.max / 1024,
            let available = NumberedLines.number("MemAvailable:", in: text)
        else { return nil }
        totalBytes = total * 1024
        availableBytes = min(available, total) * 1024
    }
}
