/// Something of the device that is new.
struct DeviceChange: Equatable {
    let text: String
    var tone = Tone.accent
}

extension DeviceRecord {
    /// What is new since `old`; of the first state, nil, what it is and what is the matter.
    func changes(since old: DeviceRecord?) -> [DeviceChange] {
        var changes: [DeviceChange] = []
        func add(_ isNew: Bool, _ text: @autoclosure () -> String, _ tone: Tone = .accent) {
            if isNew { changes.append(DeviceChange(text: text(), tone: tone)) }
        }
        let before = old ?? well
        add(before.sleepState != sleepState, sleepChange)
        if before.externalPower != externalPower || before.battery != battery {
            let supplyChange = before.externalPower == externalPower ? nil : supply ?? "power supply not known"
            let batteryChange = before.battery == battery ? nil : battery ?? "no battery"
            add(true, [supplyChange, batteryChange].compactMap { $0 }.joined(separator: ", "))
        }
        add(before.lowPowerMode != lowPowerMode, lowPowerMode ? "low power mode" : "low power mode is over")
        add(
            before.underVoltage != underVoltage,
            underVoltage ? "under-voltage: the supply or its cable is too weak" : "the voltage is back",
            underVoltage ? .bad : .accent)
        add(
            before.thermalState != thermalState, "thermal state \(thermalState)",
            ["serious", "critical"].contains(thermalState) ? .bad : .accent)
        add(
            before.memoryPressure != memoryPressure, "memory pressure \(memoryPressure)",
            isShortOfMemory ? .bad : .accent)
        add(
            before.limit != limit,
            limit.map { "no app can come to the front: \($0)" } ?? "apps can come to the front again")
        add(before.profile != profile, profileText)
        add(before.inhibitDelayMax != inhibitDelayMax, inhibitDelayMax == nil ? "logind is gone" : login)
        add(before.hardwareWatchdog != hardwareWatchdog, watchdog, hardwareWatchdog == nil ? .caution : .accent)
        add(
            before.polled != polled,
            polled.isEmpty ? "nothing is polled any more" : "polled: \(polled.joined(separator: ", "))")
        if old == nil, let badBoot { add(true, "how the last boot ended: \(badBoot)", .caution) }
        return changes
    }

    /// This board, with nothing known of its power and nothing the matter.
    private var well: DeviceRecord {
        var well = self
        (well.sleepState, well.externalPower, well.batteryLevel) = ("", nil, nil)
        (well.lowPowerMode, well.underVoltage, well.limit) = (false, false, nil)
        (well.thermalState, well.memoryPressure) = ("nominal", "normal")
        return well
    }

    private var sleepChange: String {
        guard sleepState == "awake" else { return "sleep \(sleepId) \(sleepState)" }
        return sleepId == 0 ? "awake" : "awake, sleep \(sleepId) is over"
    }
}
