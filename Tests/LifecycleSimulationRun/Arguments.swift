/// What is to be run.
struct Arguments {
    struct Wrong: Error { let message: String }

    static let usage = """
        usage: lifecycle-simulation --seeds N [--from S] [--steps N] [--calm] [--keep-going] [--current FILE]
               lifecycle-simulation --seed X [--steps N] [--calm] [--trace]
        """

    var from: UInt64 = 1
    var seeds: UInt64 = 1000
    var steps: Int?
    var wantsTrace = false
    /// Boards without conditions.
    var isCalm = false
    /// One line for each seed that fails, in place of the first one's trace.
    var keepsGoing = false
    /// Where the seed at hand is written, for whoever must say which one crashed.
    var current: String?

    init(_ words: [String]) throws(Wrong) {
        var words = words[...]
        while let word = words.popFirst() {
            switch word {
            case "--seeds": seeds = try Self.number(word, &words)
            case "--from": from = try Self.number(word, &words)
            case "--seed":
                from = try Self.number(word, &words)
                seeds = 1
            case "--steps": steps = Int(clamping: try Self.number(word, &words))
            case "--trace": wantsTrace = true
            case "--calm": isCalm = true
            case "--keep-going": keepsGoing = true
            case "--current": current = words.popFirst()
            default: throw Wrong(message: "unknown argument \(word)")
            }
        }
    }

    private static func number(_ option: String, _ words: inout ArraySlice<String>) throws(Wrong) -> UInt64 {
        guard let word = words.popFirst(), let number = UInt64(word) else {
            throw Wrong(message: "\(option) wants a number")
        }
        return number
    }
}
