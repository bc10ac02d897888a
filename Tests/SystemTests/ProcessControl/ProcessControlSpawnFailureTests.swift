import CLinux
import ProcessControl
import SystemCalls
import Testing

@Suite struct SpawnFailureTests {
    private func failure(_ request: SpawnRequest) throws -> SpawnError {
        try #require(throws: SpawnError.self) {
            let child = try ChildProcess.spawn(request)
            try? child.signal(SIGKILL)
            _ = try waitForEnd(of: child)
        }
    }

    @Test func missingProgram() throws {
        let error = try failure(SpawnRequest(arguments: ["/usr/bin/nope"]))
        #expect(error.step == .exec)
        #expect(error.errno == .noEntry)
        #expect(error.text == "exec /usr/bin/nope: No such file or directory")
    }

    @Test func notExecutable() throws {
        #expect(try failure(SpawnRequest(arguments: ["/etc/passwd"])).text == "exec /etc/passwd: Permission denied")
    }

    @Test func notAProgram() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/garbage"
            try writeProgram(path, "\\\\001\\\\002", mode: "755")
            #expect(try failure(SpawnRequest(arguments: [path])).text == "exec \(path): Exec format error")
        }
    }

    @Test func relativeProgram_isRefused() throws {
        #expect(try failure(SpawnRequest(arguments: ["true"])).text == "prepare true: Invalid argument")
        #expect(try failure(SpawnRequest(arguments: [])).step == .prepare)
    }

    @Test func embeddedNul_isRefused() throws {
        #expect(try failure(SpawnRequest(arguments: ["/bin/echo", "a\0b"])).step == .prepare)
        #expect(try failure(SpawnRequest(arguments: ["/bin/true"], environment: ["A=\0"])).step == .prepare)
    }

    @Test func badDirectory() throws {
        var request = SpawnRequest(arguments: ["/bin/true"])
        request.workingDirectory = "/nowhere/at/all"
        #expect(try failure(request).text == "chdir /nowhere/at/all: No such file or directory")
    }

    @Test(.enabled(if: isRoot, "needs root")) func directoryWithoutRights_asTheOtherUser() throws {
        try withTemporaryDirectory { directory in
            try #require(chmod(directory, 0o700) == 0)
            var request = SpawnRequest(arguments: ["/bin/true"])
            request.credentials = Credentials(user: 65534, group: 65534)
            request.workingDirectory = directory
            #expect(try failure(request).text == "chdir \(directory): Permission denied")
        }
    }

    @Test(.enabled(if: isRoot, "needs root")) func programWithoutRights_asTheOtherUser() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/tool"
            try writeProgram(path, "#!/bin/sh\\\\n", mode: "700")
            var request = SpawnRequest(arguments: [path])
            request.credentials = Credentials(user: 65534, group: 65534)
            #expect(try failure(request).text == "exec \(path): Permission denied")
        }
    }

    @Test func badDescriptors() throws {
        var request = SpawnRequest(arguments: ["/bin/true"])
        request.passedDescriptors = [PassedDescriptor(source: 9999, target: 3)]
        #expect(try failure(request).text == "pass descriptor 3: Bad file descriptor")
        request.passedDescriptors = [PassedDescriptor(source: 0, target: 3), PassedDescriptor(source: 1, target: 3)]
        #expect(try failure(request).step == .prepare)
        request.passedDescriptors = (3..<70).map { PassedDescriptor(source: 0, target: $0) }
        #expect(try failure(request).step == .prepare)
    }

    @Test func badLimit() throws {
        var request = SpawnRequest(arguments: ["/bin/true"])
        request.limits = [ResourceLimit(resource: 7, soft: 10, hard: 5)]
        #expect(try failure(request).text == "set limit 7: Invalid argument")
    }

    @Test func groupThatIsNone() throws {
        let root = try FileDescriptor.open("/tmp", O_RDONLY | O_DIRECTORY)
        var request = SpawnRequest(arguments: ["/bin/true"])
        request.controlGroupDescriptor = root.rawValue
        #expect(try failure(request).text == "join the control group: No such file or directory")
    }

    @Test func fullDescriptorTable() throws {
        // A number beyond the limit: the child's table has no place for it, as when it is full.
        var request = SpawnRequest(arguments: ["/bin/true"])
        request.passedDescriptors = [PassedDescriptor(source: 0, target: 2_000_000_000)]
        #expect(try failure(request).step == .descriptors)
    }

    @Test func failuresLeaveNothingBehind() throws {
        let before = try Files.list("/proc/self/fd").count
        for _ in 0..<1000 { _ = try failure(SpawnRequest(arguments: ["/usr/bin/nope"])) }
        // Other tests open and close descriptors meanwhile; a thousand leaked ones would show.
        #expect(try Files.list("/proc/self/fd").count < before + 500)
    }
}
