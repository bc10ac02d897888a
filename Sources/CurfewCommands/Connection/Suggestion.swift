/// "Did you mean …?"
enum Suggestion {
    /// The known name that is closest to what was typed, if any is close enough to be meant.
    static func closest(to typed: String, among known: [String]) -> String? {
        let limit = typed.count <= 3 ? 1 : 2
        var best: (name: String, distance: Int)?
        for name in known {
            let isPart = typed.count >= 3 && (name.hasPrefix(typed) || typed.hasPrefix(name) && name.count >= 3)
            let distance = isPart ? 1 : self.distance(Array(typed.utf8), Array(name.utf8))
            if distance <= limit, distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
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
