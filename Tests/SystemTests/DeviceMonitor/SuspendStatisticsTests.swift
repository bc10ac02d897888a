import SystemCalls
import Testing

@testable import DeviceMonitor

@Suite struct SuspendStatisticsTests {
    private func tree(_ attributes: [String: String]) throws -> Tree {
        let tree = try Tree()
        try tree.add("power/suspend_stats", attributes)
        return tree
    }

    @Test func whatTheKernelCounts() throws {
        let tree = try tree(["success": "12\n", "fail": "3\n"])
        let before = try #require(SuspendStatistics(sysfs: tree.root))
        #expect(before.successes == 12)
        #expect(before.failures == 3)
        try tree.add("power/suspend_stats", ["fail": "4\n"])
        #expect(SuspendStatistics(sysfs: tree.root) != before)
    }

    @Test(arguments: [[:], ["success": "1\n"], ["success": "1\n", "fail": ""], ["success": "many\n", "fail": "0\n"]])
    func whatIsMissingOrNonsense(_ attributes: [String: String]) throws {
        let tree = try tree(attributes)
        #expect(SuspendStatistics(sysfs: tree.root) == nil)
    }

    @Test(arguments: [
        (["dev": "a\n", "errno": "-16\n", "step": "suspend\n"], "device a, step suspend: Device or resource busy"),
        (["dev": "\n", "errno": "-16\n", "step": "freeze\n"], "step freeze: Device or resource busy"),
        (["dev": "\n", "errno": "0\n", "step": "\n"], ""), (["errno": "-5\n"], "Input/output error"),
        (["dev": "mmc0:0001\n", "errno": "-999999\n"], "device mmc0:0001"), ([:], ""),
    ])
    func whatKeptItFromSleeping(_ last: [String: String], _ text: String) throws {
        let tree = try Tree()
        for (name, value) in last { try tree.add("power/suspend_stats", ["last_failed_" + name: value]) }
        #expect(SuspendStatistics.lastRefusal(sysfs: tree.root).text == text)
    }
}
