/// A quantity of the board that may cease to be known. Its last value counts for `patience`; then it is unknown,
/// which is neither good news nor bad.
struct LastKnown: Equatable {
    static let patience = Nanoseconds.seconds(300)

    /// nil: unknown.
    private(set) var value: Int?
    /// MONOTONIC: when it ceased to be said; nil: it is being said, or has been given up.
    private var silentSince: Nanoseconds?

    /// Takes a reading over; nil: it does not say.
    mutating func hear(_ reading: Int?, at now: Nanoseconds) {
        if let reading {
            value = reading
            silentSince = nil
        } else if value != nil, silentSince == nil {
            silentSince = now
        }
    }

    /// Gives up what has been silent for too long.
    mutating func settle(at now: Nanoseconds) {
        guard let due, due <= now else { return }
        value = nil
        silentSince = nil
    }

    /// When it will be given up.
    var due: Nanoseconds? { silentSince.map { $0 + Self.patience } }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(&value, 0) { $0.value(&$1) }
        archive.optional(&silentSince, .zero) { $0.value(&$1) }
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
        archive.value(&zone)
        temperature.archive(&archive)
        archive.value(&last)
        archive.optional(&fair, 0) { $0.value(&$1) }
        archive.optional(&serious, 0) { $0.value(&$1) }
        archive.optional(&critical, 0) { $0.value(&$1) }
    }
}

extension FixedWidthInteger {
    /// What comes from outside may be any number.
    func saturatingSubtract(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
