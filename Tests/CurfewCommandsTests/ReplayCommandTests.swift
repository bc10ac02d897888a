import Foundation
import Lifecycle
import Testing

@testable import CurfewCommands

/// A recording that is made here, and what is shown of it.
@Suite final class ReplayCommandTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "curfew-replay-\(UUID())").path()
    private var core = DeviceLifecycle()
    private var bytes: [UInt8] = []
    private var writer = RecordWriter()
    private var now = Nanoseconds.seconds(100)

    deinit { try? FileManager.default.removeItem(atPath: file) }

    private var instant: Instant { Instant(monotonic: now, boottime: now) }

    private func append() throws { bytes += try #require(FlightRecord.framed(writer.bytes)) }

    private func begin(with state: [UInt8] = []) throws {
        writer.reset()
        FlightRecord.writeBegin(
            version: "1.2.3", boot: "boot-1", realtime: .seconds(1_795_240_103), instant, core: state, to: &writer)
        try append()
    }

    private func hear(_ event: Event, writesDecision: Bool = true) throws {
        writer.reset()
        FlightRecord.write(event, at: instant, to: &writer)
        try append()
        let effects = core.handle(event, at: instant)
        now = now + .seconds(1)
        guard writesDecision, !effects.isEmpty else { return }
        writer.reset()
        FlightRecord.write(effects, to: &writer)
        try append()
    }

    private func replay(_ arguments: String...) throws -> (code: Int32, output: String, error: String) {
        try Data(bytes).write(to: URL(filePath: file))
        let outcome = PlayedDaemon.run(["replay", file] + arguments)
        return (outcome.code, outcome.output, outcome.error)
    }

    private func play() throws {
        try begin()
        var policy = AppPolicy(name: "camera")
        policy.launch = .boot
        try hear(.configured([policy], DevicePolicy()))
        try hear(.started)
        try hear(.process(.spawned(InstanceID(rawValue: 1))))
    }

    @Test func aStepIsWhatCameWhatIsDecidedAndWhatComesOfIt() throws {
        try play()
        let outcome = try replay()
        #expect(outcome.code == 0 && outcome.error == "")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasSuffix(": curfewd 1.2.3, boot boot-1") == true)
        #expect(lines[1].hasPrefix("     1  ") && lines[1].hasSuffix("  configured([camera])"))
        let spawn = try #require(lines.firstIndex { $0.contains("-> process.spawn(camera, camera.1, boot") })
        #expect(lines[spawn - 1].hasSuffix("  started"))
        #expect(lines.contains { $0.hasSuffix("  process.spawned(camera.1)") })
        #expect(lines.contains { $0.hasSuffix("= camera: running, active") })
        #expect(lines.last == "3 steps, decided as recorded")
    }

    @Test func aLoopThatDiedOfWhatItHeardIsNoDifference() throws {
        try play()
        try hear(.process(.exited(InstanceID(rawValue: 1), .exited(1))), writesDecision: false)
        try begin(with: core.archived())
        let outcome = try replay()
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("what curfewd decided here is not recorded"))
        #expect(outcome.output.contains("boot boot-1, with 1 app in hand"))
    }

    @Test func aDecisionThatIsMissingIsADifference() throws {
        try play()
        try hear(.process(.exited(InstanceID(rawValue: 1), .exited(1))), writesDecision: false)
        try hear(.timePassed)
        let outcome = try replay("--compare")
        #expect(outcome.code == 1)
        #expect(outcome.output.contains("process.exited(camera.1, exited(1))"))
        #expect(outcome.output.contains("!! curfewd decided otherwise here"))
        #expect(outcome.output.hasSuffix("5 steps, 1 of them decided otherwise than recorded\n"))
    }

    @Test func aStateThatCannotBeReadEndsIt() throws {
        try begin(with: Array("no state".utf8))
        let outcome = try replay()
        #expect(outcome.code == 1)
        #expect(outcome.error.contains("its state is that of curfewd 1.2.3, which this version cannot read"))
    }

    @Test func whatComesBeforeABeginningIsPassedOver() throws {
        try hear(.timePassed)
        #expect(try replay().output == "0 steps, decided as recorded\n")
    }
}
