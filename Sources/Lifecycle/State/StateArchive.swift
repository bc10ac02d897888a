/// The core's state as text, in both directions: one function per type lists its fields, and the same list writes
/// them and reads them back. Numbers are decimal, texts are length:bytes, everything is separated by a space.
///
/// What is read is not trusted: a wrong byte anywhere makes the archive `failed`, never a crash.
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
        value = Int(wide)
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
