internal import CLinux
internal import SystemCalls

/// The board's supplies in /sys/class/power_supply (Documentation/ABI/testing/sysfs-class-power).
public struct PowerSupplies {
    /// The line supplies and the batteries that count, by name; of an empty list all that are the board's own.
    public var external: [String]
    public var batteries: [String]
    private let sysfs: String
    private let names = LastNames()

    public init(external: [String] = [], batteries: [String] = [], sysfs: String = "/sys") {
        self.external = external
        self.batteries = batteries
        self.sysfs = sysfs
    }

    /// What they say now. What cannot be read or is nonsense is unknown.
    public func read() -> SupplyReading {
        let directory = AttributeDirectory(sysfs).directory("class/power_supply")
        return SupplyReading(supplies: names.now(in: directory).compactMap { supply($0, in: directory) })
    }

    private func supply(_ name: String, in directory: AttributeDirectory) -> PowerSupply? {
        let attributes = directory.directory(name)
        guard let type = attributes.text("type") else { return nil }
        let isBattery: Bool
        if external.contains(name) {
            isBattery = false
        } else if batteries.contains(name) {
            isBattery = true
        } else {
            isBattery = index(of: type, in: ["Battery", "UPS"]) != nil
            let isLine = index(of: type, in: ["Mains", "Wireless", "BrickID"]) != nil || type.starts(with: "USB")
            guard isBattery || isLine, (isBattery ? batteries : external).isEmpty,
                // A mouse's, say.
                attributes.text("scope").map({ index(of: $0, in: ["Device"]) == nil }) ?? true
            else { return nil }
        }
        if isBattery { return attributes.number("present") == 0 ? nil : battery(name, attributes) }
        // 2: programmable (USB power delivery).
        let online = attributes.number("online").flatMap { $0 >= 0 && $0 <= 2 ? $0 > 0 : nil }
        return PowerSupply(name: name, isBattery: false, online: online)
    }

    private func battery(_ name: String, _ attributes: AttributeDirectory) -> PowerSupply {
        var supply = PowerSupply(name: name, isBattery: true)
        if let status = attributes.text("status"), let index = index(of: status, in: PowerSupply.Status.words) {
            supply.status = PowerSupply.Status(rawValue: UInt8(index))
        }
        supply.fullEnergy = attributes.number("energy_full").flatMap { $0 > 0 ? $0 : nil }
        supply.fullCharge = attributes.number("charge_full").flatMap { $0 > 0 ? $0 : nil }
        if let capacity = attributes.number("capacity"), capacity >= 0, capacity <= 100 {
            supply.level = Int(capacity) * 10
        } else if let level = share(attributes.number("charge_now"), of: supply.fullCharge) {
            supply.level = level
        } else if let level = share(attributes.number("energy_now"), of: supply.fullEnergy) {
            supply.level = level
        } else if let word = attributes.text("capacity_level"),
            let index = index(of: word, in: ["Critical", "Low", "Normal", "High", "Full"])
        {
            supply.level = [20, 150, 500, 800, 1000][index]
        }
        return supply
    }

    /// Per mille. A worn battery may be a little over full.
    private func share(_ now: Int64?, of full: Int64?) -> Int? {
        guard let now, let full, now >= 0, now <= full + full / 10 else { return nil }
        return Int(min(now * 1000 / full, 1000))
    }
}

/// One supply of the board.
public struct PowerSupply: Equatable, Sendable {
    /// What a battery says it does.
    public enum Status: UInt8, Sendable {
        case charging, discharging, notCharging, full

        static let words: [StaticString] = ["Charging", "Discharging", "Not charging", "Full"]
    }

    /// The directory's name: "BAT0".
    public let name: String
    /// A battery or UPS; else a line supply: mains, USB, wireless.
    public let isBattery: Bool
    /// Of a line supply: whether it delivers. nil: it does not say.
    public var online: Bool?
    /// Of a battery. nil: unknown.
    public var status: Status?
    /// Of a battery, per mille. nil: unknown.
    public var level: Int?
    /// What a full battery holds now, in µWh or µAh; nil: unknown.
    var fullEnergy: Int64?
    var fullCharge: Int64?

    init(name: String, isBattery: Bool, online: Bool? = nil) {
        self.name = name
        self.isBattery = isBattery
        self.online = online
    }
}

/// What the board's supplies say together.
public struct SupplyReading: Equatable, Sendable {
    /// By name. Batteries that are not present are left out.
    public let supplies: [PowerSupply]

    /// Whether power comes from outside. A line supply that is online says so; where all that can be read are offline,
    /// it does not; without any, the batteries tell by what they do. nil: not known.
    public var externalPower: Bool? {
        var byLine: Bool?
        var byBattery: Bool?
        for supply in supplies {
            if let online = supply.online { byLine = online || byLine == true }
            // Of two batteries one may rest while the other is used up.
            if let status = supply.status { byBattery = status != .discharging && byBattery != false }
        }
        return byLine ?? byBattery
    }

    /// Per mille of all batteries whose level is known: by what they hold where all say that, else their mean. nil
    /// where there is none.
    public var batteryLevel: Int? {
        var sum = Shares()
        var byEnergy: Shares? = Shares()
        var byCharge: Shares? = Shares()
        for supply in supplies {
            guard let level = supply.level else { continue }
            sum.add(level, 1)
            if let energy = supply.fullEnergy { byEnergy?.add(level, energy) } else { byEnergy = nil }
            if let charge = supply.fullCharge { byCharge?.add(level, charge) } else { byCharge = nil }
        }
        return sum.whole == 0 ? nil : Int((byEnergy ?? byCharge ?? sum).mean)
    }

    /// Whether a look from time to time is needed: drivers announce plugs and changes of state, but few announce each
    /// step of a battery that is being used up or charged.
    public var needsPolling: Bool {
        supplies.contains { $0.isBattery && $0.status != .full && $0.status != .notCharging }
    }

    private struct Shares {
        var part: Int64 = 0
        var whole: Int64 = 0
        var mean: Int64 { part / whole }

        mutating func add(_ level: Int, _ weight: Int64) {
            part += Int64(level) * weight
            whole += weight
        }
    }
}
