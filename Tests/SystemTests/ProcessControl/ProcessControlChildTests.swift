import CLinux
import SystemCalls
import Testing

@testable import ProcessControl

@Suite struct ChildProcessTests {
    @Test func exitStatus() throws {
        let child = try ChildProcess.spawn(shell("exit 3"))
        #expect(try waitForEnd(of: child).cause == .exited(3))
        #expect(try child.reap()?.cause == .exited(3), "reaped twice is the same answer")
        #expect(throws: SystemError.self) { try child.signal(SIGTERM) }
    }

    @Test func runningChild_isNotReaped() throws {
        let child = try ChildProcess.spawn(SpawnRequest(arguments: ["/bin/sleep", "100"]))
        #expect(try child.reap() == nil)
        #expect(!waitReadable(child.descriptor, bound: 0))
        try child.signal(SIGTERM)
        #expect(try waitForEnd(of: child).cause == .signalled(SIGTERM, coreDumped: false))
    }

    @Test func cpuTimeIsReported() throws {
        let child = try ChildProcess.spawn(shell("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"))
        let status = try waitForEnd(of: child)
        #expect(status.cpuNanoseconds > 1_000_000)
        #expect(status.peakMemoryBytes > 100_000)
    }

    @Test func foreignProcess_identityGroupAndEnd() throws {
        try withTemporaryDirectory { directory in
            // A name that tries to look like the end of the name in /proc/PID/stat, and like a line of its status.
            let path = directory + "/a) (b\nUid:\t9"
            try #require(symlink("/bin/sleep", path) == 0)
            let child = try ChildProcess.spawn(SpawnRequest(arguments: [path, "100"]))
            let handle = try ProcessHandle.open(child.pid)
            let identity = try #require(handle.identity)
            #expect(try ProcessHandle.open(child.pid).identity == identity)
            #expect(try ProcessHandle.open(getpid()).identity != identity)
            #expect(handle.user == getuid() && handle.isRunning && handle.isChild(of: getpid(), user: getuid()))
            try handle.signal(SIGKILL)
            #expect(waitReadable(handle.descriptor))
            #expect(handle.identity == identity && !handle.isRunning, "a zombie keeps its pid")
            _ = try child.reap()
            #expect(handle.identity == nil && handle.user == nil)
            #expect(!handle.holdsPid)
            #expect(throws: SystemError.self) { try ProcessHandle.open(child.pid) }
        }
    }

    /// A descriptor that is no pidfd of pidfs is taken for one of an older kernel.
    @Test func identityBeforePidfs_isTheStart() throws {
        let other = try FileDescriptor.open("/dev/null", O_RDONLY)
        let words = String(decoding: try Files.read("/proc/self/stat", limit: 4096), as: UTF8.self)
            .split(separator: ")").last?.split(separator: " ")
        #expect(linux_process_identity(getpid(), other.rawValue) == UInt64(try #require(words)[19]))
    }

    @Test func adoptedDescriptor_knowsItsPid() throws {
        let child = try ChildProcess.spawn(SpawnRequest(arguments: ["/bin/sleep", "100"]))
        let handle = try ProcessHandle.adopt(try FileDescriptor.duplicate(of: child.descriptor))
        #expect(handle.pid == child.pid)
        try child.signal(SIGKILL)
        _ = try waitForEnd(of: child)
        let error = try #require(throws: SystemError.self) {
            _ = try ProcessHandle.adopt(try FileDescriptor.duplicate(of: child.descriptor))
        }
        #expect(error.errno == .noProcess)
    }

    @Test func controlGroupLines() {
        func path(_ text: String) -> String? {
            text.withCString { text in
                var length = 0
                guard let path = linux_unified_group(text, &length) else { return nil }
                return String(String(cString: path).utf8.prefix(length))
            }
        }
        #expect(path("0::/a/b\n") == "/a/b")
        #expect(path("9:name=systemd:/x\n1:cpu:/0::/y\n0::/init.scope\n") == "/init.scope")
        #expect(path("1:cpu:/\n") == nil)
        #expect(path("") == nil)
        #expect(path("0::/") == "/")
    }
}

@Suite struct CredentialsTests {
    @Test func namesAndNumbers() throws {
        let byName = try Credentials.resolve(user: "daemon", group: nil)
        #expect(byName.user == 1 && byName.group == 1 && byName.name == "daemon" && byName.home == "/usr/sbin")
        #expect(byName.supplementaryGroups.contains(1))
        #expect(try Credentials.resolve(user: "1", group: nil) == byName)
        #expect(try Credentials.resolve(user: "daemon", group: "0").group == 0)
        #expect(try Credentials.resolve(user: "daemon", group: "adm").group == 4)
        let unnamed = try Credentials.resolve(user: "54321", group: "54322")
        #expect(unnamed == Credentials(user: 54321, group: 54322))
    }

    @Test func ownUser_whereNoneIsGiven() throws {
        #expect(try Credentials.resolve(user: nil, group: nil).user == geteuid())
        #expect(try Credentials.resolve(user: nil, group: "adm").group == 4)
    }

    @Test(
        arguments: [
            ("nosuch", nil, "user nosuch does not exist"), ("daemon", "nosuch", "group nosuch does not exist"),
            ("54321", nil, "user 54321 has no entry in the users data base: a group has to be given"),
            ("4294967295", nil, "user 4294967295 does not exist"), ("", nil, "user  does not exist"),
        ] as [(String, String?, String)])
    func errors(user: String, group: String?, text: String) throws {
        let error = try #require(throws: CredentialsError.self) {
            _ = try Credentials.resolve(user: user, group: group)
        }
        #expect(error.text == text)
    }
}
