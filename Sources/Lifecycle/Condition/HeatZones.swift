/// The places whose temperature is watched.
struct HeatZones: Equatable {
    /// More places than any board has.
    static let limit = 256
    /// How far a temperature has to fall below a limit to leave it, in thousandths of a degree.
    static let hysteresis = 3000

    private(set) var all: [HeatZone] = []

    /// A place that is not among them cannot be read now: nothing says that it has cooled down.
    mutating func hear(_ readings: [ThermalReading], at now: Nanoseconds) {
        all.removeAll { zone in readings.contains { $0.zone == zone.zone && $0.isUnwatched } }
        for reading in readings where !reading.isUnwatched && !all.contains(where: { $0.zone == reading.zone }) {
            guard all.count < Self.limit else { break }
            all.append(HeatZone(zone: reading.zone, temperature: LastKnown()))
        }
        for place in all.indices { all[place].hear(readings, at: now) }
    }

    /// What nothing has said for too long is unknown. Returns whether anything newly is.
    mutating func settle(at now: Nanoseconds) -> Bool {
        var isForgotten = false
        for place in all.indices {
            guard let due = all[place].temperature.due, due <= now else { continue }
            all[place].temperature.settle(at: now)
            isForgotten = true
        }
        return isForgotten
    }

    /// The hottest place counts; a limit that was passed is left only a little below it. before: as it was.
    func state(after before: ThermalState) -> ThermalState {
        var hottest = ThermalState.nominal
        for state in ThermalState.allCases where state != .nominal {
            let leave = state <= before ? Self.hysteresis : 0
            if all.contains(where: { $0.reaches(state, leave: leave) }) { hottest = state }
        }
        return hottest
    }

    /// A place was critically hot when it fell silent, and nothing has been heard of it for too long.
    var isLostWhileCritical: Bool { all.contains { $0.wasLostWhileCritical(leave: Self.hysteresis) } }

    mutating func archive(_ archive: inout StateArchive) {
        archive.list(1, &all, HeatZone(zone: 0, temperature: LastKnown())) { $1.archive(&$0) }
    }
}

/// One place whose temperature is watched, as it was read last.
struct HeatZone: Equatable {
    var zone: Int
    var temperature: LastKnown
    /// The last reading, whether it still counts or not, in m°C.
    var last = Int.min
    var fair: Int?
    var serious: Int?
    var critical: Int?

    /// Of several readings of one place the hottest counts.
    mutating func hear(_ readings: [ThermalReading], at now: Nanoseconds) {
        var hottest: ThermalReading?
        for reading in readings where reading.zone == zone {
            guard let temperature = reading.temperature else { continue }
            if let before = hottest?.temperature, before >= temperature { continue }
            hottest = reading
        }
        temperature.hear(hottest?.temperature, at: now)
        guard let hottest, let temperature = hottest.temperature else { return }
        last = temperature
        fair = hottest.fair
        serious = hottest.serious
        critical = hottest.critical
    }

    /// Whether it is as hot as `state`. leave: how far below a limit it still is.
    func reaches(_ state: ThermalState, leave: Int) -> Bool {
        guard let temperature = temperature.value, let limit = limit(state) else { return false }
        return temperature >= limit.saturatingSubtract(leave)
    }

    /// It was critically hot when it was last read, and has not been read for so long that this does not count any
    /// more.
    func wasLostWhileCritical(leave: Int) -> Bool {
        guard temperature.value == nil, let critical else { return false }
        return last >= critical.saturatingSubtract(leave)
    }

    private func limit(_ state: ThermalState) -> Int? {
        switch state {
        case .nominal: nil
        case .fair: fair
        case .serious: serious
        case .critical: critical
        }
    }

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &zone)
        archive.group(2) { temperature.archive(&$0) }
        archive.value(3, &last)
        archive.optional(4, &fair, 0) { $0.value(1, &$1) }
        archive.optional(5, &serious, 0) { $0.value(1, &$1) }
        archive.optional(6, &critical, 0) { $0.value(1, &$1) }
    }
}
