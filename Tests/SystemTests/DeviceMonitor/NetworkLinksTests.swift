import CLinux
import SystemCalls
import Testing

@testable import DeviceMonitor

@Suite struct NetworkLinksTests {
    @Test func operationalInterfaceIsUp_andTheLoopbackIsNot() throws {
        let tree = try Tree()
        try tree.add("class/net/lo", ["type": "772\n"])
        try tree.add("class/net/lo", ["operstate": "up\n"])
        try tree.add("class/net/eth0", ["type": "1\n"])
        try tree.add("class/net/eth0", ["operstate": "down\n"])
        let links = try NetworkLinks(sysfs: tree.root)
        #expect(!links.isUp)
        try tree.add("class/net/eth0", ["operstate": "up\n"])
        #expect(links.isUp)
    }

    @Test func nothingIsHeard_whenNothingWaits() throws {
        let links = try NetworkLinks()
        #expect(links.descriptor >= 0)
        _ = links.receive()
        #expect(!links.receive())
    }
}
