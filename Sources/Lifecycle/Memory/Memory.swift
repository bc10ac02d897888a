/// What is known of the board's memory. All moments are MONOTONIC.
struct Memory: Equatable {
    /// A level of pressure is over when nothing was heard of it for so long.
    static let quiet = Nanoseconds.seconds(10)
    /// How long the answer to `read` is waited for; after that the kernel's next word is a new question.
    static let answerBound = Nanoseconds.seconds(10)
    /// Between the end of one app and the next decision.
    static let pause = Nanoseconds.seconds(1)

    /// As long as nothing more is heard, the level holds until then.
    private(set) var warningEnd: Nanoseconds?
    private(set) var criticalEnd: Nanoseconds?
    /// As last announced.
    private(set) var pressure = MemoryPressure.normal
    /// The level for which the shell was asked to read; nil: it was not.
    private(set) var askedLevel: MemoryLevel?
    /// Its answer is not waited for any longer.
    private(set) var answerDue: Nanoseconds?
    /// That no app is left to be ended has been said of the present shortage.
    private(set) var isExhaustionSaid = false
    /// What was freed last has to show first.
    private(set) var nextJetsam = Nanoseconds.zero

    /// The kernel says that apps wait for memory. Returns whether it is to be read: two answers could not be told from
    /// each other, and the kernel says so again.
    mutating func heard(_ level: MemoryLevel, at now: Nanoseconds) -> Bool {
        guard askedLevel == nil else { return false }
        askedLevel = level
        answerDue = now + Self.answerBound
        return true
    }

    private mutating func forgetQuestion() {
        askedLevel = nil
        answerDue = nil
    }

    /// That processes wait for memory counts only where little is available: with more than half of the total it means
    /// nothing, with more than a quarter it is a warning.
    /// Returns whether apps are to be ended.
    mutating func didRead(available: Int64, total: Int64, at now: Nanoseconds) -> Bool {
        guard let level = askedLevel else { return false }
        forgetQuestion()
        if available > total / 2 { return false }
        warningEnd = now + Self.quiet
        guard level == .critical, available <= total / 4 else { return false }
        criticalEnd = warningEnd
        return now >= nextJetsam
    }

    /// Apps are ended, or would be if there were any.
    mutating func beginPause(at now: Nanoseconds) { nextJetsam = now + Self.pause }

    /// No app is left to be ended. Returns whether that is to be said.
    mutating func noteExhaustion() -> Bool {
        let isNews = !isExhaustionSaid
        isExhaustionSaid = true
        return isNews
    }

    struct Change: Equatable {
        var before: MemoryPressure
        var after: MemoryPressure

        var isWorse: Bool { after.rawValue > before.rawValue }
    }

    /// Takes over what is so by now; nil: nothing else.
    mutating func settle(at now: Nanoseconds) -> Change? {
        if let due = answerDue, due <= now { forgetQuestion() }
        if let end = criticalEnd, end <= now { criticalEnd = nil }
        if let end = warningEnd, end <= now { warningEnd = nil }
        let change = Change(
            before: pressure, after: criticalEnd != nil ? .critical : warningEnd != nil ? .warning : .normal)
        guard change.after != change.before else { return nil }
        if change.before == .critical { isExhaustionSaid = false }
        pressure = change.after
        return change
    }

    var nextDeadline: Deadline? {
        let due = min(criticalEnd ?? .max, warningEnd ?? .max, answerDue ?? .max)
        return due == .max ? nil : Deadline(at: due, reason: .memory)
    }

    var fault: Fault? { (askedLevel == nil) == (answerDue == nil) ? nil : .questionWithoutEnd }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &warningEnd, .zero) { $0.value(1, &$1) }
        archive.optional(2, &criticalEnd, .zero) { $0.value(1, &$1) }
        archive.raw(3, &pressure)
        archive.optional(4, &askedLevel, .warning) { $0.raw(1, &$1) }
        archive.optional(5, &answerDue, .zero) { $0.value(1, &$1) }
        archive.value(6, &isExhaustionSaid)
        archive.value(7, &nextJetsam)
    }
}
