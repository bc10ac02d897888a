internal import CLinux
internal import SystemCalls

/// A directory of sysfs and its attributes: small texts, each of which may be missing, empty, nonsense or end in an
/// error (EIO, ENODEV when the device goes away while it is read).
struct AttributeDirectory {
    let path: String
    /// Milliseconds for each attribute.
    private let patience: Int32

    init(_ path: String, patience: Int32 = Files.sharedPatience) {
        self.path = path
        self.patience = patience
    }

    /// Never inlined: joining strings is long code, and there are many of them.
    @inline(never) func file(_ name: String) -> String { path + "/" + name }

    func directory(_ name: String) -> AttributeDirectory { AttributeDirectory(file(name), patience: patience) }

    /// The subdirectories whose names start so, sorted by name; none where there is no such directory. Throws ETIMEDOUT
    /// where another user keeps the list from being read: then it is not known what is there.
    func children(prefix: StaticString = "") throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try Files.listShared(path)
                .filter { strncmp($0, prefix.characters, prefix.utf8CodeUnitCount) == 0 }
        } catch {
            if error.errno == .timedOut { throw error }
            return []
        }
    }

    /// Without white space at the end; nil where it cannot be read, in time, or is empty.
    func text(_ name: String) -> [UInt8]? {
        guard var bytes = try? Files.readShared(file(name), limit: 256, within: patience) else { return nil }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: " ") { bytes.removeLast() }
        return bytes.isEmpty ? nil : bytes
    }

    /// A decimal number of at most 12 digits, so that sums of a few, times 1000, never overflow; nil for anything else.
    func number(_ name: String) -> Int64? { text(name).flatMap(Self.number) }

    static func number(_ text: [UInt8]) -> Int64? {
        let negative = text.first == UInt8(ascii: "-")
        let digits = text.dropFirst(negative ? 1 : 0)
        guard !digits.isEmpty, digits.count <= 12 else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int64(digit &- UInt8(ascii: "0"))
        }
        return negative ? -value : value
    }
}

/// Where a text stands in a table of words; nil where it does not.
func index(of text: [UInt8], in words: [StaticString]) -> Int? {
    words.firstIndex {
        text.count == $0.utf8CodeUnitCount && text.starts(with: $0)
    }
}

extension [UInt8] {
    func starts(with word: StaticString) -> Bool {
        count >= word.utf8CodeUnitCount && memcmp(self, word.utf8Start, word.utf8CodeUnitCount) == 0
    }
}

extension StaticString {
    /// For C, with its NUL.
    var characters: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

/// What was in a directory the last time that it was known.
final class LastNames {
    private var names: [String] = []

    func now(in directory: AttributeDirectory) -> [String] {
        if let found = try? directory.children() { names = found }
        return names
    }
}
