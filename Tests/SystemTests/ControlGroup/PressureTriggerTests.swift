import CLinux
import ControlGroup
import EventLoop
import ProcessControl
import SystemCalls
import Testing

/// What the hog needs, so that it is short of memory alone.
let hasOldMemoryController: Bool = {
    let mounts = String(decoding: (try? Files.read("/proc/self/mounts")) ?? [], as: UTF8.self)
    return mounts.split(separator: "\n").contains { line in
        let fields = line.split(separator: " ")
        return fields.count > 3 && fields[2] == "cgroup" && fields[3].split(separator: ",").contains("memory")
            && access(String(fields[1]), W_OK) == 0
    }
}()

let hasPressure = Files.exists(PressureTrigger.board)

extension PressureThreshold {
    fileprivate static let warning = PressureThreshold(.some, time: 100_000, window: 1_000_000)
    fileprivate static let critical = PressureThreshold(.full, time: 200_000, window: 1_000_000)
}

@Suite(.enabled(if: hasPressure, "the kernel has no PSI")) struct PressureTriggerTests {
    @Test func boardsOwn_anyWindow() throws {
        for wanted in [PressureThreshold.warning, .critical] {
            let trigger = try PressureTrigger(wanted)
            let privileged = PressureThreshold(wanted.stall, time: wanted.time, window: wanted.window)
            let unprivileged = PressureThreshold(wanted.stall, time: wanted.time * 2, window: 2_000_000)
            #expect(trigger.threshold == (mayAskForShortWindows ? privileged : unprivileged))
        }
        // What the kernel reads is all of it: its last byte is overwritten.
        let long = try PressureTrigger(PressureThreshold(.some, time: 1_999_999, window: 2_000_000))
        #expect(long.threshold.time == 1_999_999)
    }

    @Test(arguments: [
        PressureThreshold(.some, time: 0, window: 2_000_000),
        PressureThreshold(.some, time: 5_000_000, window: 2_000_000),
        PressureThreshold(.full, time: -1, window: 1_000_000), PressureThreshold(.full, time: 1, window: 0),
        PressureThreshold(.some, time: 1, window: .max), PressureThreshold(.some, time: .max, window: 3_000_000),
    ]) func thresholdThatMakesNoSense(threshold: PressureThreshold) throws {
        let error = try #require(throws: PressureUnavailable.self) { try PressureTrigger(threshold) }
        guard case .failed(let cause) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(cause.errno == .invalid && error.text.contains("/proc/pressure/memory: Invalid argument"))
    }

    @Test func readingOfThisBoard() throws {
        let reading = try PressureReading()
        #expect((0...10000).contains(reading.someAverage10) && (0...10000).contains(reading.fullAverage10))
        #expect(reading.someTotal >= 0 && reading.fullTotal >= 0)
    }

    /// CAP_SYS_RESOURCE, bit 24 of CapEff.
    private var mayAskForShortWindows: Bool {
        let status = String(decoding: (try? Files.read("/proc/self/status")) ?? [], as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let bits = line.flatMap { UInt64($0.dropFirst(7).drop { $0 == "\t" }, radix: 16) } ?? 0
        return bits & (1 << 24) != 0
    }
}

@Suite struct PressureUnavailableTests {
    @Test func kernelWithoutPressure() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/pressure"
            let error = try #require(throws: PressureUnavailable.self) { try PressureTrigger(.warning, path: path) }
            #expect(error == .notOffered(SystemError("open", path, errno: .noEntry)))
            #expect(error.text.hasPrefix("the kernel offers no pressure stall information"))
            #expect(!error.text.contains("\n"))
            #expect(throws: PressureUnavailable.notOffered(SystemError("read", path, errno: .noEntry))) {
                try PressureReading(path: path)
            }
        }
    }

    /// Root may open anything, so a process of its own becomes another user for the while.
    @Test(.enabled(if: isRoot, "needs root")) func withoutTheRight() async throws {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { directory in
                let path = directory + "/pressure"
                try Files.replace(path, with: [], mode: 0o600, durable: false)
                try #require(chmod(directory, 0o755) == 0 && seteuid(65534) == 0)
                defer { _ = seteuid(0) }
                let error = try #require(throws: PressureUnavailable.self) { try PressureTrigger(.warning, path: path) }
                #expect(error == .notPermitted(SystemError("open", path, errno: .accessDenied)))
                #expect(error.text.hasPrefix("pressure stall information needs CAP_SYS_RESOURCE"))
            }
        }
    }

    @Test func somethingElse() throws {
        let error = try #require(throws: PressureUnavailable.self) { try PressureTrigger(.warning, path: "/proc") }
        guard case .failed = error else {
            Issue.record("\(error)")
            return
        }
        for path in ["/proc/version", "/proc/sys/kernel/ostype"] {
            let other = try #require(throws: PressureUnavailable.self) { try PressureTrigger(.warning, path: path) }
            #expect("\(other)".contains(path))
        }
        #expect(throws: PressureUnavailable.failed(SystemError("read", "/proc/version", errno: .invalid))) {
            try PressureReading(path: "/proc/version")
        }
    }
}

@Suite(.enabled(if: hasControlGroups && hasPressure, "\(controlGroupProblem ?? "the kernel has no PSI")"))
struct GroupPressureTests {
    @Test func groupThatVanishes_isAnError() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            let trigger = try PressureTrigger(.warning, path: group.path + "/memory.pressure")
            #expect(!waitReadable(trigger.descriptor, events: POLLPRI, bound: 0), "no pressure yet")
            let loop = try EventLoop()
            var seen: IOReadiness?
            let source = try loop.watch(trigger.descriptor, .priority) { seen = $0 }
            try group.remove()
            try loop.runOnce(timeoutMicroseconds: 10_000_000)
            #expect(seen?.contains(.error) == true)
            source.cancel()
            #expect(throws: PressureUnavailable.self) {
                try PressureTrigger(.warning, path: group.path + "/memory.pressure")
            }
        }
    }

    /// What the black-box tests have as well; the C compiler is there for them.
    @Test(.enabled(if: hasOldMemoryController, "the memory controller of cgroup v1 is not mounted, or not ours"))
    func realPressure_firesSomeAndFull() throws {
        try withTemporaryDirectory { directory in
            let hog = directory + "/hog"
            let source = Files.directoryName(of: Files.directoryName(of: Files.directoryName(of: "\(#filePath)")))
            _ = try output(
                of: shell("cc -std=c11 -O1 -pthread \(source)/BlackBoxTests/programs/hog.c -o \(hog)"))
            try withControlGroupRoot { root in
                let group = try root.create("app")
                let path = group.path + "/memory.pressure"
                let warning = try PressureTrigger(.warning, path: path)
                let critical = try PressureTrigger(.critical, path: path)
                let pipe = try Pipe()
                var request = SpawnRequest(arguments: [hog, "-g", group.path + "/hog", "-t", "60"])
                request.standardOutput = pipe.writing.rawValue
                request.standardError = pipe.writing.rawValue
                let child = try ChildProcess.spawn(request)
                #expect(waitReadable(pipe.reading.rawValue))
                let firstWords = try readSome(pipe.reading.rawValue)
                try #require(firstWords == "pressing\n")
                #expect(waitReadable(critical.descriptor, events: POLLPRI, bound: 20_000), "full")
                let loop = try EventLoop()
                var seen: [IOReadiness] = []
                let source = try loop.watch(warning.descriptor, .priority) { seen.append($0) }
                try loop.runOnce(timeoutMicroseconds: 20_000_000)
                #expect(seen == [.priority], "some")
                // Once a window: nothing has to be read for that.
                #expect(try !loop.runOnce(timeoutMicroseconds: 0))
                source.cancel()
                let reading = try PressureReading(path: path)
                #expect(reading.someTotal >= warning.threshold.time && reading.fullTotal > 0)
                try child.signal(SIGTERM)
                #expect(try waitForEnd(of: child).cause == .exited(0))
                #expect(!Files.exists(group.path + "/hog"), "it tidies up")
            }
        }
    }

    private func readSome(_ descriptor: Int32) throws -> String {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes[0..<max(0, count)], as: UTF8.self)
    }
}
