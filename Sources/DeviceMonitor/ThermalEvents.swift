internal import CLinux
public import SystemCalls

/// Hears the kernel when a zone's temperature crosses a trip point: the generic netlink family "thermal", group "event"
/// (Linux 5.9, CONFIG_THERMAL_NETLINK). uevents of zones exist only under the user_space governor.
public final class ThermalEvents {
    /// THERMAL_GENL_EVENT_TZ_CREATE to _TZ_TRIP_DELETE. Cooling devices, which come after them, change state far more
    /// often, and what they do is a consequence.
    private static let zoneEvents: UInt64 = 0x7fe

    private let socket: FileDescriptor
    private let commands: UInt64

    /// To be watched for reading; owned by this object.
    public var descriptor: Int32 { socket.rawValue }

    /// Throws `.noEntry` where the kernel does not announce.
    public convenience init() throws(SystemError) { try self.init("thermal", "event", Self.zoneEvents) }

    /// For tests, which cannot heat the board. commands: a bit for each that counts.
    package init(_ family: String, _ group: String, _ commands: UInt64) throws(SystemError) {
        let descriptor = linux_generic_netlink_open(family, group)
        guard descriptor >= 0 else { throw SystemError("listen to generic netlink", family) }
        socket = FileDescriptor(owning: descriptor)
        self.commands = commands
    }

    /// After `descriptor` was readable: `.thermal` where a zone is worth a look. What does not come from the kernel
    /// says nothing.
    public func receive() -> DeviceChanges {
        // Lost messages (ENOBUFS) may have been about anything.
        linux_generic_netlink_drain(socket.rawValue, commands) == 0 ? [] : .thermal
    }
}
