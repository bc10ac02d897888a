internal import Configuration

/// Something that is done to the app.
enum TryAction: Equatable {
    case front, background, sleep, wake
    /// "warning" or "critical".
    case memoryWarning(String)
    case condition(TryBoardWord)
    /// Seconds.
    case skip(Double)

    var text: String {
        switch self {
        case .front: "front"
        case .background: "background"
        case .sleep: "sleep"
        case .wake: "wake"
        case .memoryWarning(let level): "memory-warning" + (level == "warning" ? "" : " \(level)")
        case .condition(let word): word.text
        case .skip(let seconds): "skip \(Amounts.duration(seconds))"
        }
    }
}

/// Something that may be true of the app.
enum TryExpectation: Equatable {
    case active, inactive, background, suspended
    /// It has ended since the step before, or does not run.
    case ended
    /// A background task is held; nil: any.
    case task(String?)
    case noTasks

    var text: String {
        switch self {
        case .active: "active"
        case .inactive: "inactive"
        case .background: "background"
        case .suspended: "suspended"
        case .ended: "ended"
        case .task(let name): name.map { "task \($0)" } ?? "tasks"
        case .noTasks: "no-tasks"
        }
    }
}

/// What `curfew try --script` performs.
struct TryScript: Equatable {
    enum Step: Equatable {
        case act(TryAction)
        case expect(TryExpectation)
        /// seconds: how long it may take.
        case waitFor(TryExpectation, seconds: Double)
    }

    struct Line: Equatable {
        let number: Int
        let step: Step
        /// As it was written.
        let text: String
    }

    /// What is wrong with a line.
    struct Mistake: Error, Equatable {
        let line: Int
        let text: String
    }

    static let patience = 10.0
    private(set) var lines: [Line] = []
    private(set) var mistakes: [Mistake] = []

    /// A step a line; empty lines and what follows a # are left out.
    init(_ text: String) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
                .split { $0 == " " || $0 == "\t" }.map(String.init)
            guard let first = words.first else { continue }
            do throws(Complaint) {
                let step = try Self.step(first, Array(words.dropFirst()))
                lines.append(Line(number: index + 1, step: step, text: words.joined(separator: " ")))
            } catch {
                mistakes.append(Mistake(line: index + 1, text: error.text))
            }
        }
    }

    struct Complaint: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static let words =
        [
            "front", "background", "sleep", "wake", "memory-warning", "skip", "expect", "wait-for",
        ] + TryBoardWord.words
    private static let conditions: [(String, TryExpectation)] = [
        ("active", .active), ("inactive", .inactive), ("background", .background), ("suspended", .suspended),
        ("ended", .ended), ("tasks", .task(nil)), ("no-tasks", .noTasks),
    ]

    private static func step(_ word: String, _ rest: [String]) throws(Complaint) -> Step {
        switch word {
        case "front": return try alone(.front, word, rest)
        case "background": return try alone(.background, word, rest)
        case "sleep": return try alone(.sleep, word, rest)
        case "wake": return try alone(.wake, word, rest)
        case "memory-warning":
            guard rest.count <= 1, ["warning", "critical"].contains(rest.first ?? "warning") else {
                throw Complaint("expected 'memory-warning' or 'memory-warning critical'")
            }
            return .act(.memoryWarning(rest.first ?? "warning"))
        case "skip":
            let seconds = try duration(rest)
            if seconds <= 0 { throw Complaint("skip takes a time, such as: skip 5 minutes") }
            return .act(.skip(seconds))
        case "expect":
            let (condition, left) = try condition(rest)
            if !left.isEmpty { throw Complaint("'\(left[0])' is too much after 'expect \(condition.text)'") }
            return .expect(condition)
        case "wait-for":
            let (condition, left) = try condition(rest)
            if left.isEmpty { return .waitFor(condition, seconds: patience) }
            guard left[0] == "within" else {
                throw Complaint("expected 'within' and a time after 'wait-for \(condition.text)', not '\(left[0])'")
            }
            return .waitFor(condition, seconds: try duration(Array(left.dropFirst())))
        case _ where TryBoardWord.words.contains(word): return .act(.condition(try TryBoardWord(word, rest)))
        default:
            let question = Suggestion.closest(to: word, among: words).map { "; did you mean '\($0)'?" } ?? ""
            throw Complaint("no step '\(word)'\(question) (\(words.joined(separator: ", ")))")
        }
    }

    private static func alone(_ action: TryAction, _ word: String, _ rest: [String]) throws(Complaint) -> Step {
        if let more = rest.first { throw Complaint("'\(more)' is too much after '\(word)'") }
        return .act(action)
    }

    private static func duration(_ words: [String]) throws(Complaint) -> Double {
        do throws(DurationText.Malformed) {
            return Double(try DurationText.nanoseconds(words.joined(separator: " "))) / 1e9
        } catch {
            throw Complaint("expected \(error.expected)")
        }
    }

    private static func condition(_ words: [String]) throws(Complaint) -> (TryExpectation, [String]) {
        let known = conditions.map(\.0) + ["task"]
        guard let first = words.first else { throw Complaint("expected one of: \(known.joined(separator: ", "))") }
        if first == "task" {
            guard words.count > 1 else { throw Complaint("expected the task's name after 'task'") }
            let end = words.firstIndex(of: "within") ?? words.count
            return (.task(words[1..<max(end, 2)].joined(separator: " ")), Array(words[max(end, 2)...]))
        }
        if let found = conditions.first(where: { $0.0 == first }) { return (found.1, Array(words.dropFirst())) }
        let question = Suggestion.closest(to: first, among: known).map { "; did you mean '\($0)'?" } ?? ""
        throw Complaint("nothing to wait for: '\(first)'\(question) (\(known.joined(separator: ", ")))")
    }
}
