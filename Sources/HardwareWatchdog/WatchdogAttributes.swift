/// How long a watchdog's timeout may be, in seconds.
public struct WatchdogLimits: Equatable, Sendable {
    public var minimum: Int
    /// nil: the driver tells none. It may still refuse, or have the kernel feed a shorter hardware timer in between.
    public var maximum: Int?

    /// A minimum under 1 counts as 1; a maximum under the minimum does not count.
    public init(minimum: Int = 1, maximum: Int? = nil) {
        let least = max(minimum, 1)
        self.minimum = least
        if let maximum, maximum >= least { self.maximum = maximum }
    }

    /// Both of them obeyed, say the driver's and the profile's.
    public func narrowed(toAtMost other: Int?) -> WatchdogLimits {
        guard let other else { return self }
        return WatchdogLimits(minimum: minimum, maximum: min(other, maximum ?? other))
    }

    public func clamp(_ seconds: Int) -> Int { min(max(seconds, minimum), maximum ?? Int(Int32.max)) }
}

/// /sys/class/watchdog/watchdogN: read without opening the device, and so without starting it.
public struct WatchdogAttributes {
    private let directory: String?
    private let kernel: any WatchdogKernel

    /// directory: nil for a device that has none; everything is unknown then.
    public init(_ directory: String?, kernel: any WatchdogKernel) {
        self.directory = directory
        self.kernel = kernel
    }

    /// The driver's name for it: "Software Watchdog".
    public var identity: String { String(decoding: identityBytes, as: UTF8.self) }
    var identityBytes: [UInt8] { bytes("/identity") ?? [] }

    /// What udev knows of the device behind it: DRIVER= among it, but for softdog, which has none.
    var deviceBytes: [UInt8] { bytes("/device/uevent") ?? [] }

    /// Files that are missing, empty or hold nonsense leave the limit unknown.
    public var limits: WatchdogLimits {
        WatchdogLimits(minimum: number("/min_timeout") ?? 1, maximum: number("/max_timeout"))
    }

    /// Whether the kernel refuses to stop it once it runs; nil: not known.
    public var noWayOut: Bool? { number("/nowayout").map { $0 != 0 } }

    /// Whether it runs; nil: not known. The hardware may think otherwise, after a sleep say.
    public var isActive: Bool? { bytes("/state")?.first.map { $0 == UInt8(ascii: "a") } }

    /// Why the board was reset, as far as the driver knows.
    public var bootStatus: WatchdogFlags {
        WatchdogFlags(bootStatus: UInt32(truncatingIfNeeded: number("/bootstatus") ?? 0))
    }

    /// Seconds.
    public var timeout: Int? { number("/timeout").flatMap { $0 > 0 ? $0 : nil } }

    /// What the driver can do; recent kernels only.
    var options: WatchdogFlags { WatchdogFlags(rawValue: UInt32(truncatingIfNeeded: number("/options") ?? 0)) }

    /// Without what is blank at the end.
    private func bytes(_ name: String) -> [UInt8]? {
        guard let directory, var bytes = kernel.read(directory + name) else { return nil }
        while let last = bytes.last, last <= UInt8(ascii: " ") { bytes.removeLast() }
        return bytes
    }

    /// Decimal, or hexadecimal after 0x; nil for a sign, or more than a driver can mean.
    private func number(_ name: String) -> Int? {
        guard let bytes = bytes(name), !bytes.isEmpty, bytes.count <= 12 else { return nil }
        let isHexadecimal = bytes.count > 2 && bytes[1] == UInt8(ascii: "x")
        var value = 0
        for byte in bytes.dropFirst(isHexadecimal ? 2 : 0) {
            let digit = Int(byte | 0x20) - (byte > UInt8(ascii: "9") ? 0x57 : 0x30)
            guard digit >= 0, digit < (isHexadecimal ? 16 : 10) else { return nil }
            value = value * (isHexadecimal ? 16 : 10) + digit
        }
        return value
    }
}
