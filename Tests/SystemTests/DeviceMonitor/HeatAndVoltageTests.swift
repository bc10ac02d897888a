import SystemCalls
import Testing

@testable import DeviceMonitor

@Suite struct ThermalZoneTests {
    private static let plain = ["type": "cpu-thermal\n", "mode": "enabled\n", "temp": "45123\n"]

    private func zone(_ attributes: [String: String]) throws -> (tree: Tree, zone: ThermalZone) {
        let tree = try Tree()
        try tree.add("class/thermal/thermal_zone0", Self.plain.merging(attributes) { $1 })
        return (tree, try #require(try ThermalZone.all(sysfs: tree.root).first))
    }

    @Test func noZones() throws {
        let tree = try Tree()
        #expect(try ThermalZone.all(sysfs: tree.root).isEmpty)
        try tree.add("class/thermal/cooling_device0", ["type": "Fan"])
        #expect(try ThermalZone.all(sysfs: tree.root).isEmpty)
    }

    @Test func zonesByName() throws {
        let tree = try Tree()
        for (number, type) in ["cpu", "gpu", "cpu"].enumerated() {
            try tree.add("class/thermal/thermal_zone\(number)", ["type": type, "temp": "1000"])
        }
        try tree.add("class/thermal/thermal_zone9", ["temp": "1000"])
        #expect(try ThermalZone.all(sysfs: tree.root).map(\.name) == ["cpu", "gpu", "cpu"])
        #expect(try ThermalZone.all(named: ["gpu"], sysfs: tree.root).map(\.identifier) == ["thermal_zone1"])
        #expect(try ThermalZone.all(named: ["thermal_zone2"], sysfs: tree.root).map(\.name) == ["cpu"])
    }

    @Test(arguments: [
        ("45123\n", 45123), ("-40000", -40000), ("0", 0), ("150000", 150_000), ("150001", nil), ("-55001", nil),
        ("-274000", nil), ("2147483647", nil), ("", nil), ("hot", nil), ("45.1", nil),
    ])
    func temperature(_ text: String, _ expected: Int32?) throws {
        let played = try zone(["temp": text])
        #expect(played.zone.temperature() == expected)
    }

    @Test func zoneThatIsOffOrGone_saysNothing() throws {
        let off = try zone(["mode": "disabled\n", "temp": "0"])
        #expect(off.zone.temperature() == nil)
        try off.tree.add("class/thermal/thermal_zone0", ["mode": "enabled\n", "temp": "30000"])
        #expect(off.zone.temperature() == 30_000)
        off.tree.remove("class/thermal/thermal_zone0")
        #expect(off.zone.temperature() == nil)
    }

    /// The kernel's own number, whichever zones are asked for and whichever have come and gone.
    @Test func numbersStay() throws {
        let tree = try Tree()
        for number in [0, 2, 10] {
            try tree.add("class/thermal/thermal_zone\(number)", ["type": "zone\(number)", "temp": "1000"])
        }
        try tree.add("class/thermal/thermal_zonex", ["type": "odd", "temp": "1000"])
        #expect(try Set(ThermalZone.all(sysfs: tree.root).map(\.number)) == [0, 2, 10])
        #expect(try ThermalZone.all(named: ["zone10"], sysfs: tree.root).map(\.number) == [10])
        tree.remove("class/thermal/thermal_zone0")
        #expect(try Set(ThermalZone.all(sysfs: tree.root).map(\.number)) == [2, 10])
    }

    @Test func tripPoints() throws {
        let (tree, zone) = try zone([
            "trip_point_0_type": "critical\n", "trip_point_0_temp": "95000\n", "trip_point_0_hyst": "2000\n",
            "trip_point_1_type": "passive", "trip_point_1_temp": "80000",
            // Not set by the firmware; of an unknown kind; of nonsense.
            "trip_point_2_type": "passive", "trip_point_2_temp": "-274000",
            "trip_point_3_type": "tepid", "trip_point_3_temp": "50000",
            "trip_point_4_type": "hot", "trip_point_4_temp": "x",
            "trip_point_5_type": "active", "trip_point_5_temp": "60000", "trip_point_5_hyst": "-3",
        ])
        #expect(
            zone.trips == [
                ThermalZone.Trip(kind: .critical, temperature: 95_000, hysteresis: 2000),
                ThermalZone.Trip(kind: .passive, temperature: 80_000, hysteresis: 0),
                ThermalZone.Trip(kind: .active, temperature: 60_000, hysteresis: 0),
            ])
        #expect(zone.pollingReason(limits: [80_000, 95_000], announced: true) == nil)
        #expect(zone.pollingReason(limits: [], announced: true) == nil)
        #expect(
            zone.pollingReason(limits: [80_000, 85_000], announced: true) == "a limit without a trip point"
        )
        #expect(
            zone.pollingReason(limits: [80_000], announced: false) == "the kernel does not announce heat")
        withExtendedLifetime(tree) {}
    }

    @Test func zoneWithoutTrips_isPolled() throws {
        #expect(try zone([:]).zone.pollingReason(limits: [], announced: true) == "no trip points")
    }
}

@Suite struct UnderVoltageTests {
    @Test(arguments: [("0\n", false), ("1\n", true), ("1", true), ("", nil), ("2", nil), ("10", nil), ("-1", nil)])
    func alarm(_ text: String, _ expected: Bool?) throws {
        let tree = try Tree()
        try tree.add("class/hwmon/hwmon0", ["name": "cpu_thermal"])
        try tree.add("class/hwmon/hwmon3", ["name": "rpi_volt\n", "in0_lcrit_alarm": text])
        let voltage = try UnderVoltage(chip: "rpi_volt", attribute: "in0_lcrit_alarm", sysfs: tree.root)
        #expect(voltage.isAnnounced)
        #expect(voltage.read() == expected)
        try tree.add("class/hwmon/hwmon3", ["in0_lcrit_alarm": "1\n"])
        #expect(voltage.read() == true)
    }

    @Test func noSuchChip() throws {
        let tree = try Tree()
        #expect(throws: SystemError("find the hwmon chip", "rpi_volt", errno: .noEntry)) {
            _ = try UnderVoltage(chip: "rpi_volt", attribute: "in0_lcrit_alarm", sysfs: tree.root)
        }
        try tree.add("class/hwmon/hwmon0", ["name": "rpi_volt2"])
        try tree.add("class/hwmon/hwmon1", ["name": "other", "in1_alarm": "0"])
        #expect(throws: SystemError.self) {
            _ = try UnderVoltage(chip: "rpi_volt", attribute: "in0_lcrit_alarm", sysfs: tree.root)
        }
        #expect(throws: SystemError.self) { _ = try UnderVoltage(chip: "other", attribute: "in0", sysfs: tree.root) }
        #expect(try !UnderVoltage(chip: "other", attribute: "in1_alarm", sysfs: tree.root).isAnnounced)
    }
}
