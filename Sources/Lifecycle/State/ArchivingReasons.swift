// Why apps ended, as numbers and texts.

extension TerminationReason {
    mutating func archive(_ archive: inout StateArchive) {
        var flat = FlatReason(self)
        archive.raw(1, &flat.kind)
        archive.list(2, &flat.numbers, 0) { $0.value(1, &$1) }
        archive.list(3, &flat.texts, "") { $0.value(1, &$1) }
        guard archive.isReading else { return }
        if let reason = flat.reason { self = reason } else { archive.fail() }
    }
}

/// A reason without its shape. A number that fits none of them is refused.
private struct FlatReason {
    enum Kind: UInt8 {
        case handlerOverrun, readinessMissed, exitOverrun, livenessMissed, taskBudgetSpent, taskBudgetRanOut
        case memoryCritical, killedForMemory, overheated, lowBattery, endedByOperator, configurationRemoved, exited
        case exitedUnseen, signalled, launchFailed, launchTimedOut, shutdown, unknown, unfreezable
        case sleepLockHeld, lockTableFilled, loopDied
    }

    var kind: Kind
    var numbers: [Int64] = []
    var texts: [String] = []

    private init(kind: Kind, _ numbers: [Int64] = [], _ texts: [String] = []) {
        self.kind = kind
        self.numbers = numbers
        self.texts = texts
    }

    init(_ reason: TerminationReason) {
        switch reason {
        case .handlerOverrun(let handler, let time):
            self.init(kind: .handlerOverrun, [Int64(handler.rawValue), time.rawValue])
        case .readinessMissed(let time): self.init(kind: .readinessMissed, [time.rawValue])
        case .exitOverrun(let time): self.init(kind: .exitOverrun, [time.rawValue])
        case .livenessMissed(let time): self.init(kind: .livenessMissed, [time.rawValue])
        case .taskBudgetSpent(let time, let held, let more):
            self.init(kind: .taskBudgetSpent, [time.rawValue, Int64(more)], held)
        case .taskBudgetRanOut(let time): self.init(kind: .taskBudgetRanOut, [time.rawValue])
        case .memoryCritical(let available, let bytes, let isProtected):
            self.init(kind: .memoryCritical, [available, bytes, isProtected ? 1 : 0])
        case .killedForMemory(let killer): self.init(kind: .killedForMemory, [Int64(killer.rawValue)])
        case .overheated: self.init(kind: .overheated)
        case .lowBattery(let level): self.init(kind: .lowBattery, level.map { [Int64($0)] } ?? [])
        case .endedByOperator(let isForced): self.init(kind: .endedByOperator, [isForced ? 1 : 0])
        case .configurationRemoved: self.init(kind: .configurationRemoved)
        case .exited(let status): self.init(kind: .exited, [Int64(status)])
        case .exitedUnseen: self.init(kind: .exitedUnseen)
        case .signalled(let number): self.init(kind: .signalled, [Int64(number)])
        case .launchFailed(let number, let words): self.init(kind: .launchFailed, [Int64(number)], [words])
        case .launchTimedOut(let time): self.init(kind: .launchTimedOut, [time.rawValue])
        case .shutdown: self.init(kind: .shutdown)
        case .unknown: self.init(kind: .unknown)
        case .unfreezable: self.init(kind: .unfreezable)
        case .sleepLockHeld: self.init(kind: .sleepLockHeld)
        case .lockTableFilled: self.init(kind: .lockTableFilled)
        case .loopDied(let number): self.init(kind: .loopDied, [Int64(number)])
        }
    }

    /// nil where numbers or texts are missing, or out of range.
    var reason: TerminationReason? {
        switch kind {
        case .handlerOverrun:
            guard let number = UInt8(exactly: number(0)), let handler = Handler(rawValue: number) else { return nil }
            return .handlerOverrun(handler, allowance: time(1))
        case .readinessMissed: return .readinessMissed(allowance: time(0))
        case .exitOverrun: return .exitOverrun(allowance: time(0))
        case .livenessMissed: return .livenessMissed(interval: time(0))
        case .taskBudgetSpent:
            return .taskBudgetSpent(budget: time(0), held: texts, more: Int(truncatingIfNeeded: number(1)))
        case .taskBudgetRanOut: return .taskBudgetRanOut(budget: time(0))
        case .memoryCritical:
            return .memoryCritical(available: number(0), bytes: number(1), isProtected: number(2) == 1)
        case .killedForMemory:
            guard let number = UInt8(exactly: number(0)) else { return nil }
            return MemoryKiller(rawValue: number).map { .killedForMemory(by: $0) }
        case .overheated: return .overheated
        case .lowBattery: return .lowBattery(level: numbers.first.map { Int(truncatingIfNeeded: $0) })
        case .endedByOperator: return .endedByOperator(isForced: number(0) == 1)
        case .configurationRemoved: return .configurationRemoved
        case .exited: return Int32(exactly: number(0)).map { .exited(status: $0) }
        case .exitedUnseen: return .exitedUnseen
        case .signalled: return Int32(exactly: number(0)).map { .signalled($0) }
        case .launchFailed:
            guard let number = Int32(exactly: number(0)), let words = texts.first else { return nil }
            return .launchFailed(errno: number, words)
        case .launchTimedOut: return .launchTimedOut(bound: time(0))
        case .shutdown: return .shutdown
        case .unknown: return .unknown
        case .unfreezable: return .unfreezable
        case .sleepLockHeld: return .sleepLockHeld
        case .lockTableFilled: return .lockTableFilled
        case .loopDied: return Int32(exactly: number(0)).map { .loopDied(signal: $0) }
        }
    }

    private func number(_ place: Int) -> Int64 { numbers.indices.contains(place) ? numbers[place] : 0 }
    private func time(_ place: Int) -> Nanoseconds { Nanoseconds(rawValue: number(place)) }
}
