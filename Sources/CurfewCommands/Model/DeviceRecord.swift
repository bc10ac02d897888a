internal import Varlink

/// `Device` of io.curfew.Control.
struct DeviceRecord: Equatable {
    let sleepState: String
    let sleepId: Int64
    let externalPower: Bool?
    /// 0 to 1.
    let batteryLevel: Double?
    let lowPowerMode: Bool
    let thermalState: String
    let memoryPressure: String
    let profile: String
    let inhibitDelayMax: Double?
    let hardwareWatchdog: String?

    init(_ json: JSON) {
        sleepState = json["sleepState"]?.stringValue ?? "unknown"
        sleepId = json["sleepId"]?.intValue ?? 0
        externalPower = json["externalPower"]?.boolValue
        batteryLevel = json["batteryLevel"]?.doubleValue
        lowPowerMode = json["lowPowerMode"]?.boolValue ?? false
        thermalState = json["thermalState"]?.stringValue ?? "nominal"
        memoryPressure = json["memoryPressure"]?.stringValue ?? "normal"
        profile = json["profile"]?.stringValue ?? "unknown"
        inhibitDelayMax = json["inhibitDelayMax"]?.doubleValue
        hardwareWatchdog = json["hardwareWatchdog"]?.stringValue
    }

    /// "external power, battery 82 %, low power mode"; nil where nothing is known.
    var power: String? {
        var parts: [String] = []
        if let externalPower { parts.append(externalPower ? "external power" : "on battery") }
        if let batteryLevel { parts.append("battery \(Int((batteryLevel * 100).rounded())) %") }
        if lowPowerMode { parts.append("low power mode") }
        if thermalState != "nominal" { parts.append("thermal state \(thermalState)") }
        if memoryPressure != "normal" { parts.append("memory pressure \(memoryPressure)") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
