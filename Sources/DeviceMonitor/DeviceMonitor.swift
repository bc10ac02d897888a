internal import CLinux
internal import CUdev
public import SystemCalls

/// Hears what happens to the board's devices: libudev's monitor (NETLINK_KOBJECT_UEVENT).
///
/// Only root may send: the kernel refuses others, and libudev takes multicasts only, with credentials of root (and in
/// the kernel's group those of the kernel alone). An event says *that* there is something new, sysfs says what; so one
/// look into sysfs answers any number of events.
public final class DeviceMonitor {
    /// Who announces.
    public enum Group: Equatable, Sendable {
        /// udevd, once its rules have run and the device's node is in place.
        case udev
        /// The kernel itself: for boards without udevd.
        case kernel
    }

    /// A subsystem that is listened to.
    package struct Subsystem: Sendable {
        let name: StaticString
        var deviceType: StaticString?
        let changes: DeviceChanges

        package init(name: StaticString, deviceType: StaticString? = nil, changes: DeviceChanges) {
            self.name = name
            self.deviceType = deviceType
            self.changes = changes
        }

        package static let all = [
            Subsystem(name: "power_supply", changes: .power), Subsystem(name: "hwmon", changes: .hwmon),
            Subsystem(name: "thermal", changes: .thermal), Subsystem(name: "drm", changes: .display),
            Subsystem(name: "input", changes: .inputs), Subsystem(name: "rtc", changes: .clock),
            Subsystem(name: "usb", deviceType: "usb_device", changes: .accessory),
            Subsystem(name: "watchdog", changes: .watchdog),
        ]
    }

    /// Events taken in one call, so that a storm keeps no other source waiting.
    static let batch = 64
    /// Of the socket, in bytes; some hundred events fit in.
    private static let buffer: Int32 = 1 << 20

    public let group: Group
    private let subsystems: [Subsystem]
    private let library: OpaquePointer
    private let monitor: OpaquePointer

    /// To be watched for reading; owned by this object.
    public var descriptor: Int32 { udev_monitor_get_fd(monitor) }

    /// group: nil takes udevd's where udevd runs now, else the kernel's. Throws where the kernel has no such sockets.
    public convenience init(group: Group? = nil) throws(SystemError) {
        let found: Group = Files.exists("/run/udev/control") ? .udev : .kernel
        try self.init(group ?? found, Subsystem.all)
    }

    /// subsystems: for tests, which cannot have the real ones.
    package init(_ group: Group, _ subsystems: [Subsystem]) throws(SystemError) {
        guard let library = udev_new() else { throw SystemError("udev_new") }
        guard let monitor = udev_monitor_new_from_netlink(library, group == .udev ? "udev" : "kernel") else {
            let error = SystemError("udev_monitor_new_from_netlink")
            udev_unref(library)
            throw error
        }
        self.group = group
        self.subsystems = subsystems
        self.library = library
        self.monitor = monitor
        for subsystem in subsystems {
            try check(
                udev_monitor_filter_add_match_subsystem_devtype(
                    monitor, subsystem.name.characters, subsystem.deviceType?.characters),
                "udev_monitor_filter_add_match_subsystem_devtype")
        }
        try check(udev_monitor_enable_receiving(monitor), "udev_monitor_enable_receiving")
        // Without CAP_NET_ADMIN it stays smaller; what is lost then is told by ENOBUFS.
        _ = udev_monitor_set_receive_buffer_size(monitor, Self.buffer)
    }

    deinit {
        udev_monitor_unref(monitor)
        udev_unref(library)
    }

    /// After `descriptor` was readable: what the events that wait are about. To be called again as long as it is
    /// readable: one call takes a bounded number. Events that are malformed, or not from root, say nothing.
    public func receive() -> DeviceChanges {
        var changes: DeviceChanges = []
        for _ in 0..<Self.batch {
            guard let device = udev_monitor_receive_device(monitor) else {
                // ENOBUFS: more came than the buffer holds, and what it was is lost.
                let errno = Errno.current
                if errno == .noBufferSpace { changes = .all }
                if errno == .noBufferSpace || errno == .interrupted { continue }
                break
            }
            if let name = udev_device_get_subsystem(device) {
                for subsystem in subsystems where strcmp(name, subsystem.name.characters) == 0 {
                    changes.formUnion(subsystem.changes)
                }
            }
            udev_device_unref(device)
        }
        return changes
    }

    /// libudev's functions give a negative errno.
    private func check(_ result: Int32, _ operation: StaticString) throws(SystemError) {
        if result < 0 { throw SystemError(operation.description, errno: Errno(rawValue: -result)) }
    }
}

extension Errno {
    fileprivate static let noBufferSpace = Errno(rawValue: ENOBUFS)
}
