import CLinux
import ProcessControl
import SystemCalls
import Testing

@testable import ControlGroup

@Suite(.enabled(if: hasControlGroups, "\(controlGroupProblem ?? "")")) struct ControlGroupTests {
    @Test func childIsBornInItsGroup_byCloneAndByWriting() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            #expect(group.name == "app.1")
            let child = try group.start(SpawnRequest(arguments: ["/bin/sleep", "100"]))
            #expect(group.processes() == [child.pid])
            #expect(try group.state() == ControlGroupState(populated: true, frozen: false))
            let path = try #require(ControlGroupRoot.path(ofProcess: child.pid))
            #expect(path == root.controlGroup + "/app.1")
            #expect(root.instance(ofControlGroup: path) == "app.1")
            #expect(root.instance(ofControlGroup: path + "/deeper") == "app.1")
            #expect(root.place(of: child.pid, among: [group]) == .instance("app.1"))
            #expect(root.place(of: child.pid, among: []) == .instance("app.1"), "by its path")
            #expect(root.place(of: getpid(), among: [group]) == .elsewhere)
            #expect(root.instance(ofControlGroup: root.controlGroup) == nil)
            #expect(root.instance(ofControlGroup: root.controlGroup + "x/app.1") == nil)
            try child.signal(SIGKILL)
            _ = try waitForEnd(of: child)
            #expect(root.place(of: child.pid, among: [group]) == .unknown)
            #expect(try group.waitFor { !$0.populated })
            try group.remove()
            #expect(try root.instances().isEmpty)
        }
    }

    @Test func freshGroupEachTime_namesThatArePaths_areRefused() throws {
        try withControlGroupRoot { root in
            try #require(mkdir(root.path + "/app.2", 0o755) == 0)
            #expect(try root.create("app").name == "app.1")
            #expect(try root.create("app").name == "app.3", "2 is taken")
            for name in ["", ".", "..", "a/b", "a b", "a\n", "cgroup.x"] {
                #expect(throws: SystemError.self) { try root.create(name) }
            }
        }
    }

    @Test func freezeAndThaw_areAnnounced() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let child = try group.start(shell("while :; do :; done"))
            let events = try group.openEvents()
            #expect(try events.read() == ControlGroupState(populated: true, frozen: false))
            #expect(!waitReadable(events.descriptor, events: POLLPRI, bound: 0), "read, so not ready")
            try group.freeze()
            #expect(waitReadable(events.descriptor, events: POLLPRI))
            #expect(try events.read()?.frozen == true)
            #expect(group.unfrozenProcesses().isEmpty)
            try group.thaw()
            #expect(waitReadable(events.descriptor, events: POLLPRI))
            #expect(try events.read()?.frozen == false)
            try child.signal(SIGTERM)
            #expect(try waitForEnd(of: child).cause == .signalled(SIGTERM, coreDumped: false))
        }
    }

    @Test func busyProcessIsNamed() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let child = try group.start(shell("while :; do :; done"))
            let culprit = try #require(group.unfrozenProcesses().first)
            #expect(culprit.pid == child.pid && culprit.name == "sh" && culprit.state == "R")
            #expect(culprit.text.hasPrefix("sh[\(child.pid)] (state R"))
            try group.kill()
            _ = try waitForEnd(of: child)
        }
    }

    /// A child and a grandchild with a session of its own, ready when both run.
    private func startFamily(in group: ControlGroup) throws -> ChildProcess {
        let pipe = try Pipe()
        var request = shell("setsid sh -c 'trap \"\" TERM HUP; echo ready; sleep 100' & trap '' TERM; wait; sleep 100")
        request.standardOutput = pipe.writing.rawValue
        let child = try group.start(request)
        #expect(waitReadable(pipe.reading.rawValue))
        return child
    }

    @Test(arguments: [false, true]) func killTakesGrandchildrenOfOtherSessions(frozen: Bool) throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let child = try startFamily(in: group)
            #expect(group.processes().count >= 2)
            if frozen {
                try group.freeze()
                #expect(try group.waitFor { $0.frozen })
            }
            try group.kill()
            #expect(try waitForEnd(of: child).cause == .signalled(SIGKILL, coreDumped: false))
            #expect(try group.waitFor { !$0.populated })
            try group.remove()
        }
    }

    @Test func killOneByOne_asOnOldKernels() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let child = try startFamily(in: group)
            group.killOneByOne()
            #expect(try waitForEnd(of: child).cause == .signalled(SIGKILL, coreDumped: false))
            #expect(try group.waitFor { !$0.populated })
        }
    }

    @Test func startInAGroupThatHasSeenAKill_stillWorks() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            // Linux 6.18 compares the kills that the group and our own have seen, and ends what is cloned across a
            // difference: so too for a fresh group, where our own has survived a kill of its directory's earlier life.
            try Files.writeExisting(root.path + "/cgroup.kill", "1")
            let child = try group.start(SpawnRequest(arguments: ["/bin/sleep", "100"]))
            #expect(group.processes() == [child.pid])
            #expect(!waitReadable(child.descriptor, bound: 0))
            try group.kill()
            #expect(try waitForEnd(of: child).cause == .signalled(SIGKILL, coreDumped: false))
        }
    }

    @Test func removeTakesGroupsTheAppMade_butNotLivingOnes() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            try Files.createDirectories(group.path + "/a/b/c")
            try Files.createDirectories(group.path + "/d")
            let child = try ChildProcess.spawn(SpawnRequest(arguments: ["/bin/sleep", "100"]))
            try Files.writeExisting(group.path + "/a/b/cgroup.procs", "\(child.pid)")
            #expect(group.processes() == [child.pid])
            let error = try #require(throws: SystemError.self) { try group.remove() }
            #expect(error.errno == .busy)
            try group.kill()
            _ = try waitForEnd(of: child)
            #expect(try group.waitFor { !$0.populated })
            try group.remove()
            #expect(!Files.exists(group.path))
            try group.remove()
        }
    }

    @Test func usageAndLimits() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let result = try group.apply(.processes(5))
            #expect(result == (root.controllers.contains(.processes) ? .applied : .unavailable(.processes)))
            #expect((group.memoryBytes != nil) == root.controllers.contains(.memory))
            let child = try group.start(shell("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"))
            #expect(try waitForEnd(of: child).cause == .exited(0))
            #expect(try #require(group.cpuNanoseconds) > 1_000_000)
        }
    }

    @Test func eventsOfARemovedGroup_areNil() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let events = try group.openEvents()
            try group.remove()
            #expect(try events.read() == nil)
            #expect(throws: SystemError.self) { try group.kill() }
        }
    }
}

/// In a process of its own, which knows nothing of births in groups yet.
@Suite(.enabled(if: hasControlGroups, "\(controlGroupProblem ?? "")")) struct FirstBirthTests {
    /// The keeper does not wait for a child's end: the first one is watched for a moment, and those after it go the
    /// way that it has shown.
    @Test func aGroupThatKillsAtBirthIsWalkedInto() async {
        await #expect(processExitsWith: .success) {
            try withControlGroupRoot { root in
                let group = try root.create("app")
                try Files.writeExisting(root.path + "/cgroup.kill", "1")
                for _ in 0..<3 {
                    let begun = try begin(in: group)
                    try #require(Int(begun.step) == LINUX_SPAWN_DONE)
                    linux_let_go(begun.gate)
                    var result = linux_spawn_result()
                    linux_spawn_outcome(begun.gate, true, &result)
                    #expect(Int(result.step) == LINUX_SPAWN_DONE)
                    #expect(group.processes() == [begun.pid])
                    kill(begun.pid, SIGKILL)
                    waitpid(begun.pid, nil, 0)
                    close(begun.gate)
                }
            }
        }
    }
}

private func begin(in group: ControlGroup) throws -> linux_begun {
    let directory = try group.openDirectory()
    var request = SpawnRequest(arguments: ["/bin/sleep", "100"])
    request.controlGroupDescriptor = directory.rawValue
    let packet = try StartPacket(request, id: 1)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: packet.bytes.count, alignment: 8)
    defer { bytes.deallocate() }
    bytes.copyBytes(from: packet.bytes)
    var begun = linux_begun()
    let isRead: Void? = ReceivedStart.read(bytes, packet.descriptors[...]) { raw, _ in linux_begin_spawn(&raw, &begun) }
    try #require(isRead != nil)
    return begun
}
