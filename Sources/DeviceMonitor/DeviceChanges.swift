/// Kinds of devices that have come, gone or changed: what is worth a new look into sysfs.
public struct DeviceChanges: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// power_supply: chargers and batteries.
    public static let power = DeviceChanges(rawValue: 1)
    /// thermal: zones and cooling devices.
    public static let thermal = DeviceChanges(rawValue: 2)
    /// hwmon: voltage alarms, for one.
    public static let hwmon = DeviceChanges(rawValue: 4)
    /// drm: a display was plugged in or out. Heard and not used so far.
    public static let display = DeviceChanges(rawValue: 8)
    /// input: devices with a lid switch or a power key may have come or gone.
    public static let inputs = DeviceChanges(rawValue: 16)
    /// rtc: a real-time clock.
    public static let clock = DeviceChanges(rawValue: 32)
    /// usb: a device was plugged in or out (not its interfaces).
    public static let accessory = DeviceChanges(rawValue: 64)
    /// watchdog: a driver was loaded, or its hardware came or went.
    public static let watchdog = DeviceChanges(rawValue: 128)

    /// What may have changed when events were lost.
    public static let all = DeviceChanges(rawValue: 255)
}
