import CLinux
import ProcessControl
import SystemCalls
import Testing

@Suite struct SpawnTests {
    @Test func descriptors_onlyThoseAskedFor() throws {
        let stray = try FileDescriptor.open("/dev/zero", O_RDONLY)
        // Inherited by exec if nothing closed it.
        try #require(linux_set_descriptor_flags(stray.rawValue, 0) == 0)
        let pipe = try Pipe()
        var request = shell("ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0; readlink /proc/self/fd/7")
        request.passedDescriptors = [
            PassedDescriptor(source: stray.rawValue, target: 7),
            PassedDescriptor(source: pipe.reading.rawValue, target: 4),
        ]
        // 3 is ls's own descriptor for the directory.
        #expect(try output(of: request) == "0 1 2 3 4 7 /dev/null\n/dev/zero\n")
        #expect(try output(of: shell("ls /proc/self/fd | tr '\\n' ' '")) == "0 1 2 3 ")
    }

    @Test func descriptors_thatChangePlaces() throws {
        let first = try Pipe()
        let second = try Pipe()
        var request = shell("echo to-first >&\(second.writing.rawValue); echo to-second >&\(first.writing.rawValue)")
        // dash takes one digit only.
        request.arguments[2] =
            "readlink /proc/self/fd/\(first.writing.rawValue) /proc/self/fd/\(second.writing.rawValue)"
        request.passedDescriptors = [
            PassedDescriptor(source: first.writing.rawValue, target: second.writing.rawValue),
            PassedDescriptor(source: second.writing.rawValue, target: first.writing.rawValue),
        ]
        func name(_ descriptor: Int32) throws -> String {
            var target = [UInt8](repeating: 0, count: 256)
            let count = target.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { readlink("/proc/self/fd/\(descriptor)", $0, bytes.count) } ?? -1
            }
            try #require(count > 0)
            return String(decoding: target[0..<count], as: UTF8.self)
        }
        let expected = try name(second.writing.rawValue) + "\n" + name(first.writing.rawValue) + "\n"
        #expect(try output(of: request) == expected)
    }

    @Test func environment_isNothingButTheRequests_withOwnPid() throws {
        var request = SpawnRequest(arguments: ["/usr/bin/env"], environment: ["A=1", "B=x y=z", "C="])
        request.pidVariables = ["WATCHDOG_PID", "LISTEN_PID"]
        let pipe = try Pipe()
        request.standardOutput = pipe.writing.rawValue
        let child = try ChildProcess.spawn(request)
        let text = try pipe.readToEnd()
        #expect(text == "A=1\nB=x y=z\nC=\nWATCHDOG_PID=\(child.pid)\nLISTEN_PID=\(child.pid)\n")
        _ = try waitForEnd(of: child)
    }

    @Test func ownSession_umask_directory_nice_limits() throws {
        var request = shell("echo $$ $(ps -o sid= -p $$); umask; pwd; ulimit -n; ulimit -c; nice")
        request.umask = 0o027
        request.workingDirectory = "/usr"
        request.nice = 5
        request.limits = [
            ResourceLimit(resource: 7, soft: 123, hard: 456),
            ResourceLimit(resource: 4, soft: 0, hard: ResourceLimit.unlimited),
        ]
        let lines = try output(of: request).split(separator: "\n").map(String.init)
        let ids = try #require(lines.first).split(separator: " ")
        #expect(ids.count == 2 && ids.first == ids.last)
        #expect(Array(lines.dropFirst()) == ["0027", "/usr", "123", "0", "5"])
    }

    @Test(.enabled(if: isRoot, "needs root")) func nice_belowZero() throws {
        var request = shell("nice")
        request.nice = -5
        #expect(try output(of: request) == "-5\n")
    }

    @Test(.enabled(if: isRoot, "needs root")) func credentials() throws {
        var request = shell("id -u; id -g; id -G; grep -E '^(NoNewPrivs|CapEff)' /proc/self/status")
        request.credentials = Credentials(user: 65534, group: 65533, supplementaryGroups: [65533, 1234])
        request.forbidsNewPrivileges = true
        #expect(
            try output(of: request)
                == "65534\n65533\n65533 1234\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n")
        #expect(try output(of: shell("grep NoNewPrivs /proc/self/status")) == "NoNewPrivs:\t0\n")
    }

    @Test func signals_areAtTheirDefaultsAndUnblocked() throws {
        // A real-time signal that nothing else here uses.
        let number: Int32 = 41
        // SIG_IGN, a macro with a cast.
        signal(number, unsafeBitCast(1, to: Optional<@convention(c) (Int32) -> Void>.self))
        defer { signal(number, nil) }
        var set = sigset_t()
        var before = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_BLOCK, &set, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let text = try output(
            of: SpawnRequest(arguments: ["/usr/bin/mawk", "/^Sig(Blk|Ign|Cgt)/", "/proc/self/status"]))
        let none = "0000000000000000"
        #expect(text == "SigBlk:\t\(none)\nSigIgn:\t\(none)\nSigCgt:\t\(none)\n")
    }

    @Test func manySpawns_figures() throws {
        var children: [ChildProcess] = []
        let start = Clocks.monotonic
        for _ in 0..<100 { children.append(try ChildProcess.spawn(SpawnRequest(arguments: ["/bin/sleep", "100"]))) }
        print("100 spawns: \((Clocks.monotonic - start) / 1000) us")
        for child in children { try child.signal(SIGKILL) }
        for child in children {
            #expect(try waitForEnd(of: child).cause == .signalled(SIGKILL, coreDumped: false))
        }
    }
}
