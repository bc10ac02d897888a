internal import CLinux
internal import SystemCalls

/// The lid's switch and the keys that put a board to sleep, wake it and switch it off: evdev (/dev/input/event*).
///
/// Of other keys the kernel tells it nothing (EVIOCSMASK): typing is neither read nor a wake-up.
public final class InputSwitches {
    /// KEY_POWER, KEY_SLEEP, KEY_WAKEUP.
    public enum Key: Equatable, Sendable { case power, sleep, wakeUp }

    /// What was done to a key.
    public struct KeyChange: Equatable, Sendable {
        public let key: Key
        public let pressed: Bool
    }

    private final class Device {
        let name: String
        let file: FileDescriptor
        let hasLid: Bool
        /// Events were lost (SYN_DROPPED): what comes until the next report is a part of something.
        var isTorn = false
        var lidClosed: Bool?

        init(_ name: String, _ file: consuming FileDescriptor, hasLid: Bool) {
            self.name = name
            self.file = file
            self.hasLid = hasLid
            _ = linux_input_hear_switches(self.file.rawValue)
            readLid()
        }

        func readLid() {
            guard hasLid else { return }
            let state = linux_input_lid(file.rawValue)
            if state >= 0 { lidClosed = state == 1 }
        }
    }

    private var devices: [Device] = []
    private let sysfs: String
    private let directory: String

    /// Each to be watched for reading; owned by this object.
    public var descriptors: [Int32] { devices.map { $0.file.rawValue } }
    /// The names of the devices that are listened to: "event3".
    public var names: [String] { devices.map { $0.name } }

    /// Whether the lid is closed; of several, any. nil: there is none, or it has not said yet.
    public var lidClosed: Bool? {
        var closed: Bool?
        for device in devices {
            if let state = device.lidClosed { closed = state || closed == true }
        }
        return closed
    }

    /// Finds the devices. devices: the folder of their nodes.
    public init(sysfs: String = "/sys", devices directory: String = "/dev/input") {
        self.sysfs = sysfs
        self.directory = directory
        _ = rescan()
    }

    /// After `DeviceChanges.inputs`: opens those that have come since. The descriptors that are new. Those that have
    /// gone end by `receive`.
    public func rescan() -> [Int32] {
        let all = AttributeDirectory(sysfs).directory("class/input")
        var found: [Int32] = []
        for name in (try? all.children(prefix: "event")) ?? [] where !devices.contains(where: { $0.name == name }) {
            let capabilities = all.directory(name).directory("device/capabilities")
            let hasLid = isSet(SW_LID, in: capabilities.text("sw"))
            let keys = capabilities.text("key")
            guard hasLid || isSet(KEY_POWER, in: keys) || isSet(KEY_SLEEP, in: keys) || isSet(KEY_WAKEUP, in: keys),
                let file = try? FileDescriptor.open(AttributeDirectory(directory).file(name), O_RDONLY | O_NONBLOCK)
            else { continue }
            found.append(file.rawValue)
            devices.append(Device(name, file, hasLid: hasLid))
        }
        return found
    }

    /// After a descriptor was readable, or hung up: what was done to the keys; `lidClosed` is up to date. nil: the
    /// device is gone. The caller stops watching the descriptor, then calls `remove`, and `rescan`: one of the same
    /// name may have come meanwhile.
    public func receive(_ descriptor: Int32) -> [KeyChange]? {
        guard let device = devices.first(where: { $0.file.rawValue == descriptor }) else { return nil }
        var changes: [KeyChange] = []
        var event = input_event()
        // Bounded: a key that bounces for ever keeps no other source waiting.
        for _ in 0..<256 {
            let count = read(descriptor, &event, MemoryLayout<input_event>.size)
            if count < 0 {
                let errno = Errno.current
                if errno == .interrupted { continue }
                return errno == .again ? changes : nil
            }
            guard count == MemoryLayout<input_event>.size else { return nil }
            if let change = take(event, from: device) { changes.append(change) }
        }
        return changes
    }

    /// Closes a device that is gone. Its lid is no longer known of.
    public func remove(_ descriptor: Int32) { devices = devices.filter { $0.file.rawValue != descriptor } }

    private func take(_ event: input_event, from device: Device) -> KeyChange? {
        let code = Int32(event.code)
        switch Int32(event.type) {
        case EV_SYN where code == SYN_DROPPED: device.isTorn = true
        case EV_SYN where code == SYN_REPORT && device.isTorn:
            device.isTorn = false
            device.readLid()
        case EV_SW where code == SW_LID && !device.isTorn: device.lidClosed = event.value != 0
        // 2 is a repetition.
        case EV_KEY where !device.isTorn && (event.value == 0 || event.value == 1):
            let key: Key
            switch code {
            case KEY_POWER: key = .power
            case KEY_SLEEP: key = .sleep
            case KEY_WAKEUP: key = .wakeUp
            default: return nil
            }
            return KeyChange(key: key, pressed: event.value == 1)
        default: break
        }
        return nil
    }

    /// Whether a bit is set in a bitmap as sysfs writes it: hexadecimal words of the size of a long, the lowest last.
    private func isSet(_ bit: Int32, in text: [UInt8]?) -> Bool {
        var word = Int(bit) / UInt.bitWidth
        var digit = Int(bit) % UInt.bitWidth / 4
        for character in (text ?? []).reversed() {
            if character == UInt8(ascii: " ") {
                if word == 0 { return false }
                word -= 1
            } else if word == 0 {
                if digit == 0 { return Self.value(ofDigit: character) >> UInt8(bit % 4) & 1 == 1 }
                digit -= 1
            }
        }
        return false
    }

    /// 0 of what is no digit.
    private static func value(ofDigit character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return character - UInt8(ascii: "a") + 10
        default: return 0
        }
    }
}
