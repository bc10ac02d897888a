/// "Did you mean …?"
public enum Suggestion {
    /// The known word that was probably meant; nil where none is near. Upper case and "_" for "-" make no difference.
    public static func closest(to typed: String, among known: [String]) -> String? {
        let typed = folded(typed)
        guard typed.count <= 40 else { return nil }
        var best: (word: String, distance: Int)?
        for word in known {
            let candidate = folded(word)
            let distance = min(self.distance(typed, candidate), isPart(typed, candidate) ? 1 : .max)
            let tolerance = min(typed.count, candidate.count - 1) <= 3 ? 1 : 2
            if distance <= tolerance, distance < best?.distance ?? .max { best = (word, distance) }
        }
        return best?.word
    }

    /// One is the beginning of the other.
    private static func isPart(_ typed: [UInt8], _ candidate: [UInt8]) -> Bool {
        typed.count >= 3 && candidate.count >= 3 && (candidate.starts(with: typed) || typed.starts(with: candidate))
    }

    /// Lower case, "_" as "-".
    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
            case UInt8(ascii: "_"): UInt8(ascii: "-")
            default: byte
            }
        }
    }

    /// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var next = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            before = last
            last = next
        }
        return last[right.count]
    }
}
