internal import Lifecycle

/// Something that is read again and again, as the specification has it: what was counts for 5 min after it ceased to be
/// said, and is unknown then.
struct LastSaid {
    private(set) var value: Int?
    private var silentSince: Nanoseconds?

    mutating func hear(_ reading: Int?, at now: Nanoseconds) {
        if let reading {
            value = reading
            silentSince = nil
        } else if value != nil {
            silentSince = silentSince ?? now
        }
    }

    mutating func forget(at now: Nanoseconds) {
        guard end <= now else { return }
        value = nil
        silentSince = nil
    }

    /// When it will be unknown.
    var end: Nanoseconds { silentSince.map { $0 + .seconds(300) } ?? .max }
}

/// One place on the board that may be hot.
struct WatchedZone {
    let zone: Int
    var said = LastSaid()
    var limits: [(state: ThermalState, limit: Int)] = []

    init(_ zone: Int) { self.zone = zone }

    mutating func hear(_ readings: [ThermalReading], at now: Nanoseconds) {
        let hottest = readings.filter { $0.zone == zone && $0.temperature != nil }
            .max { $0.temperature ?? .min < $1.temperature ?? .min }
        said.hear(hottest?.temperature, at: now)
        guard let hottest else { return }
        limits = []
        if let limit = hottest.fair { limits.append((.fair, limit)) }
        if let limit = hottest.serious { limits.append((.serious, limit)) }
        if let limit = hottest.critical { limits.append((.critical, limit)) }
    }

    /// hottest: what the board is by now; that is left 3 degrees below its limit.
    func state(_ hottest: ThermalState) -> ThermalState {
        guard let temperature = said.value else { return .nominal }
        var state = ThermalState.nominal
        for (reached, limit) in limits {
            let least = limit.subtractingReportingOverflow(reached <= hottest ? 3000 : 0)
            if temperature >= (least.overflow ? .min : least.partialValue) { state = max(state, reached) }
        }
        return state
    }
}
