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

    /// The hottest place counts; a limit that was passed is left only a little below it. present: as it was.
    func state(after present: ThermalState) -> ThermalState {
        var hottest = ThermalState.nominal
        for state in ThermalState.allCases where state != .nominal {
            let leave = state <= present ? Self.hysteresis : 0
            if all.contains(where: { $0.reaches(state, leave: leave) }) { hottest = state }
        }
        return hottest
    }

    /// A place was critically hot when it fell silent, and nothing has been heard of it for too long.
    var isLostWhileCritical: Bool { all.contains { $0.wasLostWhileCritical(leave: Self.hysteresis) } }

    mutating func archive(_ archive: inout StateArchive) {
        archive.list(&all, HeatZone(zone: 0, temperature: LastKnown())) { $1.archive(&$0) }
    }
}
