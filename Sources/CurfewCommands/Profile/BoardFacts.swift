internal import Configuration
internal import Varlink

/// What a board says of itself: what profiles are matched with, and what it has.
struct BoardFacts {
    struct Watchdog {
        let name: String
        let identity: String?
        let driver: String?
        /// In seconds.
        let timeout: Int?
        let maxTimeout: Int?
        let cannotBeStopped: Bool
    }

    struct Supply {
        let name: String
        let type: String
        /// A peripheral's own battery: a mouse's, say.
        let isOfDevice: Bool
    }

    struct Zone {
        let type: String
        /// "critical 90": names and degrees Celsius.
        let trips: [String]
    }

    struct Clock {
        let name: String
        let driver: String?
        let hasAlarm: Bool
    }

    let model: String?
    let identity: BoardIdentity
    let watchdogs: [Watchdog]
    let supplies: [Supply]
    let zones: [Zone]
    let clocks: [Clock]
    /// nil where the kernel has no /sys/power/state.
    let sleepStates: [String]?
    /// "rpi_volt in0_lcrit_alarm".
    let alarms: [(chip: String, attribute: String)]
    let hasLid: Bool

    init(_ tree: SystemTree) {
        identity = BoardIdentity.read(root: tree.root)
        model = tree.line("/sys/firmware/devicetree/base/model") ?? tree.line("/proc/device-tree/model")
        watchdogs = tree.names("/sys/class/watchdog").map { name in
            let path = "/sys/class/watchdog/\(name)/"
            return Watchdog(
                name: name, identity: tree.line(path + "identity"), driver: tree.linkName(path + "device/driver"),
                timeout: tree.number(path + "timeout"), maxTimeout: tree.number(path + "max_timeout"),
                cannotBeStopped: tree.line(path + "nowayout") == "1")
        }
        supplies = tree.names("/sys/class/power_supply").map { name in
            let path = "/sys/class/power_supply/\(name)/"
            return Supply(
                name: name, type: tree.line(path + "type") ?? "Unknown",
                isOfDevice: tree.line(path + "scope") == "Device")
        }
        zones = tree.names("/sys/class/thermal").filter { $0.hasPrefix("thermal_zone") }.compactMap { name in
            let path = "/sys/class/thermal/\(name)/"
            guard let type = tree.line(path + "type") else { return nil }
            let trips = (0..<16).compactMap { place -> String? in
                guard let degrees = tree.number(path + "trip_point_\(place)_temp"),
                    let kind = tree.line(path + "trip_point_\(place)_type")
                else { return nil }
                return "\(kind) \(degrees / 1000)"
            }
            return Zone(type: type, trips: trips)
        }
        clocks = tree.names("/sys/class/rtc").map { name in
            let path = "/sys/class/rtc/\(name)/"
            return Clock(name: name, driver: tree.line(path + "name"), hasAlarm: tree.exists(path + "wakealarm"))
        }
        sleepStates =
            tree.exists("/sys/power/state")
            ? (tree.line("/sys/power/state") ?? "").split(separator: " ").map(String.init) : nil
        alarms = tree.names("/sys/class/hwmon").flatMap { name in
            let path = "/sys/class/hwmon/\(name)/"
            let chip = tree.line(path + "name") ?? name
            return tree.names(path).filter { $0.hasPrefix("in") && $0.hasSuffix("crit_alarm") }.map { (chip, $0) }
        }
        // SW_LID is bit 0 of the switches.
        hasLid = tree.names("/sys/class/input").contains { name in
            guard let words = tree.line("/sys/class/input/\(name)/capabilities/sw")?.split(separator: " "),
                let last = words.last, let bits = UInt64(last, radix: 16)
            else { return false }
            return bits & 1 == 1
        }
    }

    /// "sys_vendor PC Engines": what DMI says, as far as profiles can ask for it.
    var dmi: [(key: String, text: String)] {
        Array(zip(BoardIdentity.dmiKeys, identity.dmi)).filter { !$0.1.isEmpty }.map { ($0.0, $0.1.printable) }
    }

    func lines(_ style: Style, width: Int?) -> [String] {
        var board = Labelled()
        board.add("model", model)
        board.add(
            "device tree", identity.compatible.isEmpty ? "none" : identity.compatible.joined(separator: ", "))
        board.add("DMI", dmi.isEmpty ? "none" : dmi.map { "\($0.key) “\($0.text)”" }.joined(separator: ", "))
        board.add("architecture", identity.architecture)
        var has = Labelled()
        func add(_ label: String, _ texts: [String]) {
            if texts.isEmpty { has.add(label, "none", .dim) }
            for (place, text) in texts.enumerated() { has.add(place == 0 ? label : "", text) }
        }
        add("watchdog", watchdogs.map(\.text))
        add("supply", supplies.map { "\($0.name) (\($0.type)\($0.isOfDevice ? ", of a peripheral" : ""))" })
        add(
            "thermal zone",
            zones.map { $0.type + ($0.trips.isEmpty ? "" : " (\($0.trips.joined(separator: ", ")) °C)") })
        add("clock", clocks.map { "\($0.name) (\($0.driver ?? "?"), \($0.hasAlarm ? "with" : "without") an alarm)" })
        add("sleep", sleepStates?.isEmpty == false ? [sleepStates?.joined(separator: " ") ?? ""] : [])
        add("voltage alarm", alarms.map { "\($0.chip) \($0.attribute)" })
        add("lid", hasLid ? ["one"] : [])
        return [style.paint("It says", .bold)] + board.lines(style, width: width)
            + [style.paint("It has", .bold)] + has.lines(style, width: width)
    }

    var json: JSON {
        func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
        var texts: JSONObject = [:]
        for (key, text) in dmi { texts[key] = .string(text) }
        func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
        return [
            "model": optional(model), "compatible": strings(identity.compatible),
            "dmi": .object(texts),
            "architecture": .string(identity.architecture),
            "watchdogs": .array(
                watchdogs.map {
                    [
                        "name": .string($0.name), "identity": optional($0.identity), "driver": optional($0.driver),
                        "timeout": JSON($0.timeout.map { Int64($0) }),
                        "maxTimeout": JSON($0.maxTimeout.map { Int64($0) }), "nowayout": .bool($0.cannotBeStopped),
                    ]
                }),
            "supplies": .array(supplies.map { ["name": .string($0.name), "type": .string($0.type)] }),
            "thermalZones": .array(zones.map { ["type": .string($0.type), "trips": strings($0.trips)] }),
            "clocks": .array(
                clocks.map {
                    ["name": .string($0.name), "driver": optional($0.driver), "alarm": .bool($0.hasAlarm)]
                }),
            "sleepStates": sleepStates.map { strings($0) } ?? .null,
            "voltageAlarms": .array(
                alarms.map { ["chip": .string($0.chip), "attribute": .string($0.attribute)] }),
            "lid": .bool(hasLid),
        ]
    }
}

extension BoardFacts.Watchdog {
    /// "watchdog0: Broadcom BCM2835 Watchdog timer (bcm2835-wdt), 15 s of at most 15 s".
    var text: String {
        var text = "\(name): \(identity ?? "without a name")"
        if let driver { text += " (\(driver))" }
        if let timeout { text += ", \(timeout) s" }
        if let maxTimeout, maxTimeout > 0 { text += " of at most \(maxTimeout) s" }
        return text + (cannotBeStopped ? ", cannot be stopped" : "")
    }
}
