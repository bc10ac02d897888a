import CLinux
import Foundation
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

/// The recorder's memory and files. Its thread runs; that this is done is heard as the test runs the loop. One test at
/// a time: its memory is found by its name.
@Suite(.serialized) final class FlightRecorderTests {
    private let shell: PlayedShell
    private let recorder: FlightRecorder
    private var path: String { shell.root + "/var/lib/curfew/recording" }

    init() throws {
        shell = try PlayedShell()
        try Files.createDirectories(shell.root + "/var/lib/curfew")
        recorder = try FlightRecorder(shell.supervisor)
    }

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : -1
    }

    /// Bytes of the memory.
    private func memorySize() -> Int {
        for number in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            let file = "/proc/self/fd/\(number)"
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file),
                target.hasPrefix("/memfd:recording ")
            else { continue }
            return size(file)
        }
        return -1
    }

    private func hear(_ count: Int) {
        for _ in 0..<count { recorder.hear(.timePassed, at: shell.supervisor.now) }
    }

    private func events(_ path: String) throws -> (begins: Bool, events: Int) {
        var records = FlightRecords(try Files.read(path, limit: 16 << 20))
        var (first, events): (FlightRecord?, Int) = (nil, 0)
        while let record = try records.next() {
            first = first ?? record
            if case .heard = record { events += 1 }
        }
        guard case .begin = first else { return (false, events) }
        return (true, events)
    }

    @Test func aFileThatBeginsInTheMiddleOfARunBeginsWithABeginning() throws {
        let full = (4 << 20) - (64 << 10) - 400
        try #require(FileManager.default.createFile(atPath: path, contents: Data(count: full)))
        let recorder = try FlightRecorder(shell.supervisor)
        recorder.begin(with: nil)
        // Up to here it fits; the rest comes while that is written, and does not.
        recorder.write()
        for _ in 0..<50 { recorder.hear(.timePassed, at: shell.supervisor.now) }
        try shell.run { size(path + ".1") > 0 }
        recorder.close()
        let (former, next) = (try events(path + ".1"), try events(path))
        #expect(former.begins && former.events == 50, "\(former)")
        #expect(next.begins && next.events == 0, "\(next)")
        #expect(size(path + ".next") == -1)
    }

    @Test func whatASlowDiskDoesNotTakeIsGivenUp() throws {
        recorder.begin(with: nil)
        recorder.write()
        hear(300_000)
        #expect(memorySize() > 1 << 20 && memorySize() < (2 << 20) + (64 << 10))
        try shell.run { memorySize() == MemoryLayout<linux_recorder_head>.size }
        #expect(try events(path) == (true, 0))
    }

    /// No timer can fire: the loop does not run.
    @Test func anEndIsWrittenAtOnce() throws {
        recorder.begin(with: nil)
        recorder.write()
        try shell.run { memorySize() == MemoryLayout<linux_recorder_head>.size }
        let before = size(path)
        recorder.hear(.timePassed, at: shell.supervisor.now)
        recorder.write()
        let termination = Termination(
            app: AppID(rawValue: 0), name: "camera", instance: InstanceID(rawValue: 1),
            reason: .launchFailed(errno: 2, "x"), handler: .didEnterBackground, allowance: .seconds(5),
            taken: .seconds(5), uptime: .seconds(60), phase: .inactive, sleep: 3)
        recorder.decided([.report(termination)])
        #expect(size(path) == before)
        recorder.write()
        let end = Clocks.monotonic + 20_000_000_000
        while size(path) == before, Clocks.monotonic < end {}
        #expect(size(path) > before)
    }
}
