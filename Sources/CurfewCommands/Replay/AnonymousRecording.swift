internal import Lifecycle

/// A recording without what apps, tasks and people are called on its board, and without what they have said: for
/// others. Each text has another in its place, the same each time and in the same order, so that it replays as before.
struct AnonymousRecording {
    /// Why there is none.
    enum Failure: Error {
        /// This version decides steps otherwise than was recorded: what it would write is another story.
        case decidesOtherwise(steps: Int)
        case otherVersion(String)
    }

    private(set) var bytes: [UInt8] = []
    private(set) var steps = 0
    private(set) var texts = 0

    /// contents: of files that follow each other, the oldest first.
    init(of contents: [[UInt8]]) throws(Failure) {
        let found = try Self.texts(in: contents)
        texts = found.count
        let others = Self.others(for: found)
        for bytes in contents { try copy(bytes) { others[$0] ?? $0 } }
    }

    /// All of them, but for versions. Throws unless all of it is decided as it was.
    private static func texts(in contents: [[UInt8]]) throws(Failure) -> Set<String> {
        var found: Set<String> = []
        var versions: Set<String> = []
        var replay = Replay()
        for bytes in contents {
            let noted = Noted()
            var records = FlightRecords(bytes, change: noted.take)
            while let record = try next(&records) {
                if case .begin(let version, _, _, _, let state) = record {
                    versions.insert(version)
                    _ = DeviceLifecycle(archive: state, change: noted.take)
                }
                replay.hear(record) { _, _ in }
            }
            found.formUnion(noted.texts)
        }
        replay.finish(isCutShort: true) { _, _ in }
        if let version = replay.passedOver { throw .otherVersion(version) }
        if replay.differing > 0 { throw .decidesOtherwise(steps: replay.differing) }
        return found.subtracting(versions).subtracting([""])
    }

    /// Leaves texts as they are.
    private final class Noted {
        private(set) var texts: Set<String> = []

        func take(_ text: String) -> String {
            texts.insert(text)
            return text
        }
    }

    /// In the order of the first, which the core may sort by; a task that was taken over stays one.
    private static func others(for texts: Set<String>) -> [String: String] {
        let digits = String(texts.count).utf8.count
        var others: [String: String] = [:]
        for (place, text) in texts.sorted().enumerated() {
            let number = String(place + 1)
            let prefix = text.utf8.starts(with: "task-".utf8) ? "task-x" : "x"
            others[text] = prefix + String(repeating: "0", count: digits - number.utf8.count) + number
        }
        return others
    }

    private static func next(_ records: inout FlightRecords) throws(Failure) -> FlightRecord? {
        do throws(FlightRecord.OtherFormat) {
            return try records.next()
        } catch {
            throw .otherVersion(error.version)
        }
    }

    private mutating func copy(_ original: [UInt8], _ change: @escaping TextChange) throws(Failure) {
        var records = FlightRecords(original, change: change)
        var core = DeviceLifecycle()
        var heard: (Instant, Event)?
        while let record = try Self.next(&records) {
            var writer = RecordWriter()
            switch record {
            case .begin(let version, let boot, let realtime, let instant, let state):
                core =
                    state.isEmpty
                    ? DeviceLifecycle() : DeviceLifecycle(archive: state, change: change) ?? DeviceLifecycle()
                FlightRecord.writeBegin(
                    version: version, boot: boot, realtime: realtime, instant,
                    core: state.isEmpty ? [] : core.archived(), to: &writer)
            case .heard(let instant, let event):
                // Nothing was decided on the one before.
                if let (instant, event) = heard { _ = core.handle(event, at: instant) }
                heard = (instant, event)
                steps += 1
                FlightRecord.write(event, at: instant, to: &writer)
            case .decided:
                guard let (instant, event) = heard else { continue }
                heard = nil
                FlightRecord.write(core.handle(event, at: instant), to: &writer)
            }
            bytes += FlightRecord.framed(writer.bytes) ?? []
        }
    }
}
