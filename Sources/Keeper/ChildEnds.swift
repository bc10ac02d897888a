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

    /// For a loop that asks for one that is not there.
    func word(of id: Int64) -> keeper_word {
        if let known = words.first(where: { $0.id == id }) { return known }
        var word = keeper_word()
        word.kind = UInt32(KEEPER_UNKNOWN)
        word.id = id
        return word
    }
}
