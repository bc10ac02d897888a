// What is recorded of a run, as bytes: by position, a reader being of the same format as its writer.

/// What can be written into a record.
protocol Recorded {
    func write(to record: inout RecordWriter)
}

/// What can be read back.
protocol Replayed: Recorded {
    /// Throws where the bytes end before it does, or are none that a writer makes.
    init(from record: inout RecordReader) throws(RecordDamage)
}

/// A record is cut short, or was made by no writer of this format.
struct RecordDamage: Error {}

/// Appends to a record.
public struct RecordWriter {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Begins the next one in the same room.
    public mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    /// Seven bits a byte, the lowest first; all but the last have the eighth.
    mutating func put(bits: UInt64) {
        var rest = bits
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Small negative ones are short, too.
    mutating func put(number: Int64) { put(bits: UInt64(bitPattern: number << 1 ^ number >> 63)) }

    mutating func put(_ value: some Recorded) { value.write(to: &self) }

    mutating func put(bytes more: [UInt8]) {
        put(bits: UInt64(more.count))
        bytes.append(contentsOf: more)
    }

    /// What has its fields in archives.
    mutating func put(archive each: (inout StateArchive) -> Void) {
        var archive = StateArchive()
        each(&archive)
        put(bytes: archive.bytes)
    }

    // A case of an enumeration by its number, and what it has.

    mutating func put(case number: UInt8) { bytes.append(number) }

    mutating func put(case number: UInt8, _ one: some Recorded) {
        bytes.append(number)
        put(one)
    }

    mutating func put(case number: UInt8, _ one: some Recorded, _ two: some Recorded) {
        put(case: number, one)
        put(two)
    }

    mutating func put(case number: UInt8, _ one: some Recorded, _ two: some Recorded, _ three: some Recorded) {
        put(case: number, one, two)
        put(three)
    }

    mutating func put(
        case number: UInt8, _ one: some Recorded, _ two: some Recorded, _ three: some Recorded, _ four: some Recorded
    ) {
        put(case: number, one, two, three)
        put(four)
    }
}

/// Reads a record from its beginning.
struct RecordReader {
    private let bytes: [UInt8]
    private var offset = 0
    let change: TextChange?

    init(_ bytes: [UInt8], change: TextChange? = nil) {
        self.bytes = bytes
        self.change = change
    }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() throws(RecordDamage) -> UInt8 {
        guard offset < bytes.count else { throw RecordDamage() }
        offset += 1
        return bytes[offset - 1]
    }

    mutating func bits() throws(RecordDamage) -> UInt64 {
        var bits: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let next = try byte()
            bits |= UInt64(next & 0x7f) << UInt64(shift)
            if next < 0x80 { return bits }
        }
        throw RecordDamage()
    }

    mutating func number() throws(RecordDamage) -> Int64 {
        let folded = try bits()
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    mutating func take<Value: Replayed>() throws(RecordDamage) -> Value { try Value(from: &self) }

    mutating func content() throws(RecordDamage) -> [UInt8] {
        let count = try bits()
        guard count <= UInt64(bytes.count - offset) else { throw RecordDamage() }
        defer { offset += Int(count) }
        return Array(bytes[offset..<(offset + Int(count))])
    }

    mutating func archive(_ each: (inout StateArchive) -> Void) throws(RecordDamage) {
        var archive = StateArchive(reading: try content(), change: change)
        each(&archive)
        if archive.failed { throw RecordDamage() }
    }
}

extension Int64: Replayed {
    func write(to record: inout RecordWriter) { record.put(number: self) }
    init(from record: inout RecordReader) throws(RecordDamage) { self = try record.number() }
}

extension Recorded where Self: FixedWidthInteger {
    func write(to record: inout RecordWriter) { record.put(number: Int64(truncatingIfNeeded: self)) }
}

extension Replayed where Self: FixedWidthInteger {
    init(from record: inout RecordReader) throws(RecordDamage) {
        guard let value = Self(exactly: try record.number()) else { throw RecordDamage() }
        self = value
    }
}

extension Int: Replayed {}
extension Int32: Replayed {}

extension Bool: Replayed {
    func write(to record: inout RecordWriter) { record.put(case: self ? 1 : 0) }
    init(from record: inout RecordReader) throws(RecordDamage) { self = try record.byte() != 0 }
}

extension String: Replayed {
    func write(to record: inout RecordWriter) { record.put(bytes: Array(utf8)) }
    init(from record: inout RecordReader) throws(RecordDamage) {
        self = record.change.read(try record.content()[...])
    }
}

extension Optional: Recorded where Wrapped: Recorded {
    func write(to record: inout RecordWriter) {
        record.put(self != nil)
        if let self { record.put(self) }
    }
}

extension Optional: Replayed where Wrapped: Replayed {
    init(from record: inout RecordReader) throws(RecordDamage) {
        let isThere: Bool = try record.take()
        self = isThere ? try record.take() as Wrapped : nil
    }
}

extension Array: Recorded where Element: Recorded {
    func write(to record: inout RecordWriter) {
        record.put(bits: UInt64(count))
        for element in self { record.put(element) }
    }
}

extension Array: Replayed where Element: Replayed {
    init(from record: inout RecordReader) throws(RecordDamage) {
        self = []
        // A damaged count finds the end of the record before it takes much.
        for _ in 0..<(try record.bits()) { append(try record.take()) }
    }
}

// Identifiers, spans, and enumerations by their raw value.

extension Recorded where Self: RawRepresentable, RawValue: FixedWidthInteger {
    func write(to record: inout RecordWriter) { record.put(number: Int64(truncatingIfNeeded: rawValue)) }
}

extension Replayed where Self: RawRepresentable, RawValue: FixedWidthInteger {
    init(from record: inout RecordReader) throws(RecordDamage) {
        guard let raw = RawValue(exactly: try record.number()), let value = Self(rawValue: raw) else {
            throw RecordDamage()
        }
        self = value
    }
}

extension Nanoseconds: Replayed {}
extension AppID: Replayed {}
extension InstanceID: Replayed {}
extension CallID: Replayed {}
extension BackgroundTaskID: Replayed {}
extension RequestID: Replayed {}
extension LaunchReason: Replayed {}
extension ScenePhase: Replayed {}
extension Handler: Replayed {}
extension LockKind: Replayed {}
extension HardwareKey: Replayed {}
extension MemoryLevel: Replayed {}
extension MemoryKiller: Replayed {}
extension MemoryPressure: Replayed {}
extension ThermalState: Replayed {}
extension Condition: Replayed {}
extension SleepOutcome: Replayed {}
extension TaskChange: Replayed {}
extension Stuck: Replayed {}
extension Fault: Replayed {}

extension Instant: Replayed {
    func write(to record: inout RecordWriter) {
        record.put(monotonic)
        record.put(timeAsleep)
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        let monotonic: Nanoseconds = try record.take()
        self.init(monotonic: monotonic, boottime: monotonic + (try record.take()))
    }
}
