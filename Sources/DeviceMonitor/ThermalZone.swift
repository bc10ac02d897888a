internal import CLinux
public import SystemCalls

/// A place whose temperature the kernel knows: /sys/class/thermal/thermal_zoneN
/// (Documentation/driver-api/thermal/sysfs-api.rst).
public struct ThermalZone {
    /// A temperature at which the kernel does something.
    public struct Trip: Equatable, Sendable {
        /// What it does (`type`).
        public enum Kind: UInt8, Sendable {
            /// A fan.
            case active
            /// Slows the board down.
            case passive
            /// The driver is told.
            case hot
            /// The kernel powers the board off.
            case critical

            static let words: [StaticString] = ["active", "passive", "hot", "critical"]
        }

        public let kind: Kind
        /// m°C; reached from below.
        public let temperature: Int32
        /// m°C below `temperature` at which it is left again.
        public let hysteresis: Int32
    }

    /// What stands behind numbers that no board can have, or still work at.
    private static let plausible: ClosedRange<Int64> = -55_000...150_000

    /// The zone's type: "cpu-thermal".
    public let name: String
    /// The directory's name: "thermal_zone0".
    public let identifier: String
    /// The kernel's number of it, the same for as long as it is there.
    public let number: Int
    /// Those with a temperature that makes sense, as the kernel numbers them.
    public let trips: [Trip]
    private let attributes: AttributeDirectory

    /// All zones of the board, or those of these names (the type, or the directory's name). To be asked for again when
    /// zones come or go. Throws ETIMEDOUT where another user keeps the list from being read.
    public static func all(named names: [String] = [], sysfs: String = "/sys") throws(SystemError) -> [ThermalZone] {
        let directory = AttributeDirectory(sysfs).directory("class/thermal")
        return try directory.children(prefix: "thermal_zone").compactMap { identifier in
            let attributes = directory.directory(identifier)
            guard let type = attributes.text("type") else { return nil }
            let name = String(decoding: type, as: UTF8.self)
            guard names.isEmpty || names.contains(name) || names.contains(identifier) else { return nil }
            let digits = Array(identifier.utf8.dropFirst("thermal_zone".utf8.count))
            guard let number = AttributeDirectory.number(digits), number >= 0 else { return nil }
            return ThermalZone(name: name, identifier: identifier, number: Int(number), attributes)
        }
    }

    private init(name: String, identifier: String, number: Int, _ attributes: AttributeDirectory) {
        self.name = name
        self.identifier = identifier
        self.number = number
        self.attributes = attributes
        var trips: [Trip] = []
        // Numbered without gaps; the kernel has had at most 12, and allows any number since.
        for number in 0..<64 {
            let trip = "trip_point_\(number)_"
            guard let word = attributes.text(trip + "type") else { break }
            guard let kind = index(of: word, in: Trip.Kind.words).flatMap({ Trip.Kind(rawValue: UInt8($0)) }),
                let temperature = attributes.number(trip + "temp"), Self.plausible.contains(temperature)
            else { continue }
            let hysteresis = attributes.number(trip + "hyst").flatMap { Self.plausible.contains($0) ? $0 : nil } ?? 0
            trips.append(
                Trip(kind: kind, temperature: Int32(temperature), hysteresis: Int32(max(hysteresis, 0))))
        }
        self.trips = trips
    }

    /// The temperature now, in m°C. nil: the zone is disabled or gone, its sensor does not answer (EAGAIN, EINVAL,
    /// EIO), or what it says is nonsense.
    public func temperature() -> Int32? {
        if let mode = attributes.text("mode"), index(of: mode, in: ["disabled"]) != nil { return nil }
        guard let value = attributes.number("temp"), Self.plausible.contains(value) else { return nil }
        return Int32(value)
    }

    /// Why the kernel does not announce all of these limits (m°C), so that the zone must be read from time to time; nil
    /// where it does. announced: there are `ThermalEvents`. Of no limits: whether it announces anything.
    public func pollingReason(limits: [Int32], announced: Bool) -> String? {
        if !announced { return "the kernel does not announce heat" }
        if trips.isEmpty { return "no trip points" }
        for limit in limits where !trips.contains(where: { $0.temperature == limit }) {
            return "a limit without a trip point"
        }
        return nil
    }
}
