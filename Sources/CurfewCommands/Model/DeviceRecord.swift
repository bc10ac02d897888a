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
    /// "/dev/watchdog0 (iTCO_wdt), 30 s"; or why there is none; nil: none is wanted.
    var hardwareWatchdog: String?
    /// Why there is none. An older daemon says it in `hardwareWatchdog` alone.
    var hardwareWatchdogProblem: String?
    /// What is looked at now and then, as nothing announces it.
    var polled: [String]
    /// How the last boot ended.
    var bootCause: String?
    /// Whether that is worth a word to people. An older daemon does not say, and its sentence is shown.
    var isBootNews: Bool
    /// Why apps are neither frozen nor limited in memory.
    var freezingProblem: String?

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
        hardwareWatchdogProblem = json["hardwareWatchdogProblem"]?.stringValue
        polled = json["polled"]?.arrayValue?.compactMap(\.stringValue) ?? []
        bootCause = json["bootCause"]?.stringValue
        isBootNews = json["bootWasOrderly"].map { $0.boolValue == false } ?? true
        freezingProblem = json["freezingProblem"]?.stringValue
    }

    var battery: String? { batteryLevel.map { "battery \(Int(($0 * 100).rounded())) %" } }
    var supply: String? { externalPower.map { $0 ? "external power" : "on battery" } }
    var isHot: Bool { thermalState != "nominal" }
    var isShortOfMemory: Bool { memoryPressure != "normal" }

    var watchdog: String {
        if let hardwareWatchdogProblem { return "no hardware watchdog: \(hardwareWatchdogProblem)" }
        return hardwareWatchdog.map { "hardware watchdog \($0)" } ?? "no hardware watchdog"
    }

    var profileText: String { profile == "none" ? "no hardware profile" : "hardware profile \(profile)" }

    var login: String {
        inhibitDelayMax.map { "logind waits \(Amounts.duration($0)) before a sleep" }
            ?? "no logind (curfew sleep works all the same)"
    }

    /// How the last boot ended, unless nothing is known of it, or nothing was wrong.
    var badBoot: String? { isBootNews ? bootCause : nil }
}
