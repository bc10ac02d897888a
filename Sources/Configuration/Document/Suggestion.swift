/// The word that was probably meant; nil where none is near.
func nearest(to word: String, among known: [String]) -> String? {
    let typed = folded(word)
    guard typed.count <= 40 else { return nil }
    var best: (word: String, distance: Int)?
    for candidate in known {
        let distance = editDistance(typed, folded(candidate))
        let tolerance = candidate.utf8.count <= 4 ? 1 : 2
        if distance <= tolerance, distance < (best?.distance ?? .max) { best = (candidate, distance) }
    }
    return best?.word
}

/// Lower case, "_" as "-".
private func folded(_ word: String) -> [UInt8] {
    word.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
        case UInt8(ascii: "_"): UInt8(ascii: "-")
        default: byte
        }
    }
}

/// Levenshtein's: letters to put in, take out or replace.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, byte) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, other) in right.enumerated() {
            let replaced = diagonal + (byte == other ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
        }
    }
    return row[right.count]
}
