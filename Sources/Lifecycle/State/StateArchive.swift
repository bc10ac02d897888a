/// The core's state as text, in both directions: one function per type lists its fields, and the same list writes
/// them and reads them back. Numbers are decimal, texts are length:bytes, everything is separated by a space.
///
/// What is read is not trusted: it ends with a checksum, so that a wrong byte anywhere makes the archive `failed`; and
/// what passes that is still checked wherever a number could lead to a crash.
public struct StateArchive {
    private(set) var bytes: [UInt8]
    private var offset = 0
    let isReading: Bool
    private(set) var failed = false

    /// No list in a state is longer; a damaged count must not allocate more.
    static let countLimit = 100_000

    init() {
        bytes = []
        isReading = false
    }

    init(reading bytes: [UInt8]) {
        self.bytes = bytes
        isReading = true
    }

    /// Digits of the checksum at the end, and the space after it.
    private static let sealLength = 17

    /// The text with its checksum (FNV-1a, 64 bits, hexadecimal) at the end. No two texts that differ in one byte have
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
    static func opened(_ sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count >= sealLength else { return nil }
        let text = Array(sealed[..<(sealed.count - sealLength)])
        return Self.sealed(text) == sealed ? text : nil
    }

    /// Whether everything was read, and nothing was wrong.
    var isComplete: Bool { !failed && offset == bytes.count }

    mutating func fail() { failed = true }

    mutating func value(_ value: inout Int64) {
        if isReading {
            value = readNumber()
        } else {
            bytes.append(contentsOf: "\(value) ".utf8)
        }
    }

    mutating func value(_ value: inout Int) {
        var wide = Int64(value)
        self.value(&wide)
        // 32 bits on many boards.
        guard let narrow = Int(exactly: wide) else { return fail() }
        value = narrow
    }

    mutating func value(_ value: inout UInt64) {
        var wide = Int64(bitPattern: value)
        self.value(&wide)
        value = UInt64(bitPattern: wide)
    }

    mutating func value(_ value: inout Bool) {
        var wide: Int64 = value ? 1 : 0
        self.value(&wide)
        if wide != 0 && wide != 1 { fail() }
        value = wide == 1
    }

    mutating func value(_ value: inout Nanoseconds) { self.value(&value.rawValue) }

    mutating func value(_ value: inout String) {
        if isReading {
            value = readText()
        } else {
            bytes.append(contentsOf: "\(value.utf8.count):".utf8)
            bytes.append(contentsOf: value.utf8)
            bytes.append(UInt8(ascii: " "))
        }
    }

    /// An identifier, or an enumeration by its raw value.
    mutating func raw<T: RawRepresentable>(_ value: inout T) where T.RawValue: FixedWidthInteger {
        var wide = Int64(truncatingIfNeeded: value.rawValue)
        self.value(&wide)
        guard isReading else { return }
        if let number = T.RawValue(exactly: wide), let known = T(rawValue: number) {
            value = known
        } else {
            fail()
        }
    }

    mutating func optional<T>(_ value: inout T?, _ blank: T, _ each: (inout StateArchive, inout T) -> Void) {
        var present = value != nil
        self.value(&present)
        guard present, !failed else {
            value = nil
            return
        }
        var content = value ?? blank
        each(&self, &content)
        value = content
    }

    /// The function of an element that is long is not to be inlined: it is called in two places here.
    mutating func list<T>(_ list: inout [T], _ blank: T, _ each: (inout StateArchive, inout T) -> Void) {
        var count = list.count
        value(&count)
        if isReading {
            list = []
            guard count >= 0, count <= Self.countLimit else { return fail() }
            for _ in 0..<count where !failed {
                var element = blank
                each(&self, &element)
                list.append(element)
            }
        } else {
            for index in list.indices { each(&self, &list[index]) }
        }
    }

    private mutating func readNumber() -> Int64 {
        var end = offset
        while end < bytes.count, bytes[end] != UInt8(ascii: " ") { end += 1 }
        guard end < bytes.count, end - offset <= 20,
            let number = Int64(String(decoding: bytes[offset..<end], as: UTF8.self))
        else {
            fail()
            return 0
        }
        offset = end + 1
        return number
    }

    private mutating func readText() -> String {
        var length = 0
        while offset < bytes.count, bytes[offset] >= UInt8(ascii: "0"), bytes[offset] <= UInt8(ascii: "9"),
            length <= bytes.count
        {
            length = length * 10 + Int(bytes[offset] - UInt8(ascii: "0"))
            offset += 1
        }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ":"), length < bytes.count - offset - 1,
            bytes[offset + 1 + length] == UInt8(ascii: " ")
        else {
            fail()
            return ""
        }
        let text = String(decoding: bytes[(offset + 1)..<(offset + 1 + length)], as: UTF8.self)
        offset += length + 2
        return text
    }
}
