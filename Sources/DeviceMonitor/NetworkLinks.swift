internal import CLinux
public import SystemCalls

/// Whether any network is connected: the kernel says when a link changes (rtnetlink(7)), /sys/class/net says to what.
public final class NetworkLinks {
    private let socket: FileDescriptor
    private let sysfs: String
    private let names = LastNames()

    /// To be watched for reading; owned by this object.
    public var descriptor: Int32 { socket.rawValue }

    public init(sysfs: String = "/sys") throws(SystemError) {
        let descriptor = linux_link_events_open()
        guard descriptor >= 0 else { throw SystemError("listen to network links") }
        socket = FileDescriptor(owning: descriptor)
        self.sysfs = sysfs
    }

    /// After `descriptor` was readable: whether `isUp` is worth a look. What is not from the kernel says nothing.
    public func receive() -> Bool { linux_link_events_drain(socket.rawValue) }

    /// Whether an interface other than the loopback is operational (operstate, RFC 2863).
    public var isUp: Bool {
        let directory = AttributeDirectory(sysfs + "/class/net")
        for name in names.now(in: directory) {
            let attributes = AttributeDirectory(directory.path + "/" + name)
            // ARPHRD_LOOPBACK
            if attributes.number("type") != 772, attributes.text("operstate")?.elementsEqual("up".utf8) == true {
                return true
            }
        }
        return false
    }
}
