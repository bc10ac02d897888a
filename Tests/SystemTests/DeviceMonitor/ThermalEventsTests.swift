import SystemCalls
import Testing

@testable import DeviceMonitor

@Suite struct ThermalEventsTests {
    @Test func kernelThatDoesNotAnnounce_isAnError() throws {
        let error = try #require(throws: SystemError.self) { try ThermalEvents("curfew-none", "event", .max) }
        #expect(error == SystemError("listen to generic netlink", "curfew-none", errno: .noEntry))
    }
}
