/// The core's state as bytes, in both directions: one function per type lists its fields, and the same list writes
/// them and reads them back.
///
/// Each field has a number, which it keeps for ever; those of a type are listed in ascending order. A reader that is
/// older or newer than the writer passes over fields that it does not know, and leaves those that are missing as they
/// are. A number whose meaning is gone is not given to another.
///
/// What is read is not trusted: it ends with a checksum, so that a wrong byte anywhere makes the archive `failed`; and
/// what passes that is still checked wherever a number could lead to a crash.
public struct StateArchive {
    public private(set) var bytes: [UInt8]
    public let isReading: Bool
    private var change: TextChange?
    /// What was read is damaged.
    public private(set) var failed = false
    /// While reading: the next byte, and where the group ends.
    private var offset = 0
    private var end = 0
    /// While writing: the last field of the group.
    private var last = 0

    /// What follows a field's number.
    private enum Kind: UInt64 {
        case absent, number
        /// Their count, and the bytes: a text or a group of fields.
        case bytes
    }

    /// Of what one step changes.
    private static let usualLength = 1024

    /// No list in a state is longer; a damaged count must not allocate more.
    static let countLimit = 100_000
    /// A text with its length, and a group with its own.
    private static let bitsOfKind: UInt64 = 2

    public init() {
        bytes = []
        bytes.reserveCapacity(Self.usualLength)
        isReading = false
    }

    /// What was written before.
    public init(reading bytes: [UInt8], change: TextChange? = nil) {
        self.bytes = bytes
        self.change = change
        end = bytes.count
        isReading = true
    }

    /// Digits of the checksum at the end, and the space after it.
    private static let sealLength = 17

    /// The bytes with their checksum (FNV-1a, 64 bits, hexadecimal) at the end. No two that differ in one byte have
    /// the same.
    public static func sealed(_ text: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = Array("0123456789abcdef".utf8)
        var sealed = text
        for place in stride(from: 60, through: 0, by: -4) { sealed.append(digits[Int(hash >> UInt64(place) & 15)]) }
        sealed.append(UInt8(ascii: " "))
        return sealed
    }

    /// What was sealed; nil where the checksum is another.
    public static func opened(_ sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count >= sealLength else { return nil }
        let text = Array(sealed[..<(sealed.count - sealLength)])
        return Self.sealed(text) == sealed ? text : nil
    }

    /// What was read makes no sense.
    public mutating func fail() { failed = true }

    // MARK: Fields

    /// A number.
    public mutating func value(_ field: Int, _ value: inout Int64) {
        if isReading {
            guard let kind = find(field) else { return }
            guard kind == .number else { return fail() }
            let folded = readNumber()
            value = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
        } else {
            // So that small negative ones are short, too.
            append(head(field, .number), UInt64(bitPattern: value << 1 ^ value >> 63))
        }
    }

    /// One of a machine's word; what does not fit there is refused.
    public mutating func value(_ field: Int, _ value: inout Int) {
        var wide = Int64(value)
        self.value(field, &wide)
        // 32 bits on many boards.
        guard let narrow = Int(exactly: wide) else { return fail() }
        value = narrow
    }

    /// The same bits as an Int64.
    public mutating func value(_ field: Int, _ value: inout UInt64) {
        var wide = Int64(bitPattern: value)
        self.value(field, &wide)
        value = UInt64(bitPattern: wide)
    }

    /// 0 or 1.
    public mutating func value(_ field: Int, _ value: inout Bool) {
        var wide: Int64 = value ? 1 : 0
        self.value(field, &wide)
        if wide != 0 && wide != 1 { fail() }
        value = wide == 1
    }

    /// A span or a moment.
    public mutating func value(_ field: Int, _ value: inout Nanoseconds) { self.value(field, &value.rawValue) }

    /// UTF-8.
    public mutating func value(_ field: Int, _ value: inout String) {
        if isReading {
            guard find(field) != nil, let content = readContent() else { return }
            value = change.read(bytes[content])
            offset = content.upperBound
        } else {
            append(head(field, .bytes), UInt64(value.utf8.count))
            bytes.append(contentsOf: value.utf8)
        }
    }

    /// An identifier, or an enumeration by its raw value; one that is not known is refused.
    public mutating func raw<T: RawRepresentable>(_ field: Int, _ value: inout T) where T.RawValue: FixedWidthInteger {
        var wide = Int64(truncatingIfNeeded: value.rawValue)
        self.value(field, &wide)
        guard isReading else { return }
        if let number = T.RawValue(exactly: wide), let known = T(rawValue: number) {
            value = known
        } else {
            fail()
        }
    }

    /// Fields of a part, with numbers of their own.
    public mutating func group(_ field: Int, _ each: (inout StateArchive) -> Void) {
        if isReading {
            guard find(field) != nil, let content = readContent() else { return }
            inside(content, each)
        } else {
            begin(field, .bytes)
            writeContent(each)
        }
    }

    /// The same, of a part that may be missing. blank: what is read into.
    public mutating func optional<T>(
        _ field: Int, _ value: inout T?, _ blank: T, _ each: (inout StateArchive, inout T) -> Void
    ) {
        if isReading {
            guard let kind = find(field) else { return }
            guard kind != .absent, let content = readContent() else {
                value = nil
                return
            }
            var present = blank
            inside(content) { each(&$0, &present) }
            value = present
        } else if var present = value {
            begin(field, .bytes)
            writeContent { each(&$0, &present) }
        } else {
            begin(field, .absent)
        }
    }

    /// The function of an element that is long is not to be inlined: it is called in two places here.
    public mutating func list<T>(
        _ field: Int, _ list: inout [T], _ blank: T, _ each: (inout StateArchive, inout T) -> Void
    ) {
        if isReading {
            guard find(field) != nil, let content = readContent() else { return }
            list = []
            while offset < content.upperBound, !failed {
                guard list.count < Self.countLimit, let element = readContent(upTo: content.upperBound) else {
                    return fail()
                }
                var next = blank
                inside(element) { each(&$0, &next) }
                list.append(next)
            }
        } else {
            begin(field, .bytes)
            writeContent { archive in
                for index in list.indices { archive.writeContent { each(&$0, &list[index]) } }
            }
        }
    }

    // MARK: Writing

    private mutating func begin(_ field: Int, _ kind: Kind) { append(head(field, kind)) }

    private mutating func head(_ field: Int, _ kind: Kind) -> UInt64 {
        assert(field > last, "fields are listed in ascending order")
        last = field
        return UInt64(field) << Self.bitsOfKind | kind.rawValue
    }

    /// Seven bits a byte, the lowest first; all but the last have the eighth.
    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// A field's head and its number, at once: most of a state is that.
    @inline(never)
    private mutating func append(_ head: UInt64, _ number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { room in
            var count = 0
            func put(_ number: UInt64) {
                var rest = number
                while rest > 0x7f {
                    room[count] = UInt8(truncatingIfNeeded: rest) | 0x80
                    count += 1
                    rest >>= 7
                }
                room[count] = UInt8(rest)
                count += 1
            }
            put(head)
            put(number)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: room[..<count]))
        }
    }

    /// The length is put before it once it is known.
    private mutating func writeContent(_ each: (inout StateArchive) -> Void) {
        let (start, outer) = (bytes.count, last)
        last = 0
        bytes.append(0)
        each(&self)
        last = outer
        let length = bytes.count - start - 1
        if length <= 0x7f {
            bytes[start] = UInt8(length)
            return
        }
        // It takes more than the one byte.
        let content = bytes.count
        append(UInt64(length))
        let digits = Array(bytes[content...])
        bytes.removeLast(digits.count)
        bytes.replaceSubrange(start...start, with: digits)
    }

    // MARK: Reading

    /// Goes to the field; nil: the group has none.
    private mutating func find(_ field: Int) -> Kind? {
        while offset < end, !failed {
            let start = offset
            let head = readNumber()
            guard let kind = Kind(rawValue: head & 3) else {
                fail()
                return nil
            }
            let found = head >> Self.bitsOfKind
            if found == UInt64(field) { return kind }
            if found > UInt64(field) {
                offset = start
                return nil
            }
            switch kind {
            case .absent: break
            case .number: _ = readNumber()
            case .bytes: offset = readContent()?.upperBound ?? end
            }
        }
        return nil
    }

    private mutating func readNumber() -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while offset < end, shift < 64 {
            let byte = bytes[offset]
            offset += 1
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        fail()
        return 0
    }

    /// Where it lies; what is read next is its beginning. Fails where it is no field of bytes, as its length is another
    /// then.
    private mutating func readContent() -> Range<Int>? { readContent(upTo: end) }

    private mutating func readContent(upTo limit: Int) -> Range<Int>? {
        let length = readNumber()
        guard !failed, length <= UInt64(max(0, limit - offset)) else {
            fail()
            return nil
        }
        return offset..<(offset + Int(length))
    }

    private mutating func inside(_ content: Range<Int>, _ each: (inout StateArchive) -> Void) {
        let outer = end
        (offset, end) = (content.lowerBound, content.upperBound)
        each(&self)
        (offset, end) = (content.upperBound, outer)
    }
}

/// A value that is no part of the state: two states are equal whatever it is.
struct Aside<Value: Sendable>: Equatable, Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }

    static func == (one: Aside, other: Aside) -> Bool { true }
}
