internal import Varlink

/// `Device` of io.curfew.Control. What an older daemon leaves out is as if nothing were the matter.
struct DeviceRecord: Equatable {
    var sleepState: String
    var sleepId: Int64
    var externalPower: Bool?
    /// 0 to 1.
    var batteryLevel: Double?
    var lowPowerMode: Bool
    var underVoltage: Bool
    var thermalState: String
    var memoryPressure: String
    /// Why no app can come to the front.
    var limit: String?
    /// The hardware profile's name; "none".
    var profile: String
    var inhibitDelayMax: Double?
    /// "/dev/watchdog0 (iTCO_wdt), 30 s"; "none: " and why; nil: none is wanted.
    var hardwareWatchdog: String?
    /// What is looked at now and then, as nothing announces it.
    var polled: [String]
    var bootCause: String?

    init(_ json: JSON) {
        sleepState = json["sleepState"]?.stringValue ?? "unknown"
        sleepId = json["sleepId"]?.intValue ?? 0
        externalPower = json["externalPower"]?.boolValue
        batteryLevel = json["batteryLevel"]?.doubleValue
        lowPowerMode = json["lowPowerMode"]?.boolValue ?? false
        underVoltage = json["underVoltage"]?.boolValue ?? false
        thermalState = json["thermalState"]?.stringValue ?? "nominal"
        memoryPressure = json["memoryPressure"]?.stringValue ?? "normal"
        limit = json["limit"]?.stringValue
        profile = json["profile"]?.stringValue ?? "unknown"
        inhibitDelayMax = json["inhibitDelayMax"]?.doubleValue
        hardwareWatchdog = json["hardwareWatchdog"]?.stringValue
        polled = json["polled"]?.arrayValue?.compactMap(\.stringValue) ?? []
        bootCause = json["bootCause"]?.stringValue
    }

    var battery: String? { batteryLevel.map { "battery \(Int(($0 * 100).rounded())) %" } }
    var supply: String? { externalPower.map { $0 ? "external power" : "on battery" } }
    var isHot: Bool { thermalState != "nominal" }
    var isShortOfMemory: Bool { memoryPressure != "normal" }

    var watchdog: String {
        guard let hardwareWatchdog else { return "no hardware watchdog" }
        return hardwareWatchdog.suffix(after: "none: ").map { "no hardware watchdog: \($0)" }
            ?? "hardware watchdog \(hardwareWatchdog)"
    }

    var profileText: String { profile == "none" ? "no hardware profile" : "hardware profile \(profile)" }

    var login: String {
        inhibitDelayMax.map { "logind waits \(Amounts.duration($0)) before a sleep" }
            ?? "no logind (curfew sleep works all the same)"
    }

    /// How the last boot ended, unless nothing is known of it, or nothing was wrong.
    var badBoot: String? {
        guard let bootCause, !bootCause.hasPrefix("no last words") else { return nil }
        // Whatever else is known of it follows.
        let isOrderly = bootCause.contains("in good order") && !bootCause.contains(";")
        return isOrderly ? nil : bootCause
    }
}
