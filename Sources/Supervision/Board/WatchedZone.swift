internal import Configuration
internal import DeviceMonitor
internal import Lifecycle
internal import SystemCalls

/// A thermal zone with the limits that count here, in thousandths of a degree.
struct WatchedZone {
    let zone: ThermalZone
    var fair: Int?
    var serious: Int?
    var critical: Int?
    /// Why the kernel does not announce the first limit that counts; nil where it does.
    private var silence: String?
    /// When it was last read; one that cannot be read is as hot as it was.
    private(set) var isHot: Bool

    /// The profile's limits; else from the kernel's own trip points: where it slows the board down that is serious, and
    /// a little before it switches the board off that is critical.
    init(_ zone: ThermalZone, _ profile: HardwareProfile.ThermalZone?, announced: Bool, wasHot: Bool = false) {
        self.zone = zone
        isHot = wasHot
        setLimits(profile)
        if let limit { silence = zone.pollingReason(limits: [Int32(clamping: limit)], announced: announced) }
    }

    /// From here on something is asked of apps.
    private var limit: Int? { serious ?? critical ?? fair }

    private mutating func setLimits(_ profile: HardwareProfile.ThermalZone?) {
        if let profile, profile.fair != nil || profile.serious != nil || profile.critical != nil {
            fair = profile.fair.map { $0 * 1000 }
            serious = profile.serious.map { $0 * 1000 }
            critical = profile.critical.map { $0 * 1000 }
            return
        }
        for trip in zone.trips {
            let limit = Int(trip.temperature)
            switch trip.kind {
            case .active: break
            case .passive: serious = min(serious ?? limit, limit)
            case .hot: critical = min(critical ?? limit, limit)
            case .critical: critical = min(critical ?? limit, limit - 5000)
            }
        }
        if serious == nil, let critical { serious = critical - 10_000 }
        fair = serious.map { $0 - 10_000 }
    }

    var hasLimits: Bool { limit != nil }

    /// nil: it has no limits.
    mutating func read() -> ThermalReading? {
        guard let limit else { return nil }
        let temperature = zone.temperature().map { Int($0) }
        if let temperature { isHot = temperature >= limit - 3000 }
        return ThermalReading(
            zone: zone.number, temperature: temperature, fair: fair, serious: serious, critical: critical)
    }

    /// Why it has to be looked at now and then: nothing announces it, or it is hot and only looking tells what comes
    /// next.
    var pollingReason: String? { silence ?? (isHot ? "hot" : nil) }
}
