/// WDIOF_* of linux/watchdog.h: what a driver can do, and what it says of the last boot.
public struct WatchdogFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let overheat = WatchdogFlags(rawValue: 0x0001)
    public static let fanFault = WatchdogFlags(rawValue: 0x0002)
    public static let external1 = WatchdogFlags(rawValue: 0x0004)
    public static let external2 = WatchdogFlags(rawValue: 0x0008)
    public static let powerUnder = WatchdogFlags(rawValue: 0x0010)
    /// The watchdog has reset the board.
    public static let cardReset = WatchdogFlags(rawValue: 0x0020)
    public static let powerOver = WatchdogFlags(rawValue: 0x0040)
    public static let setTimeout = WatchdogFlags(rawValue: 0x0080)
    /// Only a "V" before the close stops it; without this flag every close does.
    public static let magicClose = WatchdogFlags(rawValue: 0x0100)
    public static let pretimeout = WatchdogFlags(rawValue: 0x0200)
    /// It rings a bell somewhere and resets nothing.
    public static let alarmOnly = WatchdogFlags(rawValue: 0x0400)
    public static let keepAlivePing = WatchdogFlags(rawValue: 0x8000)

    /// Those that tell why the board was reset.
    static let causes = WatchdogFlags(rawValue: 0x007f)

    /// A boot status as a driver answers it: -1 is WDIOF_UNKNOWN.
    init(bootStatus: UInt32) { self.init(rawValue: bootStatus == .max ? 0 : bootStatus & Self.causes.rawValue) }

    private static let words: [StaticString] = [
        "overheated", "fan failed", "external relay 1", "external relay 2", "power bad", "watchdog reset",
        "power over voltage",
    ]

    /// "overheated, watchdog reset": the causes among them; empty where there is none.
    public var causeText: String {
        var text = ""
        for (bit, word) in Self.words.enumerated() where rawValue & 1 << UInt32(bit) != 0 {
            text += (text.isEmpty ? "" : ", ") + "\(word)"
        }
        return text
    }
}
