/// The recording of a run: what the core was as it began, every event with its instant, and what was decided.
///
/// It is a row of records, each after its length and a check sum, both of four bytes, the lowest first. What follows
/// one that is damaged counts from the next beginning on.
public enum FlightRecord: Equatable, Sendable {
    /// core: its state, sealed; empty: a new one. boot: the kernel's boot_id. realtime: of CLOCK_REALTIME, beside the
    /// instant.
    case begin(version: String, boot: String, realtime: Nanoseconds, Instant, core: [UInt8])
    case heard(Instant, Event)
    /// On the event before it, as bytes.
    case decided([UInt8])

    /// How events, effects and records are written; to be raised with every change of that, a new case too: a reader
    /// of another format reads nothing of them. What is in archives has `DeviceLifecycle.formatVersion`.
    static let format: UInt8 = 2
    /// Of the length and the check sum.
    public static let headSize = 8
    /// Bytes; no record is longer. A state that is (of some 2,000 apps) begins no recording.
    public static let limit = 1 << 20

    /// The record with its head; nil: it is too long.
    public static func framed(_ body: [UInt8]) -> [UInt8]? {
        guard body.count <= limit else { return nil }
        var bytes = [UInt8](repeating: 0, count: headSize)
        bytes.reserveCapacity(headSize + body.count)
        put(UInt32(body.count), in: &bytes, at: 0)
        put(checkSum(body[...]), in: &bytes, at: 4)
        bytes.append(contentsOf: body)
        return bytes
    }

    private static func put(_ number: UInt32, in bytes: inout [UInt8], at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt32(8 * index)) }
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }

    /// FNV-1a, of 32 bits.
    private static func checkSum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    /// The record that begins there; nil: it is cut short or damaged.
    static func body(_ bytes: [UInt8], at place: Int) -> ArraySlice<UInt8>? {
        guard bytes.count - place >= headSize else { return nil }
        let length = Int(number(bytes, at: place))
        guard length > 0, length <= limit, length <= bytes.count - place - headSize else { return nil }
        let body = bytes[(place + headSize)..<(place + headSize + length)]
        return checkSum(body) == number(bytes, at: place + 4) ? body : nil
    }
}

extension FlightRecord {
    static let mark: [UInt8] = Array("curfew recording".utf8)

    /// The body of a beginning, to be framed.
    public static func writeBegin(
        version: String, boot: String, realtime: Nanoseconds, _ instant: Instant, core: [UInt8],
        to record: inout RecordWriter
    ) {
        record.put(case: 0)
        for byte in mark { record.put(case: byte) }
        record.put(case: format)
        record.put(version)
        record.put(boot)
        record.put(realtime)
        record.put(instant)
        record.put(bytes: core)
    }

    /// The body of an event.
    public static func write(_ event: Event, at instant: Instant, to record: inout RecordWriter) {
        record.put(case: 1, instant, event)
    }

    /// The body of what was decided on the event before it.
    public static func write(_ effects: [Effect], to record: inout RecordWriter) { record.put(case: 2, effects) }

    /// The same as in `decided`.
    public static func bytes(of effects: [Effect]) -> [UInt8] {
        var record = RecordWriter()
        record.put(effects)
        return record.bytes
    }

    /// Of a version whose words this one does not know.
    public struct OtherFormat: Error {
        public var version: String
    }

    /// What a body says. Throws where it is damaged; of an older or newer format nothing but the version is read.
    static func read(_ body: ArraySlice<UInt8>, change: TextChange? = nil) throws(RecordDamage)
        -> Result<FlightRecord, OtherFormat>
    {
        var reader = RecordReader(Array(body), change: change)
        let record = try read(&reader, body)
        // No writer of this format leaves anything after it.
        if case .success(.heard) = record, !reader.isAtEnd { throw RecordDamage() }
        return record
    }

    private static func read(_ reader: inout RecordReader, _ body: ArraySlice<UInt8>) throws(RecordDamage)
        -> Result<FlightRecord, OtherFormat>
    {
        switch try reader.byte() {
        case 0:
            for expected in mark where try reader.byte() != expected { throw RecordDamage() }
            let format = try reader.byte()
            let version: String = try reader.take()
            guard format == Self.format else { return .failure(OtherFormat(version: version)) }
            return .success(
                .begin(
                    version: version, boot: try reader.take(), realtime: try reader.take(), try reader.take(),
                    core: try reader.content()))
        case 1: return .success(.heard(try reader.take(), try reader.take()))
        case 2: return .success(.decided(Array(body.dropFirst())))
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

/// Reads a recording, record by record.
public struct FlightRecords {
    private let bytes: [UInt8]
    private var place = 0
    private var version = ""
    /// Bytes that were passed over: damaged, or cut short.
    public private(set) var lost = 0

    private let change: TextChange?

    public init(_ bytes: [UInt8], change: TextChange? = nil) {
        self.bytes = bytes
        self.change = change
    }

    /// nil: it is at an end. Throws for what another version has written; the next is the beginning after that.
    public mutating func next() throws(FlightRecord.OtherFormat) -> FlightRecord? {
        while place < bytes.count {
            guard let body = FlightRecord.body(bytes, at: place) else {
                lost += skip()
                continue
            }
            guard let read = try? FlightRecord.read(body, change: change) else {
                // Written so, as its check sum says: by a version that has more words than it should.
                if !version.isEmpty {
                    _ = skip()
                    throw FlightRecord.OtherFormat(version: version)
                }
                lost += skip()
                continue
            }
            switch read {
            case .success(let record):
                place += FlightRecord.headSize + body.count
                if case .begin(let version, _, _, _, _) = record { self.version = version }
                return record
            case .failure(let other):
                _ = skip()
                throw other
            }
        }
        return nil
    }

    /// To the next beginning. Returns the bytes in between.
    private mutating func skip() -> Int {
        let from = place
        place += 1
        while place < bytes.count, !isBeginning { place += 1 }
        return place - from
    }

    private var isBeginning: Bool {
        let mark = FlightRecord.mark
        let begin = place + FlightRecord.headSize + 1
        guard begin + mark.count <= bytes.count, bytes[begin..<(begin + mark.count)].elementsEqual(mark) else {
            return false
        }
        return FlightRecord.body(bytes, at: place) != nil
    }
}
