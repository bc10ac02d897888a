internal import CLinux
public import SystemCalls

/// An alarm of a hardware monitoring chip: too little voltage
/// (Documentation/hwmon/sysfs-interface.rst; raspberrypi-hwmon: chip "rpi_volt", attribute "in0_lcrit_alarm").
public final class UnderVoltage {
    /// Whether the driver announces a change: by POLLPRI on `descriptor`, newer kernels (hwmon_notify_event) by a
    /// uevent of hwmon too. If not, it must be read from time to time.
    public let isAnnounced: Bool
    private let file: FileDescriptor

    /// To be watched for EPOLLPRI where `isAnnounced`; owned by this object.
    public var descriptor: Int32 { file.rawValue }

    /// Throws `.noEntry` where there is no such chip (now).
    public init(chip: String, attribute: String, sysfs: String = "/sys") throws(SystemError) {
        let directory = AttributeDirectory(sysfs).directory("class/hwmon")
        let name = [UInt8](chip.utf8)
        for child in try directory.children() where directory.directory(child).text("name") == name {
            file = try FileDescriptor.open(directory.directory(child).file(attribute), O_RDONLY)
            // The one driver known to: since it exists (4.20), looking itself every two seconds.
            isAnnounced = chip == "rpi_volt"
            return
        }
        throw SystemError("find the hwmon chip", chip, errno: .noEntry)
    }

    /// Whether there is too little voltage now; arms the watch for the next change. nil: the chip does not say, or is
    /// gone: after the next hwmon event it may be found anew.
    public func read() -> Bool? {
        guard let bytes = try? Files.readShared(file, limit: 16), !bytes.isEmpty else {
            return nil
        }
        switch bytes[0] {
        case UInt8(ascii: "0") where bytes.count == 1 || bytes[1] == UInt8(ascii: "\n"): return false
        case UInt8(ascii: "1") where bytes.count == 1 || bytes[1] == UInt8(ascii: "\n"): return true
        default: return nil
        }
    }
}
