internal import CLinux
public import SystemCalls

/// What can be asked of /dev/watchdogN by ioctl(2); linux/watchdog.h has them as WDIOC_*. All values are seconds, but
/// for the boot status.
public enum WatchdogRequest: UInt32, Sendable {
    case bootStatus, keepAlive, setTimeout, getTimeout, setPretimeout, getPretimeout, timeLeft
}

/// WDIOC_GETSUPPORT.
public struct WatchdogSupport: Equatable, Sendable {
    public var options: WatchdogFlags
    public var firmware: UInt32
    public var identity: String

    public init(options: WatchdogFlags = [], firmware: UInt32 = 0, identity: String = "") {
        self.options = options
        self.firmware = firmware
        self.identity = identity
    }
}

/// The system calls that a watchdog needs, so that tests can play the kernel. What fails answers an errno, nil is
/// success.
public protocol WatchdogKernel: AnyObject {
    /// open(2) for writing only, close-on-exec. The watchdog starts with that.
    func open(_ path: String, _ descriptor: inout Int32) -> Errno?
    func support(_ descriptor: Int32, _ answer: inout WatchdogSupport) -> Errno?
    /// value: what the driver gets, and what it answers.
    func control(_ descriptor: Int32, _ request: WatchdogRequest, _ value: inout Int32) -> Errno?
    /// One byte. Any feeds; "V" as the last one lets `close` stop the watchdog.
    func write(_ descriptor: Int32, _ byte: UInt8) -> Errno?
    func close(_ descriptor: Int32)
    /// A small file of sysfs or procfs; nil where it cannot be read.
    func read(_ path: String) -> [UInt8]?
    /// The names in a directory; none where it cannot be read.
    func list(_ path: String) -> [String]
    func exists(_ path: String) -> Bool
}

/// The kernel itself.
public final class LinuxWatchdogKernel: WatchdogKernel {
    public init() {}

    /// Never waits, whatever lies at the path.
    public func open(_ path: String, _ descriptor: inout Int32) -> Errno? {
        do throws(SystemError) {
            descriptor = try FileDescriptor.open(path, linux_watchdog_open_flags).take()
            return nil
        } catch {
            return error.errno
        }
    }

    /// WDIOC_GETSUPPORT.
    public func support(_ descriptor: Int32, _ answer: inout WatchdogSupport) -> Errno? {
        var options: UInt32 = 0
        var firmware: UInt32 = 0
        var identity = [CChar](repeating: 0, count: 33)
        let error = again { linux_watchdog_support(descriptor, &options, &firmware, &identity) }
        if error != nil { return error }
        let bytes = identity.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        answer = WatchdogSupport(
            options: WatchdogFlags(rawValue: options), firmware: firmware,
            identity: String(decoding: bytes, as: UTF8.self))
        return nil
    }

    /// ioctl(2), again after a signal.
    public func control(_ descriptor: Int32, _ request: WatchdogRequest, _ value: inout Int32) -> Errno? {
        again { linux_watchdog_control(descriptor, request.rawValue, &value) }
    }

    /// write(2), again after a signal.
    public func write(_ descriptor: Int32, _ byte: UInt8) -> Errno? {
        var byte = byte
        return again { CLinux.write(descriptor, &byte, 1) >= 0 ? 0 : -1 }
    }

    public func close(_ descriptor: Int32) { _ = CLinux.close(descriptor) }

    public func read(_ path: String) -> [UInt8]? { try? Files.read(path, limit: 4096) }

    public func list(_ path: String) -> [String] { (try? Files.listShared(path)) ?? [] }

    public func exists(_ path: String) -> Bool { Files.exists(path) }

    private func again(_ call: () -> Int32) -> Errno? {
        while call() != 0 {
            let error = Errno.current
            if error != .interrupted { return error }
        }
        return nil
    }
}
