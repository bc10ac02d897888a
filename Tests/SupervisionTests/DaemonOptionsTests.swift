import Testing

@testable import Supervision

@Suite struct DaemonOptionsTests {
    @Test func valuesFollowOrAreAttached() {
        var expected = DaemonOptions()
        expected.root = "/tmp/x"
        expected.cgroup = "mine"
        #expect(DaemonOptions.parse(["--root", "/tmp/x", "--cgroup=mine"]) == .run(expected))
        expected.checksOnly = true
        #expect(DaemonOptions.parse(["--check", "--root=/tmp/x", "--cgroup", "mine"]) == .run(expected))
    }

    @Test(arguments: [["--root"], ["--root="], ["--check=yes"], ["--rot", "/"], ["now"], [""]])
    func whatIsNotUnderstoodIsRefused(_ arguments: [String]) {
        guard case .wrong = DaemonOptions.parse(arguments) else {
            Issue.record("taken: \(arguments)")
            return
        }
    }
}
