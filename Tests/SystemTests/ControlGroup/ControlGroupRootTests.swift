import CLinux
import ProcessControl
import SystemCalls
import Testing

@testable import ControlGroup

@Suite(.enabled(if: hasControlGroups, "\(controlGroupProblem ?? "")")) struct ControlGroupRootTests {
    @Test func leftoversAreEnded() throws {
        try withControlGroupRoot { root in
            let first = try root.create("camera")
            let second = try root.create("modem")
            _ = try root.create("empty")
            let children = [
                try first.start(shell("trap '' TERM; sleep 100; sleep 100")),
                try second.start(SpawnRequest(arguments: ["/bin/sleep", "100"])),
            ]
            try second.freeze()
            let leftovers = try root.endLeftovers()
            #expect(
                leftovers == Leftovers(ended: ["camera.1", "empty.3", "modem.2"], empty: ["empty.3"], remaining: []))
            for child in children {
                #expect(try waitForEnd(of: child).cause == .signalled(SIGKILL, coreDumped: false))
            }
            #expect(try root.instances().isEmpty)
            // Nothing above them has seen a kill.
            let fresh = try root.create("camera")
            let child = try fresh.start(SpawnRequest(arguments: ["/bin/sleep", "100"]))
            #expect(fresh.processes() == [child.pid])
            try fresh.kill()
            _ = try waitForEnd(of: child)
        }
    }

    /// Who may read a file may lock it, and each close(2) of ours goes through all locks.
    @Test func filesThatAreOpenedAgainAndAgainAreReadByRootAlone() throws {
        try withControlGroupRoot { root in
            let group = try root.create("camera")
            for name in ["cgroup.events", "cgroup.freeze", "cgroup.procs", "cpu.stat", "memory.current"] {
                var status = stat()
                guard linux_stat(group.path + "/" + name, &status) == 0 else { continue }
                #expect(status.st_mode & 0o077 == 0, "\(name)")
            }
            var status = stat()
            #expect(linux_stat(group.path + "/cgroup.events", &status) == 0)
            try group.remove()
        }
    }

    @Test func groupsThatAreForbiddenCannotBeMade() throws {
        try withControlGroupRoot { root in
            let group = try root.create("camera")
            #expect(mkdir(group.path + "/below", 0o755) == 0)
            #expect(rmdir(group.path + "/below") == 0)
            try group.forbidChildren()
            #expect(mkdir(group.path + "/below", 0o755) != 0)
            try group.remove()
        }
    }

    @Test func oneDaemonAtATime() throws {
        try withControlGroupRoot { root in
            let base = Files.directoryName(of: root.path)
            let error = try #require(throws: ControlGroupUnavailable.self) {
                _ = try ControlGroupRoot.discover(override: base)
            }
            #expect(error.reason == "\(base) is in use by another curfewd")
        }
    }

    @Test func aGroupThatWasThereIsLeft() throws {
        try withControlGroupRoot { outer in
            let base = Files.directoryName(of: outer.path) + "/unit"
            #expect(mkdir(base, 0o755) == 0)
            do {
                let root = try ControlGroupRoot.discover(override: base)
                #expect(Files.exists(root.path))
                root.removeIfEmpty()
                #expect(!Files.exists(root.path))
            }
            #expect(rmdir(base) == 0)
        }
    }

    @Test func overrideThatIsNoGroup() throws {
        for path in ["/tmp/x", "../x", "", "/"] {
            #expect(throws: ControlGroupUnavailable.self) { _ = try ControlGroupRoot.discover(override: path) }
        }
        #expect(!Files.exists("/tmp/x/apps"))
    }

    @Test func childrenDoNotHoldTheLock() throws {
        let name = "curfew-test-lock-\(getpid())"
        var child: ChildProcess?
        do {
            let root = try ControlGroupRoot.discover(override: name)
            child = try ChildProcess.spawn(SpawnRequest(arguments: ["/bin/sleep", "100"]))
            _ = root
        }
        // A child of some other test may hold every descriptor for a moment, until it has closed them.
        let deadline = Clocks.monotonic + 5_000_000_000
        var again = try? ControlGroupRoot.discover(override: name)
        while again == nil, Clocks.monotonic < deadline { again = try? ControlGroupRoot.discover(override: name) }
        // It found the group, so it leaves it.
        try #require(again).removeIfEmpty()
        let base = Files.directoryName(of: try #require(again).path)
        #expect(rmdir(base) == 0)
        try child?.signal(SIGKILL)
        _ = try child.map(waitForEnd)
    }
}

@Suite struct ControlGroupMountTests {
    private func find(_ text: String) -> ControlGroupMount? { .find(inMountInfo: Array(text.utf8)) }

    @Test func mountInfo() {
        let unified = "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n"
        #expect(find(unified) == ControlGroupMount(point: "/sys/fs/cgroup", root: "/"))
        let hybrid =
            "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
            + "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
            + "38 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
        #expect(find(hybrid)?.point == "/sys/fs/cgroup/unified")
        let escaped = "1 2 0:3 /a\\040b /mnt/c\\134d\\011e rw - cgroup2 none rw\n"
        #expect(find(escaped) == ControlGroupMount(point: "/mnt/c\\d\te", root: "/a b"))
        // A mount point that looks like the type.
        #expect(find("1 2 0:3 / /cgroup2 rw - tmpfs cgroup2 rw\n") == nil)
        for broken in ["", "\n", "1 2 3\n", "1 2 0:3 / /x rw -\n", "- - - - - - - -\n"] { #expect(find(broken) == nil) }
    }

    @Test func pathsBothWays() {
        let plain = ControlGroupMount(point: "/sys/fs/cgroup", root: "/")
        #expect(plain.directory(of: "/") == "/sys/fs/cgroup")
        #expect(plain.directory(of: "/a/b") == "/sys/fs/cgroup/a/b")
        #expect(plain.controlGroup(of: "/sys/fs/cgroup/a/b") == "/a/b")
        #expect(plain.controlGroup(of: "/sys/fs/cgroupx") == nil)
        let bound = ControlGroupMount(point: "/cg", root: "/box")
        #expect(bound.directory(of: "/box/a") == "/cg/a")
        #expect(bound.directory(of: "/boxes") == nil)
        #expect(bound.controlGroup(of: "/cg/a") == "/box/a")
        #expect(bound.controlGroup(of: "/cg") == "/box")
    }

    @Test func controllerNames() {
        #expect(ControllerSet(parsing: Array("cpuset cpu io memory pids\n".utf8)) == [.cpu, .memory, .processes])
        #expect(ControllerSet(parsing: []) == [])
        #expect(ControllerSet([.memory, .processes]).text == "memory pids")
    }
}
