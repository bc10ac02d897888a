public import SystemCalls

/// How often the kernel has slept, and how often it did not though it was asked to: /sys/power/suspend_stats
/// (Documentation/ABI/testing/sysfs-power; Linux 5.4, CONFIG_SUSPEND).
public struct SuspendStatistics: Equatable, Sendable {
    /// What kept the kernel from sleeping.
    public struct Refusal: Equatable, Sendable {
        /// The device's name; nil where it was no device's doing, or is not known.
        public let device: String?
        /// "freeze", "prepare", "suspend", "suspend_late", "suspend_noirq", "platform", …
        public let step: String?
        public let errno: Errno?

        /// "device usb1, step suspend: Device or resource busy"; "" where nothing is known.
        public var text: String {
            var text = device.map { "device " + $0 } ?? ""
            if let step { text += (text.isEmpty ? "step " : ", step ") + step }
            if let errno { text += (text.isEmpty ? "" : ": ") + errno.text }
            return text
        }
    }

    public let successes: Int64
    public let failures: Int64

    /// nil where the kernel does not count.
    public init?(sysfs: String = "/sys") {
        let attributes = Self.directory(sysfs)
        guard let successes = attributes.number("success"), let failures = attributes.number("fail") else { return nil }
        self.successes = successes
        self.failures = failures
    }

    /// What kept it from sleeping the last time that it failed to.
    public static func lastRefusal(sysfs: String = "/sys") -> Refusal {
        let attributes = directory(sysfs)
        func text(_ name: String) -> String? { attributes.text(name).map { String(decoding: $0, as: UTF8.self) } }
        let number = attributes.number("last_failed_errno").flatMap { Int32(exactly: $0) }
        return Refusal(
            device: text("last_failed_dev"), step: text("last_failed_step"),
            errno: number.flatMap { $0 < 0 && $0 > -4096 ? Errno(rawValue: -$0) : nil })
    }

    /// The kernel's own counts need no device: a sleep does not wait for them.
    private static func directory(_ sysfs: String) -> AttributeDirectory {
        AttributeDirectory(sysfs, patience: 50).directory("power/suspend_stats")
    }
}
