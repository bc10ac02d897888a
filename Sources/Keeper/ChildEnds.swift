internal import CLinux

/// The last words of the loop's children that ended lately: a loop that dies may have been told of an end, and not have
/// said so to the next one.
struct ChildEnds {
    /// More than end between the last state that a loop has written and the next loop.
    private static let limit = 256

    private var words: [keeper_word] = []
    private var next = 0

    mutating func add(_ word: keeper_word) {
        if words.count < Self.limit { return words.append(word) }
        words[next] = word
        next = (next + 1) % Self.limit
    }

    /// The oldest first.
    var inOrder: [keeper_word] { Array(words[next...] + words[..<next]) }

    /// For a loop that asks for one that is not there.
    func word(of id: Int64) -> keeper_word {
        if let known = words.first(where: { $0.id == id }) { return known }
        var word = keeper_word()
        word.kind = UInt32(KEEPER_UNKNOWN)
        word.id = id
        return word
    }
}

extension keeper_word {
    /// For another version of this program.
    var numbers: [Int64] {
        [
            Int64(kind), Int64(pid), id, Int64(step), Int64(error), Int64(detail), Int64(code), Int64(status), cpu_ns,
            max_rss_bytes,
        ]
    }

    init(_ record: Handover.Record) {
        self.init()
        kind = UInt32(truncatingIfNeeded: record[0])
        (pid, id) = (record.short(1), record[2])
        (step, error, detail) = (record.short(3), record.short(4), record.short(5))
        (code, status) = (record.short(6), record.short(7))
        (cpu_ns, max_rss_bytes) = (record[8], record[9])
    }
}
