import CLinux
import ProcessControl
import SystemCalls
import Testing

@testable import ControlGroup

/// What happens in a unit with Delegate=yes: the daemon is alone in its group and has to make room. The test runner is
/// not to be moved, so it starts itself once more, in a group of its own, with nothing but the probe to run.
@Suite(.enabled(if: hasControlGroups, "\(controlGroupProblem ?? "")")) struct ControlGroupDelegationTests {
    private static let variable = "CURFEW_TEST_DELEGATED"

    @Test func aloneInItsGroup_movesToSupervisor() throws {
        try withControlGroupRoot { root in
            let unit = try root.create("unit")
            let path = try #require(FileDescriptor.target(of: "/proc/self/exe"))
            var request = SpawnRequest(
                arguments: [path] + CommandLine.arguments.dropFirst().prefix { $0 != "--filter" }
                    + ["--testing-library", "swift-testing", "--filter", "delegatedProbe"],
                environment: ["\(Self.variable)=\(unit.path)", "PATH=/usr/bin:/bin"])
            let pipe = try Pipe()
            request.standardOutput = pipe.writing.rawValue
            request.standardError = pipe.writing.rawValue
            let child = try unit.start(request)
            let text = try pipe.readToEnd()
            #expect(try waitForEnd(of: child).cause == .exited(0), "\(text)")
            #expect(text.contains("probe: moved"), "\(text)")
            #expect(Files.exists(unit.path + "/supervisor"))
            #expect(try unit.waitFor { !$0.populated })
        }
    }

    /// Runs in that second process only.
    @Test(.enabled(if: getenv(variable) != nil, "only in the process that the other test starts"))
    func delegatedProbe() throws {
        let unit = try #require(getenv(Self.variable).map { String(cString: $0) })
        let own = try #require(ControlGroupRoot.path(ofProcess: getpid()))
        do {
            let root = try ControlGroupRoot.discover()
            #expect(root.path == unit + "/apps")
            #expect(root.controlGroup == own + "/apps")
            #expect(ControlGroupRoot.path(ofProcess: getpid()) == own + "/supervisor")
            var mark: UInt8 = 0
            #expect(getxattr(unit + "/supervisor", "user.oomd_omit", &mark, 1) == 1 && mark == UInt8(ascii: "1"))
            let group = try root.create("app")
            let child = try group.start(SpawnRequest(arguments: ["/bin/sleep", "100"]))
            #expect(ControlGroupRoot.path(ofProcess: child.pid) == own + "/apps/app.1")
            try group.kill()
            _ = try waitForEnd(of: child)
        }
        // As after `curfew upgrade`, or with DelegateSubgroup=supervisor: it is where it belongs already.
        let again = try ControlGroupRoot.discover()
        #expect(again.path == unit + "/apps")
        #expect(try again.endLeftovers().ended == ["app.1"])
        print("probe: moved")
    }
}

extension FileDescriptor {
    fileprivate static func target(of link: String) -> String? {
        var target = [UInt8](repeating: 0, count: 4096)
        let count = target.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink(link, $0, bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: target[0..<count], as: UTF8.self) : nil
    }
}
