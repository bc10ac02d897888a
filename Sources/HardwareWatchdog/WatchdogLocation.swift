/// A watchdog of this board.
public struct WatchdogLocation: Equatable, Sendable {
    /// "/dev/watchdog0".
    public let path: String
    /// "/sys/class/watchdog/watchdog0"; nil where there is none.
    public let sysfs: String?

    public init(path: String, sysfs: String?) {
        self.path = path
        self.sysfs = sysfs
    }

    /// The class of watchdogs in sysfs.
    public static let directory = "/sys/class/watchdog"

    /// The device that was configured by its path.
    public static func named(_ path: String, kernel: any WatchdogKernel, sysfs: String = directory) -> WatchdogLocation
    {
        // /dev/watchdog is the first one's old name.
        let isLegacy = path == "/dev/watchdog"
        for name in kernel.list(sysfs) where path == "/dev/" + name || isLegacy && name == "watchdog0" {
            return WatchdogLocation(path: path, sysfs: joined([sysfs, "/", name]))
        }
        return WatchdogLocation(path: path, sysfs: nil)
    }

    /// The watchdog to use where none was configured; nil: there is none.
    ///
    /// driver: what the profile expects, "bcm2835_wdt"; where several are there it is preferred, and then the lowest
    /// number. The kernel's own timer (softdog) hangs together with the kernel, and an alarm resets nothing: neither is
    /// ever taken by itself.
    public static func find(driver: String = "", kernel: any WatchdogKernel, sysfs: String = directory)
        -> WatchdogLocation?
    {
        let all = kernel.list(sysfs)
        var chosen = ""
        var chosenRank = Int.max
        for name in all {
            let attributes = WatchdogAttributes(joined([sysfs, "/", name]), kernel: kernel)
            let identity = attributes.identityBytes
            if names(identity, "Software Watchdog") || attributes.options.contains(.alarmOnly) { continue }
            // Shorter names have lower numbers, and equally long ones come sorted.
            var rank = name.utf8.count
            if !isDriver(driver, identity, attributes.deviceBytes) { rank += 1000 }
            if rank < chosenRank { (chosen, chosenRank) = (name, rank) }
        }
        if !chosen.isEmpty { return WatchdogLocation(path: "/dev/" + chosen, sysfs: joined([sysfs, "/", chosen])) }
        // A driver older than the class.
        let old = "/dev/watchdog"
        return all.isEmpty && kernel.exists(old) ? WatchdogLocation(path: old, sysfs: nil) : nil
    }

    /// Why the board was reset, by all of its watchdogs together. None of them is opened.
    public static func bootStatus(kernel: any WatchdogKernel, sysfs: String = directory) -> WatchdogFlags {
        var status: WatchdogFlags = []
        for name in kernel.list(sysfs) {
            status.formUnion(WatchdogAttributes(joined([sysfs, "/", name]), kernel: kernel).bootStatus)
        }
        return status
    }

    /// Whether the identity, or a "DRIVER=" in what udev knows, begins with the driver's name.
    private static func isDriver(_ driver: String, _ identity: [UInt8], _ device: [UInt8]) -> Bool {
        if names(identity, driver) { return true }
        for start in device.indices where stands("DRIVER=", in: device, at: start) {
            if start == 0 || device[start - 1] == UInt8(ascii: "\n") { return names(device, driver, at: start + 7) }
        }
        return false
    }

    /// Whether the text begins with the name; modules and drivers write the same with - and _, and in either case.
    private static func names(_ text: [UInt8], _ name: String, at start: Int = 0) -> Bool {
        var next = start
        var isMatched = false
        for byte in name.utf8 where fold(byte) != 0 {
            while next < text.count, fold(text[next]) == 0 { next += 1 }
            guard next < text.count, fold(text[next]) == fold(byte) else { return false }
            next += 1
            isMatched = true
        }
        return isMatched
    }

    /// Small letters and digits; 0 for anything else.
    private static func fold(_ byte: UInt8) -> UInt8 {
        let small = byte | 0x20
        if small >= UInt8(ascii: "a"), small <= UInt8(ascii: "z") { return small }
        return byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? byte : 0
    }
}
