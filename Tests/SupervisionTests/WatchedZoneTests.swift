import CLinux
import DeviceMonitor
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

/// What is told of a zone whose sensor answers now and then.
@Suite struct WatchedZoneTests {
    private func withZone(_ body: (ThermalZone, (String) throws -> Void) throws -> Void) throws {
        var template = Array("/tmp/curfew-zone-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let root = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let folder = root + "/class/thermal/thermal_zone4"
        try Files.createDirectories(folder)
        func set(_ name: String, _ text: String) throws {
            try Files.replace(folder + "/" + name, with: Array(text.utf8), durable: false)
        }
        defer {
            for name in (try? Files.list(folder)) ?? [] { try? Files.remove(folder + "/" + name) }
            for path in [folder, root + "/class/thermal", root + "/class", root] { rmdir(path) }
        }
        try set("type", "cpu")
        try set("trip_point_0_type", "passive")
        try set("trip_point_0_temp", "80000")
        try set("temp", "45000")
        try body(try #require(try ThermalZone.all(sysfs: root).first)) { try set("temp", $0) }
    }

    @Test func unreadable_isThereAndUnknown() throws {
        try withZone { zone, set in
            var watched = WatchedZone(zone, nil, announced: true)
            for text in ["", "hot", "-274000", "999999"] {
                try set("45000")
                #expect(watched.read()?.temperature == 45_000)
                try set(text)
                let read = watched.read()
                let reading = try #require(read)
                #expect(reading.zone == 4)
                #expect(reading.temperature == nil)
                #expect(reading.serious == 80_000)
                // Cool as it was, the kernel says when it is not any more.
                #expect(watched.pollingReason == nil)
            }
        }
    }

    @Test func hotAndUnreadable_isLookedAtStill() throws {
        try withZone { zone, set in
            var watched = WatchedZone(zone, nil, announced: true)
            try set("81000")
            _ = watched.read()
            try set("")
            _ = watched.read()
            #expect(watched.pollingReason == "hot")
            var found = WatchedZone(zone, nil, announced: true, wasHot: watched.isHot)
            _ = found.read()
            #expect(found.pollingReason == "hot")
            try set("60000")
            _ = found.read()
            #expect(found.pollingReason == nil)
        }
    }
}
