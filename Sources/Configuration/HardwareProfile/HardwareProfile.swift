public import Lifecycle

/// One kind of board, as its file in `hardware-profiles` describes it. What the file leaves out is nil, or empty, or
/// has the default that is written here.
public struct HardwareProfile: Equatable, Sendable {
    /// The board's watchdog.
    public struct Watchdog: Equatable, Sendable {
        /// What becomes of its timer while the board sleeps.
        public enum InSleep: UInt8, Equatable, Sendable {
            case unknown
            /// It stands still, and may have to be armed again.
            case stops
            /// It runs on: a sleep that outlasts the timeout ends in a reset.
            case counts
        }

        /// The kernel's driver, as the link /sys/class/watchdog/watchdogN/device/driver names it: "bcm2835-wdt".
        public var driver: String?
        /// As /sys/class/watchdog/watchdogN/identity has it.
        public var identity: String?
        /// What is asked for; nil: the driver's own.
        public var timeout: Nanoseconds?
        /// What the driver takes at most.
        public var maxTimeout: Nanoseconds?
        public var inSleep = InSleep.unknown
        /// Whether it can be switched off again; nil where that is not known.
        public var isStoppable: Bool?

        public init() {}
    }

    /// Words of /sys/power/state.
    public struct SleepStates: OptionSet, Equatable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let mem = SleepStates(rawValue: 1)
        public static let freeze = SleepStates(rawValue: 2)
        public static let standby = SleepStates(rawValue: 4)

        /// In the order of the bits.
        public static let words = ["mem", "freeze", "standby"]
    }

    /// How the board sleeps.
    public struct Sleep: Equatable, Sendable {
        /// nil where that is not known.
        public var states: SleepStates?
        /// The board cannot sleep: apps walk through the same transitions, the kernel stays awake.
        public var isLogical = false
        public var wakeSources: WakeSources = []

        public init() {}
    }

    /// An alarm of a sensor: /sys/class/hwmon/hwmonN/ATTRIBUTE of the one whose `name` is CHIP.
    public struct Alarm: Equatable, Sendable {
        public var chip: String
        public var attribute: String

        public init(chip: String, attribute: String) {
            self.chip = chip
            self.attribute = attribute
        }
    }

    /// Where the board's power comes from.
    public struct Power: Equatable, Sendable {
        /// Names below /sys/class/power_supply; empty: whatever is there.
        public var external: [String] = []
        /// The same, of batteries.
        public var batteries: [String] = []
        /// In percent; at and below it the battery is low.
        public var batteryLow = DevicePolicy().batteryLow
        public var batteryCritical = DevicePolicy().batteryCritical
        public var underVoltage: Alarm?

        public init() {}
    }

    /// From when on a zone is warm, in degrees Celsius; nil: the zone's own trip points.
    public struct ThermalZone: Equatable, Sendable {
        /// As /sys/class/thermal/thermal_zoneN/type has it.
        public var type: String
        public var fair: Int?
        public var serious: Int?
        public var critical: Int?

        public init(type: String, fair: Int? = nil, serious: Int? = nil, critical: Int? = nil) {
            self.type = type
            self.fair = fair
            self.serious = serious
            self.critical = critical
        }
    }

    /// From when on memory is short.
    public struct Memory: Equatable, Sendable {
        /// Percent of a second in which some task waits for memory (PSI), and in which nothing gets done for it.
        public var pressureWarning = 10
        public var pressureCritical = 20
        /// In bytes: how much is to be available (MemAvailable) when apps have been ended for it; nil: an eighth.
        public var reserve: Int64?

        public init() {}
    }

    /// What background work may take.
    public struct Background: Equatable, Sendable {
        /// No app is updated more often.
        public var fetchIntervalMin = Nanoseconds.seconds(900)
        /// For apps whose file does not say (`AppKeys` has the app's own key of this name). Read and checked only.
        public var taskBudget: Nanoseconds?

        public init() {}
    }

    /// Its file's name, without ".toml".
    public var name: String
    /// Of its file's text: it changed where this did. 0: it is of no file.
    public internal(set) var mark: UInt64 = 0
    /// The board, for people.
    public var description = ""
    public var match = BoardMatch()
    public var watchdog = Watchdog()
    public var sleep = Sleep()
    public var power = Power()
    public var thermal: [ThermalZone] = []
    public var memory = Memory()
    public var background = Background()
    /// Only what the file says, in the order of `Condition`.
    public var conditions: [DeviceConfiguration.ConditionPolicy] = []

    /// A board of which nothing is known.
    public init(name: String = "") { self.name = name }
}
