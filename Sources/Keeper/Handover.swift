internal import CLinux
internal import ProcessControl
internal import SystemCalls

/// What a keeper leaves to the program that it becomes, another version of its own: children, descriptors and what it
/// knows of ends, as records in memory of no file.
///
/// A record is its kind, the number of its numbers, these, the length of its text, and that. A reader passes over
/// kinds that it does not know and numbers after those that it knows; one that is missing is 0. `meaning` is raised
/// where something means something else: then the other version cannot go on.
struct Handover {
    static let meaning: Int64 = 3
    /// Holds the number of the descriptor, and whose it is: it is inherited by nothing.
    static let variable = "CURFEWD_HANDOVER"
    /// Why the version that this process had become has failed.
    private static let failure = "CURFEWD_HANDOVER_FAILURE"
    private static let limit = 16 << 20

    enum Kind: Int64 { case head = 1, child, end, orphanEnd, kept, inherited, failure, arguments, followed }

    struct Record {
        var kind: Int64
        var numbers: [Int64]
        var text = ""

        init(_ kind: Kind, _ numbers: [Int64], _ text: String = "") {
            self.kind = kind.rawValue
            self.numbers = numbers
            self.text = text
        }

        fileprivate init(kind: Int64, _ numbers: [Int64], _ text: String) {
            self.kind = kind
            self.numbers = numbers
            self.text = text
        }

        subscript(place: Int) -> Int64 { place < numbers.count ? numbers[place] : 0 }
        func short(_ place: Int) -> Int32 { Int32(truncatingIfNeeded: self[place]) }
    }

    var records: [Record] = []

    init() {}

    func all(_ kind: Kind) -> [Record] { records.filter { $0.kind == kind.rawValue } }

    mutating func add(_ kind: Kind, _ numbers: [Int64], _ text: String = "") {
        records.append(Record(kind, numbers, text))
    }

    // MARK: Bytes

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func put(_ number: Int64) { withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) } }
        put(Self.meaning)
        for record in records {
            put(record.kind)
            put(Int64(record.numbers.count))
            for number in record.numbers { put(number) }
            put(Int64(record.text.utf8.count))
            bytes.append(contentsOf: record.text.utf8)
        }
        return bytes
    }

    /// nil: of another meaning, or damaged.
    init?(_ bytes: [UInt8]) {
        var place = 0
        func take() -> Int64? {
            guard bytes.count - place >= 8 else { return nil }
            defer { place += 8 }
            return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Int64.self) }
        }
        func count(of size: Int) -> Int? {
            guard let count = take(), count >= 0, count <= Int64((bytes.count - place) / size) else { return nil }
            return Int(count)
        }
        guard take() == Self.meaning else { return nil }
        while place < bytes.count {
            guard let kind = take(), let length = count(of: 8) else { return nil }
            var numbers: [Int64] = []
            for _ in 0..<length { numbers.append(take() ?? 0) }
            guard let text = count(of: 1) else { return nil }
            records.append(Record(kind: kind, numbers, String(decoding: bytes[place..<(place + text)], as: UTF8.self)))
            place += text
        }
    }

    // MARK: From one program to the next

    /// Puts it where the program that this process becomes finds it. former: where that goes back to if it cannot
    /// read it; -1: nowhere.
    func leave(former: Int32) throws(SystemError) -> FileDescriptor {
        let number = linux_memory("handover")
        guard number >= 0 else { throw SystemError("memfd_create") }
        let file = FileDescriptor(owning: number)
        try file.writeAll(bytes)
        _ = lseek(number, 0, SEEK_SET)
        _ = linux_keep_over_exec(number, true)
        setenv(Self.variable, "\(number):\(getpid()):\(former)", 1)
        return file
    }

    static func forget() { unsetenv(variable) }

    /// What this process was left, when it was another program; nil: it begins. Where it cannot be read, this process
    /// becomes the other program again.
    static func find() throws(SystemError) -> Handover? {
        guard let value = getenv(variable).map({ String(cString: $0) }) else { return nil }
        let parts = value.utf8.split(separator: UInt8(ascii: ":")).map { String($0).flatMap { Int32($0) } }
        guard parts.count == 3, let number = parts[0], parts[1] == getpid(), let former = parts[2] else {
            forget()
            return nil
        }
        let file = FileDescriptor(owning: number)
        if var handover = Handover(try file.readAll(limit: limit)) {
            forget()
            if let reason = getenv(failure) { handover.add(.failure, [], String(cString: reason)) }
            unsetenv(failure)
            return handover
        }
        let problem = "it cannot read what the version before has left"
        if former >= 0 {
            setenv(variable, "\(number):\(getpid()):-1", 1)
            setenv(failure, problem, 1)
            _ = lseek(number, 0, SEEK_SET)
            Upgrade.become("", former, Upgrade.ownArguments)
        }
        throw SystemError(problem, errno: .invalid)
    }
}
