import CLinux
import SystemCalls
import Testing

@testable import DeviceMonitor

@Suite struct PowerSuppliesTests {
    private static let battery = ["type": "Battery\n", "present": "1\n", "capacity": "80\n", "status": "Discharging\n"]

    private func reading(_ supplies: [String: [String: String]]) throws -> SupplyReading {
        let tree = try Tree()
        for (name, attributes) in supplies { try tree.supply(name, attributes) }
        return PowerSupplies(sysfs: tree.root).read()
    }

    @Test func noSupplies() throws {
        let reading = try reading([:])
        #expect(reading == SupplyReading(supplies: []))
        #expect(reading.externalPower == nil && reading.batteryLevel == nil && !reading.needsPolling)
    }

    @Test func chargerAndBattery() throws {
        let reading = try reading(["AC": ["type": "Mains\n", "online": "1\n"], "BAT0": Self.battery])
        #expect(reading.supplies.map(\.name) == ["AC", "BAT0"])
        #expect(reading.externalPower == true)
        #expect(reading.batteryLevel == 800)
        #expect(reading.needsPolling)
    }

    @Test(arguments: [
        ("Mains", "0", false), ("Mains", "1", true), ("USB", "2", true), ("USB_PD", "1", true), ("Wireless", "1", true),
        ("BrickID", "0", false), ("Mains", "-1", nil), ("Mains", "3", nil), ("Mains", "", nil), ("Mains", "yes", nil),
        ("Unknown", "1", nil), ("", "1", nil),
    ])
    func lineSupply(_ type: String, _ online: String, _ expected: Bool?) throws {
        #expect(try reading(["X": ["type": type + "\n", "online": online + "\n"]]).externalPower == expected)
    }

    @Test func fullBatteryIsNotPolled() throws {
        let full = ["type": "Battery\n", "present": "1\n", "status": "Full\n", "capacity": "100\n"]
        let reading = try reading(["BAT0": full])
        #expect(reading.batteryLevel == 1000 && !reading.needsPolling)
    }

    @Test func anyLineSupplyThatDelivers() throws {
        let off = ["type": "Mains", "online": "0"]
        #expect(try reading(["A": off, "B": ["type": "USB", "online": "1"], "C": off]).externalPower == true)
        #expect(try reading(["A": off, "B": ["type": "USB", "online": "?"]]).externalPower == false)
    }

    @Test(arguments: [
        ("Charging", true), ("Full", true), ("Not charging", true), ("Discharging", false), ("Unknown", nil), ("", nil),
        ("Dis", nil),
    ])
    func batteryAlone_tellsOfExternalPower(_ status: String, _ expected: Bool?) throws {
        var battery = Self.battery
        battery["status"] = status
        #expect(try reading(["B": battery]).externalPower == expected)
        // A line supply that says nothing changes nothing.
        #expect(try reading(["A": ["type": "Mains", "online": "x"], "B": battery]).externalPower == expected)
    }

    @Test func uninterruptibleSupply_isABattery() throws {
        let reading = try reading(["ups": Self.battery.merging(["type": "UPS", "online": "1"]) { $1 }])
        #expect(reading.externalPower == false && reading.batteryLevel == 800)
    }

    @Test func ofTwoBatteriesOneRests() throws {
        var resting = Self.battery
        resting["status"] = "Not charging"
        #expect(try reading(["A": resting, "B": Self.battery]).externalPower == false)
    }

    @Test(arguments: [
        "-1", "101", "4294967295", "99999999999999999999", "", "\n", "full", "5%", "0x10", "1 2", "--1", "-", "\u{0}",
        "8\u{0}",
    ])
    func capacityThatIsNonsense_isUnknown(_ text: String) throws {
        let reading = try reading(["B": ["type": "Battery", "capacity": text]])
        #expect(reading.supplies.count == 1 && reading.batteryLevel == nil)
    }

    @Test func capacityAtItsEnds() throws {
        #expect(try reading(["B": ["type": "Battery", "capacity": "0\n"]]).batteryLevel == 0)
        #expect(try reading(["B": ["type": "Battery", "capacity": "100\n"]]).batteryLevel == 1000)
    }

    @Test(arguments: [
        (["charge_now": "1500000", "charge_full": "3000000"], 500),
        (["energy_now": "123", "energy_full": "1000"], 123),
        // Worn out, and a little over full; then over all measure.
        (["charge_now": "1050", "charge_full": "1000"], 1000), (["charge_now": "1200", "charge_full": "1000"], nil),
        (["charge_now": "10", "charge_full": "0"], nil), (["charge_now": "-5", "charge_full": "100"], nil),
        (["charge_now": "x", "charge_full": "100", "energy_now": "1", "energy_full": "4"], 250),
        (["charge_now": "999999999999", "charge_full": "999999999999"], 1000),
        (["capacity_level": "Critical"], 20), (["capacity_level": "Low"], 150), (["capacity_level": "Full"], 1000),
        (["capacity_level": "Unknown"], nil),
    ])
    func levelWithoutCapacity(_ attributes: [String: String], _ level: Int?) throws {
        let all = attributes.merging(["type": "Battery", "capacity": "-1"]) { $1 }
        #expect(try reading(["B": all]).batteryLevel == level)
    }

    @Test func severalBatteries() throws {
        func battery(_ capacity: String, _ more: [String: String] = [:]) -> [String: String] {
            ["type": "Battery", "capacity": capacity].merging(more) { $1 }
        }
        #expect(try reading(["A": battery("100"), "B": battery("0")]).batteryLevel == 500)
        let small = battery("100", ["energy_full": "1000"])
        let large = battery("0", ["energy_full": "3000"])
        #expect(try reading(["A": small, "B": large]).batteryLevel == 250)
        // One that does not say what it holds; one that does not say its level.
        #expect(try reading(["A": small, "B": battery("0")]).batteryLevel == 500)
        #expect(try reading(["A": small, "B": battery("-1", ["energy_full": "3000"])]).batteryLevel == 1000)
        let huge = battery("100", ["charge_full": "999999999999"])
        let many = Dictionary(uniqueKeysWithValues: (0..<64).map { ("B\($0)", huge) })
        #expect(try reading(many).batteryLevel == 1000)
    }

    @Test func batteryThatIsNotThere() throws {
        #expect(try reading(["B": Self.battery.merging(["present": "0"]) { $1 }]).supplies.isEmpty)
        #expect(try reading(["B": Self.battery.merging(["present": "?"]) { $1 }]).batteryLevel == 800)
    }

    @Test func batteryOfAnotherDevice_isNotTheBoards() throws {
        let mouse = Self.battery.merging(["scope": "Device\n", "capacity": "3"]) { $1 }
        #expect(try reading(["mouse": mouse]).supplies.isEmpty)
        #expect(try reading(["mouse": mouse, "B": Self.battery]).batteryLevel == 800)
        #expect(try reading(["B": Self.battery.merging(["scope": "System"]) { $1 }]).batteryLevel == 800)
    }

    @Test func suppliesByName() throws {
        let tree = try Tree()
        try tree.supply("usb", ["type": "USB", "online": "0"])
        try tree.supply("odd", ["type": "Unknown", "online": "1"])
        try tree.supply("B1", Self.battery.merging(["capacity": "10", "scope": "Device"]) { $1 })
        try tree.supply("B2", Self.battery)
        #expect(PowerSupplies(sysfs: tree.root).read().supplies.map(\.name) == ["B2", "usb"])
        let named = PowerSupplies(external: ["odd"], batteries: ["B1", "gone"], sysfs: tree.root).read()
        #expect(named.supplies.map(\.name) == ["B1", "odd"])
        #expect(named.externalPower == true && named.batteryLevel == 100)
    }

    @Test func attributesThatCannotBeRead_areUnknown() throws {
        // A directory in the file's place: open works, read fails (EISDIR), as with EIO of a bus.
        let tree = try Tree()
        try tree.supply("B", ["type": "Battery", "capacity/x": "", "status/x": "", "present/x": ""])
        try tree.supply("A", ["type": "Mains", "online/x": ""])
        try tree.supply("C", ["type/x": ""])
        let reading = PowerSupplies(sysfs: tree.root).read()
        #expect(reading.supplies.map(\.name) == ["A", "B"])
        #expect(reading.externalPower == nil && reading.batteryLevel == nil)
    }

    /// As where it is removed while it is read.
    @Test func whatIsGoneOnceItsTypeWasRead_isUnknown() throws {
        let tree = try Tree()
        try tree.supply("A", ["type": "Mains", "online": "1"])
        try tree.supply("B", ["type": "Battery"])
        let reading = PowerSupplies(sysfs: tree.root).read()
        #expect(reading.supplies.map(\.name) == ["A", "B"])
        #expect(reading.externalPower == true && reading.batteryLevel == nil)
    }

    /// It would be waited for: nothing of sysfs is one.
    @Test func aFIFOIsNoAttribute() throws {
        let tree = try Tree()
        try tree.supply("A", ["type": "Mains", "online": "1"])
        try tree.supply("B", ["capacity": "50"])
        try #require(mkfifo(tree.root + "/class/power_supply/B/type", 0o600) == 0)
        #expect(PowerSupplies(sysfs: tree.root).read().supplies.map(\.name) == ["A"])
    }
}
