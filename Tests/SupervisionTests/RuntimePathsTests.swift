import Testing

@testable import Supervision

@Suite struct RuntimePathsTests {
    @Test func rootComesBeforeEveryPath() {
        let paths = RuntimePaths(root: "/tmp/x//")
        #expect(paths.controlSocket == "/tmp/x/run/curfew/io.curfew.Control")
        #expect(paths.state == "/tmp/x/var/lib/curfew")
        #expect(RuntimePaths(root: nil).applicationSocket == "/run/curfew/io.curfew.Application")
    }

    @Test func daemonsWithDifferentRootsHaveDifferentGroups() {
        #expect(RuntimePaths(root: nil).controlGroupName == "curfew")
        #expect(RuntimePaths(root: "/").controlGroupName == "curfew")
        let one = RuntimePaths(root: "/tmp/one").controlGroupName
        #expect(one == RuntimePaths(root: "/tmp/one/").controlGroupName)
        #expect(one != RuntimePaths(root: "/tmp/two").controlGroupName)
    }
}
