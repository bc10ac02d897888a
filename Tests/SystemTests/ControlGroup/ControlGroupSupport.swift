import CLinux
import ControlGroup
import ProcessControl
import SystemCalls
import Testing

/// Whether groups can be made here; where not, the tests that need them are shown as skipped, with the reason.
let controlGroupProblem: String? = {
    do throws(ControlGroupUnavailable) {
        let root = try ControlGroupRoot.discover(override: "curfew-probe-\(getpid())")
        root.removeIfEmpty()
        return nil
    } catch {
        return error.reason
    }
}()
let hasControlGroups = controlGroupProblem == nil

/// A root of its own for each test, below the mount, with nothing left of it afterwards.
func withControlGroupRoot(_ body: (ControlGroupRoot) throws -> Void) throws {
    let name = "curfew-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let root = try ControlGroupRoot.discover(override: name)
    defer {
        _ = try? root.endLeftovers(bound: 5_000_000_000)
        root.removeIfEmpty()
    }
    try body(root)
}

extension ControlGroup {
    /// To be waited for by the test: exit tests beside it wait for any child, and a zombie that stays keeps them from
    /// it.
    func start(_ request: SpawnRequest) throws -> ChildProcess {
        var request = request
        let directory = try openDirectory()
        request.controlGroupDescriptor = directory.rawValue
        let child = try ChildProcess.spawn(request)
        directory.close()
        return child
    }

    /// Waits for the kernel's word in cgroup.events, by poll and POLLPRI as an event loop does.
    func waitFor(_ condition: (ControlGroupState) -> Bool) throws -> Bool {
        let events = try openEvents()
        while let state = try events.read(), !condition(state) {
            guard waitReadable(events.descriptor, events: POLLPRI) else { return false }
        }
        return true
    }
}
