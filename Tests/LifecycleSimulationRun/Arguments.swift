/// What is to be run.
struct Arguments {
    struct Wrong: Error { let message: String }

    static let usage = """
        usage: lifecycle-simulation [--seeds N] [--steps-total N] [--from S] [--jobs N] [--steps N] [--calm]
                                    [--friendly] [--dense] [--keep-going] [--no-shrink] [--only CHECKER]
               lifecycle-simulation --seed X [--steps N] [--calm] [--friendly] [--dense] [--trace] [--shrink]
                                    [--record FILE]
        """

    var from: UInt64 = 1
    /// nil: 1000, or as many as `stepsTotal` takes.
    var seeds: UInt64?
    /// One seed alone, in this process.
    var isReplay = false
    /// The search ends when so many steps are done.
    var stepsTotal: UInt64?
    var jobs = 1
    var steps: Int?
    /// The name of the one checker that looks; nil for all.
    var only: String?
    var wantsTrace = false
    /// Where the seed's recording goes.
    var recording: String?
    /// The shortest story of a seed that fails.
    var wantsShrinking = false
    var mayShrink = true
    /// Boards without conditions.
    var isCalm = false
    var isFriendly = false
    /// More faults at once.
    var isDense = false
    /// One line for each seed that fails, in place of the first one's trace.
    var keepsGoing = false
    /// One of several processes of a search: which, and the descriptor of what they share.
    var worker: (index: Int, descriptor: Int32)?

    init(_ words: [String]) throws(Wrong) {
        var words = words[...]
        var index: Int?
        var descriptor: Int32?
        while let word = words.popFirst() {
            switch word {
            case "--seeds": seeds = try Self.number(word, &words)
            case "--from": from = try Self.number(word, &words)
            case "--seed":
                from = try Self.number(word, &words)
                isReplay = true
            case "--steps-total": stepsTotal = try Self.number(word, &words)
            case "--jobs": jobs = max(1, min(Int(clamping: try Self.number(word, &words)), 256))
            case "--steps": steps = Int(clamping: try Self.number(word, &words))
            case "--only": only = words.popFirst()
            case "--trace": wantsTrace = true
            case "--record":
                guard let file = words.popFirst() else { throw Wrong(message: "\(word) wants a file") }
                recording = file
            case "--shrink": wantsShrinking = true
            case "--no-shrink": mayShrink = false
            case "--calm": isCalm = true
            case "--friendly": isFriendly = true
            case "--dense": isDense = true
            case "--keep-going": keepsGoing = true
            case "--worker": index = Int(clamping: try Self.number(word, &words))
            case "--shared": descriptor = Int32(clamping: try Self.number(word, &words))
            default: throw Wrong(message: "unknown argument \(word)")
            }
        }
        if let index, let descriptor { worker = (index, descriptor) }
    }

    private static func number(_ option: String, _ words: inout ArraySlice<String>) throws(Wrong) -> UInt64 {
        guard let word = words.popFirst(), let number = UInt64(word) else {
            throw Wrong(message: "\(option) wants a number")
        }
        return number
    }
}
