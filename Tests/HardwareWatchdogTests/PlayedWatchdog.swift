import CLinux
import HardwareWatchdog
import SystemCalls

/// A watchdog as the kernel's watchdog core plays it (drivers/watchdog/watchdog_dev.c), in a time of the test's own:
/// opening starts it, "V" lets the close stop it, and nowayout refuses.
final class PlayedWatchdog {
    var support = WatchdogSupport(
        options: [.setTimeout, .magicClose, .keepAlivePing], firmware: 3, identity: "Played Watchdog")
    var bootStatus: Int32 = 0
    var minimum = 1
    /// What the driver takes; `limitsInSysfs` tells whether it says so.
    var maximum = 60
    var limitsInSysfs = true
    var noWayOut = false
    /// The driver has no way to stop the hardware; the kernel finds out at the close.
    var stopFails = false
    var timeout: Int32 = 30
    var pretimeout: Int32 = 0
    /// Hardware that knows only some timeouts.
    var rounding: (Int32) -> Int32 = { $0 }
    /// What requests answer instead of doing anything.
    var faults: [WatchdogRequest: Errno] = [:]
    /// What requests answer after they were done.
    var lies: [WatchdogRequest: Int32] = [:]
    var supportFault: Errno?
    var openFault: Errno?
    var writeFault: Errno?
    var isPresent = true

    /// What the kernel believes.
    private(set) var isActive = false
    /// Whether the hardware counts.
    private(set) var counts = false
    private(set) var isOpen = false
    private(set) var hasReset = false
    /// Seconds.
    private var now = 0
    private var fedAt = 0
    private var mayStop = false
    /// In order: "open", "feed", "byte", "V", "set N", "pre N", "close".
    var log: [String] = []

    func pass(_ seconds: Int) {
        now += seconds
        if counts, now - fedAt >= Int(timeout) { hasReset = true }
    }

    /// S3 as QEMU's i6300esb knows it: the hardware forgets, the kernel does not.
    func forgetInSleep() { counts = false }

    var driverOptions: WatchdogFlags { support.options }

    func open() -> Errno? {
        if let openFault { return openFault }
        guard isPresent else { return .noEntry }
        guard !isOpen else { return .busy }
        log.append("open")
        isOpen = true
        if !isActive {
            isActive = true
            counts = true
            fedAt = now
        }
        return nil
    }

    func close() {
        guard isOpen else { return }
        log.append("close")
        isOpen = false
        let asked = mayStop || !support.options.contains(.magicClose)
        mayStop = false
        guard isPresent, isActive, asked, !noWayOut, !stopFails else { return fedAt = asked ? now : fedAt }
        isActive = false
        counts = false
    }

    func write(_ byte: UInt8) -> Errno? {
        guard isPresent else { return Errno(rawValue: ENODEV) }
        if let writeFault { return writeFault }
        let isMagic = byte == UInt8(ascii: "V")
        log.append(isMagic ? "V" : "byte")
        mayStop = isMagic && !noWayOut
        fedAt = now
        return nil
    }

    func control(_ request: WatchdogRequest, _ value: inout Int32) -> Errno? {
        guard isPresent else { return Errno(rawValue: ENODEV) }
        if let fault = faults[request] { return fault }
        switch request {
        case .bootStatus: value = bootStatus
        case .keepAlive:
            log.append("feed")
            fedAt = now
        case .setTimeout:
            guard value >= minimum, value <= maximum else { return .invalid }
            timeout = rounding(value)
            log.append("set \(timeout)")
            if pretimeout >= timeout { pretimeout = 0 }
            fedAt = now
            value = timeout
        case .getTimeout: value = timeout
        case .setPretimeout:
            guard value < timeout else { return .invalid }
            pretimeout = value
            log.append("pre \(value)")
        case .getPretimeout: value = pretimeout
        case .timeLeft: value = timeout - Int32(now - fedAt)
        }
        if let lie = lies[request] { value = lie }
        return nil
    }

    /// sysfs's files of it.
    func attribute(_ name: String) -> String? {
        guard isPresent else { return nil }
        switch name {
        case "identity": return support.identity
        case "nowayout": return noWayOut ? "1" : "0"
        case "state": return isActive ? "active" : "inactive"
        case "bootstatus": return "\(UInt32(bitPattern: bootStatus))"
        case "timeout": return "\(timeout)"
        case "min_timeout": return limitsInSysfs ? "\(minimum)" : "0"
        case "max_timeout": return limitsInSysfs ? "\(maximum)" : "0"
        default: return nil
        }
    }
}

/// A kernel with watchdogs, by number.
final class PlayedKernel: WatchdogKernel {
    var watchdogs: [Int: PlayedWatchdog] = [:]
    /// Files beside what the watchdogs have, and in place of it.
    var files: [String: String] = [:]
    var hasSysfs = true
    private var descriptors: [Int32: PlayedWatchdog] = [:]
    private var next: Int32 = 100

    init(_ watchdogs: PlayedWatchdog...) {
        for (number, watchdog) in watchdogs.enumerated() { self.watchdogs[number] = watchdog }
    }

    var openDescriptors: Int { descriptors.count }

    func open(_ path: String, _ descriptor: inout Int32) -> Errno? {
        guard let watchdog = watchdogs.first(where: { path == "/dev/watchdog\($0.key)" })?.value else {
            return .noEntry
        }
        if let errno = watchdog.open() { return errno }
        next += 1
        descriptor = next
        descriptors[next] = watchdog
        return nil
    }

    func support(_ descriptor: Int32, _ answer: inout WatchdogSupport) -> Errno? {
        guard let watchdog = descriptors[descriptor] else { return Errno(rawValue: EBADF) }
        if let fault = watchdog.supportFault { return fault }
        guard watchdog.isPresent else { return Errno(rawValue: ENODEV) }
        answer = watchdog.support
        return nil
    }

    func control(_ descriptor: Int32, _ request: WatchdogRequest, _ value: inout Int32) -> Errno? {
        guard let watchdog = descriptors[descriptor] else { return Errno(rawValue: EBADF) }
        return watchdog.control(request, &value)
    }

    func write(_ descriptor: Int32, _ byte: UInt8) -> Errno? {
        guard let watchdog = descriptors[descriptor] else { return Errno(rawValue: EBADF) }
        return watchdog.write(byte)
    }

    func close(_ descriptor: Int32) { descriptors.removeValue(forKey: descriptor)?.close() }

    func read(_ path: String) -> [UInt8]? {
        if let text = files[path] { return Array(text.utf8) }
        guard hasSysfs else { return nil }
        for (number, watchdog) in watchdogs {
            let directory = "/sys/class/watchdog/watchdog\(number)/"
            guard path.hasPrefix(directory) else { continue }
            return watchdog.attribute(String(path.dropFirst(directory.count))).map { Array(($0 + "\n").utf8) }
        }
        return nil
    }

    func list(_ path: String) -> [String] {
        guard hasSysfs, path == "/sys/class/watchdog" else { return [] }
        return watchdogs.filter { $0.value.isPresent }.map { "watchdog\($0.key)" }.sorted()
    }

    func exists(_ path: String) -> Bool { files[path] != nil }
}

extension PlayedKernel {
    func device(_ number: Int = 0) -> WatchdogDevice {
        let sysfs = hasSysfs ? "/sys/class/watchdog/watchdog\(number)" : nil
        return WatchdogDevice(WatchdogLocation(path: "/dev/watchdog\(number)", sysfs: sysfs), kernel: self)
    }
}
