import ArgumentParser
import Foundation
import Testing

@testable import CurfewCommands
@testable import Lifecycle

/// A recording that is made here, and what is shown of it.
@Suite final class ReplayCommandTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "curfew-replay-\(UUID())").path()
    private var core = DeviceLifecycle()
    private var bytes: [UInt8] = []
    private var writer = RecordWriter()
    private var now = Nanoseconds.seconds(100)

    deinit { try? FileManager.default.removeItem(atPath: file) }

    private var slept = Nanoseconds.zero

    private var instant: Instant { Instant(monotonic: now, boottime: now + slept) }

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
        try replay(arguments)
    }

    private func replay(_ arguments: [String]) throws -> (code: Int32, output: String, error: String) {
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

    @Test func allOfAnotherVersionIsRefused() throws {
        try begin(with: Array("no state".utf8))
        try hear(.timePassed)
        let outcome = try replay()
        #expect(outcome.code == 1)
        #expect(outcome.error.contains("all of it is curfewd 1.2.3's, in a format that this version does not know"))
    }

    /// As an upgrade leaves it: the next version goes on in the same file.
    @Test func whatAnotherVersionWroteIsPassedOver() throws {
        try begin(with: Array("no state".utf8))
        try hear(.started)
        core = DeviceLifecycle()
        try play()
        // Of the same format by its number, with a word that no reader of it knows.
        writer.reset()
        writer.put(case: 1)
        writer.put(instant)
        writer.put(case: 250)
        try append()
        try hear(.timePassed)
        let outcome = try replay()
        #expect(outcome.code == 0, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let passedOver = "curfewd 1.2.3 wrote on, in a format that this version does not know: passed over"
        #expect(lines.first == passedOver && lines.filter { $0 == passedOver }.count == 2)
        #expect(lines.last == "3 steps, decided as recorded; what curfewd 1.2.3 wrote is passed over")
        #expect(try replay("--compare").output.hasPrefix(passedOver + "\n"))
    }

    @Test func theTimeOfAStepCountsTheSleepsBeforeIt() throws {
        try play()
        slept = .seconds(7)
        try hear(.timePassed)
        let line = try replay().output.split(separator: "\n").first { $0.hasPrefix("     4  ") }
        #expect(line?.contains(":33.000  ") == true, "\(line ?? "")")
    }

    @Test func aBeginningIsShownBeforeItsFirstStep() throws {
        try play()
        try begin(with: core.archived())
        try hear(.timePassed)
        try begin(with: core.archived())
        try hear(.process(.exited(InstanceID(rawValue: 1), .exited(1))))
        for arguments in [["--app", "camera", "--last", "1"], ["--last", "1"]] {
            let lines = try replay(arguments).output.split(separator: "\n").map(String.init)
            #expect(lines[0].hasSuffix(": curfewd 1.2.3, boot boot-1, with 1 app in hand"))
            #expect(lines[1].hasPrefix("     5  ") && lines[1].hasSuffix("process.exited(camera.1, exited(1))"))
        }
        #expect(try replay("--last", "\(Int.max)").code == 0)
    }

    @Test func whatKillsAProcessIsTriedInAnother() {
        #expect(Replay.survives {})
        #expect(!Replay.survives { abort() })
    }

    @Test func aStepThatThisVersionDiesOfIsTold() throws {
        try play()
        try hear(.timePassed, writesDecision: false)
        try begin(with: core.archived())
        try hear(.timePassed)
        var replay = Replay { _ in false }
        var records = FlightRecords(bytes)
        var told: [(number: Int, isDecided: Bool)] = []
        var shown = ""
        let console = Console.captured(output: { shown += $0 }, error: { _ in }, width: nil)
        let options = try GlobalOptions.parse([])
        let view = ReplayView(Session(console, options), app: nil, last: nil, compares: true)
        let hear = { (replay: Replay, part: Replay.Part) in
            if case .step(let step) = part { told.append((step.number, step.effects != nil)) }
            view.take(replay, part)
        }
        while let record = try records.next() { replay.hear(record, hear) }
        replay.finish(isCutShort: false, hear)
        view.end(replay, lost: 0)
        #expect(shown.contains("     4  ") && shown.contains("!! this version dies of it, as curfewd may have"))
        #expect(shown.hasSuffix("5 steps, decided as recorded; this version dies of one of them\n"))
        #expect(told.map(\.number) == [1, 2, 3, 4, 5] && told.map(\.isDecided) == [true, true, true, false, true])
        #expect(replay.isFatal && replay.differing == 0)
    }

    @Test func anAppThatIsNotInIt() throws {
        try play()
        let outcome = try replay("--app", "camrea")
        #expect(outcome.code == 3 && outcome.error.contains("no app “camrea” is in the recording"), "\(outcome)")
    }

    @Test func whatComesBeforeABeginningIsPassedOver() throws {
        try hear(.timePassed)
        #expect(try replay().output == "0 steps\n")
    }

    @Test func aCopyForOthersHasNoNames_andReplaysAsTheOriginal() throws {
        let copy = file + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try play()
        let adopted = TaskParameters(name: "private")
        try hear(.client(.requested(RequestID(rawValue: 7), .adopt(app: "task-private", adopted))))
        try begin(with: core.archived())
        try hear(.process(.exited(InstanceID(rawValue: 1), .exited(3))))
        let outcome = try replay("--anonymous", copy)
        #expect(outcome.code == 0 && outcome.output.contains("5 steps, "), "\(outcome)")
        let written = try Data(contentsOf: URL(filePath: copy))
        for text in ["camera", "private", "boot-1"] { #expect(written.range(of: Data(text.utf8)) == nil, "\(text)") }
        let shown = PlayedDaemon.run(["replay", copy]).output
        #expect(shown.contains("task-x") && shown.hasSuffix("5 steps, decided as recorded\n"), "\(shown)")
        let again = try replay("--anonymous", copy)
        #expect(again.code == 1 && again.error.contains("File exists"), "\(again)")
        #expect(try Data(contentsOf: URL(filePath: copy)) == written)
    }

    @Test func aCopyForOthersIsNoOtherStory() throws {
        try play()
        try hear(.process(.exited(InstanceID(rawValue: 1), .exited(3))), writesDecision: false)
        try hear(.timePassed)
        let outcome = try replay("--anonymous", file + "-copy")
        #expect(outcome.code == 1 && outcome.error.contains("decides 1 step otherwise"), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: file + "-copy"))
    }
}
