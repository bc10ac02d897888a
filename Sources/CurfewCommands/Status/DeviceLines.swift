/// The device in four lines, and one more for each thing that is the matter.
struct DeviceLines {
    let device: DeviceRecord

    func lines(_ style: Style, width: Int?) -> [String] {
        var lines = Labelled()
        lines.add("Device", sleep, device.sleepState == "awake" ? .good : .caution)
        lines.add("Power", power, device.underVoltage ? .bad : device.lowPowerMode ? .caution : .plain)
        if device.isHot {
            lines.add("Heat", "thermal state \(device.thermalState)", device.thermalState == "fair" ? .plain : .bad)
        }
        if device.isShortOfMemory {
            lines.add(
                "Memory", "memory pressure: \(device.memoryPressure)",
                device.memoryPressure == "critical" ? .bad : .caution)
        }
        lines.add("Front", device.limit.map { "no app can come to the front: \($0)" }, .caution)
        lines.add("Board", board)
        lines.add("Limits", device.login)
        lines.add("Freezing", device.freezingProblem.map { "no app can be frozen: \($0)" }, .bad)
        lines.add("Last boot", device.badBoot, .caution)
        return lines.lines(style, width: width)
    }

    private var sleep: String {
        switch device.sleepState {
        case "awake": device.sleepId == 0 ? "awake" : "awake, after sleep \(device.sleepId)"
        case "preparing": "preparing sleep \(device.sleepId)"
        case "asleep": "asleep, sleep \(device.sleepId)"
        case "darkWake": "awake for background work only, in sleep \(device.sleepId)"
        default: device.sleepState
        }
    }

    /// "on battery, battery 82 %, low power mode".
    private var power: String {
        let parts = [
            device.supply, device.battery, device.lowPowerMode ? "low power mode" : nil,
            device.underVoltage ? "under-voltage: the supply or its cable is too weak" : nil,
        ].compactMap { $0 }
        return parts.isEmpty ? "not known" : parts.joined(separator: ", ")
    }

    private var board: String {
        let polled = device.polled.isEmpty ? nil : "polled: \(device.polled.joined(separator: ", "))"
        return [device.profileText, device.watchdog, polled].compactMap { $0 }.joined(separator: "; ")
    }
}
