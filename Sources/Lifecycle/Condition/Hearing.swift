// What the core hears of the board's conditions: a reading changes what is wanted, and settleConditions follows.

extension DeviceLifecycle {
    /// More places than any board has.
    static let zoneLimit = 256

    /// So long after a wake a key does not ask for the next sleep.
    static let keyHoldoff = Nanoseconds.seconds(2)

    mutating func hearSession(_ reading: SessionReading) { conditions.session = reading }

    mutating func hearLid(closed: Bool) {
        let isOpened = conditions.isLidClosed && !closed
        conditions.isLidClosed = closed
        if isOpened { sawWakeSource(.lid) }
    }

    mutating func hearPower(_ reading: PowerReading) {
        let wasExternal = conditions.external.value.map { $0 == 1 } ?? conditions.lastExternal
        let isBack = wasExternal == false && reading.isExternal == true
        let level = reading.level.flatMap { (0...100).contains($0) ? $0 : nil }
        conditions.external.hear(reading.isExternal.map { $0 ? 1 : 0 }, at: now.monotonic)
        conditions.charge.hear(level, at: now.monotonic)
        if isBack { sawWakeSource(.externalPower) }
    }

    /// A place that is not among them cannot be read now: nothing says that it has cooled down.
    mutating func hearTemperatures(_ readings: [ThermalReading]) {
        conditions.zones.removeAll { zone in readings.contains { $0.zone == zone.zone && $0.isUnwatched } }
        for reading in readings
        where !reading.isUnwatched && !conditions.zones.contains(where: { $0.zone == reading.zone }) {
            guard conditions.zones.count < Self.zoneLimit else { break }
            conditions.zones.append(HeatZone(zone: reading.zone, temperature: LastKnown()))
        }
        for index in conditions.zones.indices {
            let zone = conditions.zones[index].zone
            // Of several readings of one place the hottest counts.
            var hottest: ThermalReading?
            for reading in readings where reading.zone == zone {
                guard let temperature = reading.temperature else { continue }
                if let before = hottest?.temperature, before >= temperature { continue }
                hottest = reading
            }
            conditions.zones[index].temperature.hear(hottest?.temperature, at: now.monotonic)
            guard let hottest, let temperature = hottest.temperature else { continue }
            conditions.zones[index].last = temperature
            conditions.zones[index].fair = hottest.fair
            conditions.zones[index].serious = hottest.serious
            conditions.zones[index].critical = hottest.critical
        }
        findHeat()
    }

    /// The hottest place counts; a limit that was passed is left only a little below it.
    private mutating func findHeat() {
        let present = ThermalState(rawValue: UInt8(clamping: conditions.heat.wanted)) ?? .nominal
        var hottest = ThermalState.nominal
        for state in ThermalState.allCases where state != .nominal {
            let leave = state <= present ? Self.thermalHysteresis : 0
            if conditions.zones.contains(where: { $0.reaches(state, leave: leave) }) { hottest = state }
        }
        conditions.heat.wanted = Int(hottest.rawValue)
    }

    /// What nothing has said for too long is unknown.
    mutating func forgetSilence() {
        conditions.external.settle(at: now.monotonic)
        conditions.charge.settle(at: now.monotonic)
        var isForgotten = false
        for index in conditions.zones.indices {
            guard let due = conditions.zones[index].temperature.due, due <= now.monotonic else { continue }
            conditions.zones[index].temperature.settle(at: now.monotonic)
            isForgotten = true
        }
        if isForgotten { findHeat() }
    }

    mutating func hearNetwork(up: Bool) {
        let isBack = !conditions.isNetworkUp && up
        conditions.isNetworkUp = up
        if isBack { sawWakeSource(.network) }
    }

    /// A key of the board itself: power, sleep or wake-up.
    mutating func hearPowerKey() {
        if sleep.state != .awake { return sawWakeSource(.key) }
        // It is the one that woke the board.
        if let end = sleep.formerEnd, now.boottime - end <= Self.keyHoldoff { return }
        switch policy.responses[.powerKey] {
        case .sleep: goToSleep()
        case .nothing, .inactive, .background, .pause, .lowPower, .kill, .powerOff: break
        }
    }

    mutating func hearPolling(_ interval: Nanoseconds?) {
        guard interval != conditions.pollInterval else { return }
        conditions.pollInterval = interval
        conditions.pollDue = interval.map { now.monotonic + $0 }
    }

    mutating func setLowPower(_ enabled: Bool?, _ request: RequestID) {
        conditions.userLowPower = enabled
        reply(request, .setLowPower)
    }

    /// A person or a device for which a board that sleeps logically, or in the dark, comes back. A person who comes
    /// while the board is on its way to sleep, or asleep, finds everything running at the next wake, whatever wakes
    /// it.
    private mutating func sawWakeSource(_ source: WakeSource) {
        let isPerson = source == .key || source == .lid
        switch sleep.state {
        case .awake: break
        case .preparing: if isPerson { sleep.isAttended = true }
        case .darkWake: if isPerson { wakeFully() }
        case .asleep:
            if isPerson { sleep.isAttended = true }
            guard sleep.isLogical, policy.wakeSources.contains(source) else { return }
            endSleep(cancelled: false, heardFromLogin: false)
        }
    }
}
