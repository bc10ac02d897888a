import Lifecycle
import LifecycleSimulation
import Testing

/// Recordings of whole lives: all kinds of events, state and decisions are in them.
@Suite struct RecordingTests {
    private static func recording(of seed: UInt64, steps: Int = 400) -> [UInt8] {
        var limits = SimulationLimits()
        limits.steps = steps
        limits.records = true
        return simulate(seed: seed, limits: limits).recording
    }

    private static let later = Instant(monotonic: .seconds(-7), boottime: .seconds(1 << 32))

    private static func records(_ bytes: [UInt8]) throws -> (records: [FlightRecord], lost: Int) {
        var reader = FlightRecords(bytes)
        var records: [FlightRecord] = []
        while let record = try reader.next() { records.append(record) }
        return (records, reader.lost)
    }

    @Test(arguments: 1...60) func theSameIsDecidedAgain(seed: UInt64) throws {
        let (records, lost) = try Self.records(Self.recording(of: seed))
        #expect(lost == 0 && records.count > 5)
        var core = DeviceLifecycle()
        var decided: [Effect] = []
        for (place, record) in records.enumerated() {
            switch record {
            case .begin(_, _, _, _, let state): core = try #require(DeviceLifecycle(archive: state))
            case .heard(let instant, let event):
                #expect(decided.isEmpty, "record \(place)")
                decided = core.handle(event, at: instant)
            case .decided(let bytes):
                #expect(FlightRecord.bytes(of: decided) == bytes, "record \(place)")
                decided = []
            }
        }
        #expect(decided.isEmpty)
    }

    @Test func everyKindOfEventIsReadAsItWasWritten() throws {
        var kinds: Set<String> = []
        for seed: UInt64 in 1...60 {
            for case .heard(_, let event) in try Self.records(Self.recording(of: seed)).records {
                // The first words: "process(…exited(" and the like.
                let words = "\(event)".split(separator: "(").prefix(2)
                kinds.insert(words.joined(separator: "("))
                var writer = RecordWriter()
                FlightRecord.write(event, at: Self.later, to: &writer)
                var reader = FlightRecords(try #require(FlightRecord.framed(writer.bytes)))
                #expect(try reader.next() == .heard(Self.later, event))
                #expect(try reader.next() == nil && reader.lost == 0)
            }
        }
        #expect(kinds.count > 40, "\(kinds.sorted())")
    }

    /// What is left of a recording that is cut short is what was written before the cut.
    @Test func aRecordingMayBeCutAnywhere() throws {
        let bytes = Self.recording(of: 7, steps: 40)
        let whole = try Self.records(bytes).records
        for length in bytes.indices {
            let (records, lost) = try Self.records(Array(bytes[..<length]))
            #expect(records == Array(whole.prefix(records.count)), "\(length) bytes")
            #expect(lost < length || length == 0 || records.isEmpty, "\(length) bytes")
        }
    }

    /// A wrong byte costs what comes before the next beginning, and changes nothing of what is read.
    @Test func noWrongByteIsTaken() throws {
        let bytes = Self.recording(of: 7, steps: 40)
        let two = bytes + bytes
        let whole = try Self.records(two).records
        for place in bytes.indices {
            var wrong = two
            wrong[place] ^= 0x55
            let (records, lost) = try Self.records(wrong)
            #expect(lost > 0, "byte \(place)")
            #expect(records.count < whole.count && records.allSatisfy(whole.contains), "byte \(place)")
            #expect(records.count >= whole.count / 2, "byte \(place)")
        }
    }
}
