/// What is known of logind, and the locks that are held there. All moments are MONOTONIC.
struct Login: Equatable {
    /// logind's own default for InhibitDelayMaxUSec.
    static let defaultDelayMax = Nanoseconds.seconds(5)
    /// How long an answer of logind is waited for, should its client not give up sooner (`LogindClient.Limits`). A lock
    /// that is not answered is waited for twice as long the next time.
    static let patience = Nanoseconds.seconds(30)
    static let longestPatience = Nanoseconds.seconds(120)

    /// logind is asked so often: after the release, without any sign of sleep, whether it still means it; awake, for
    /// the sleep lock that it refused, and whether an old sleep is over.
    static let recheckDelay = Nanoseconds.seconds(30)

    enum LockState: UInt8, CaseIterable { case none, requested, held }

    /// One value for each kind of lock.
    struct PerLock<Value: Equatable & Sendable>: Equatable, Sendable {
        var sleep: Value
        var shutdown: Value
        var keepAwake: Value

        init(_ value: Value) { (sleep, shutdown, keepAwake) = (value, value, value) }

        subscript(kind: LockKind) -> Value {
            get {
                switch kind {
                case .sleep: sleep
                case .shutdown: shutdown
                case .keepAwake: keepAwake
                }
            }
            set {
                switch kind {
                case .sleep: sleep = newValue
                case .shutdown: shutdown = newValue
                case .keepAwake: keepAwake = newValue
                }
            }
        }
    }

    private(set) var isAvailable = false
    /// It was there before, so what it says now is not from before our time.
    private(set) var wasAvailable = false
    /// nil: unknown.
    private(set) var delayMax: Nanoseconds?
    private(set) var locks = PerLock(LockState.none)
    /// A lock that is asked for: until then its answer is waited for. One that was refused: it is asked for again then.
    private(set) var lockDue = PerLock<Nanoseconds?>(nil)
    /// How long that is: longer each time that it is not granted.
    private(set) var lockPatience = PerLock<Nanoseconds?>(nil)
    /// Until then the answer to `readPreparingForSleep` is waited for; nil: it was not asked.
    private(set) var answerDue: Nanoseconds?
    /// Not asked for again until something changes.
    private(set) var isKeepAwakeRefused = false
    /// The board has slept since the sleep lock was asked for: that it is granted may be from before.
    private(set) var isGrantOld = false
    /// BOOTTIME less MONOTONIC when a predecessor heard of a sleep; nil: it did not, or its end has been heard.
    private(set) var notedSleep: Nanoseconds?

    // MARK: It comes and goes

    mutating func note(_ timeAsleep: Nanoseconds) { notedSleep = timeAsleep }

    /// It is gone, with all locks. A predecessor's note is about the first word of any logind.
    mutating func forget() {
        let former = self
        self = Login()
        wasAvailable = former.wasAvailable
        notedSleep = former.notedSleep
    }

    mutating func appear(delayMax: Nanoseconds?) {
        notedSleep = nil
        isAvailable = true
        wasAvailable = true
        self.delayMax = delayMax
    }

    /// nil: it did not say.
    mutating func hear(delayMax: Nanoseconds?) {
        if let delayMax { self.delayMax = delayMax }
    }

    /// How long it waits for a delay lock.
    var inhibitDelay: Nanoseconds { delayMax ?? Self.defaultDelayMax }

    // MARK: Locks

    private func patience(_ kind: LockKind) -> Nanoseconds { lockPatience[kind] ?? Self.patience }

    private mutating func lose(_ kind: LockKind) {
        locks[kind] = .none
        lockPatience[kind] = patience(kind).doubled(upTo: Self.longestPatience)
    }

    /// Returns whether it is to be asked for.
    mutating func ask(for kind: LockKind, at now: Nanoseconds) -> Bool {
        guard isAvailable, locks[kind] == .none else { return false }
        locks[kind] = .requested
        if kind == .sleep { isGrantOld = false }
        lockDue[kind] = now + patience(kind)
        return true
    }

    /// Returns whether it was held, and is to be given back.
    mutating func release(_ kind: LockKind) -> Bool {
        guard locks[kind] == .held else { return false }
        locks[kind] = .none
        return true
    }

    enum Granted { case held, known, useless }

    /// isWelcome: though the question may have been given up.
    mutating func wasGranted(_ kind: LockKind, isWelcome: Bool) -> Granted {
        switch locks[kind] {
        case .held: return .known
        case .none where !isWelcome: return .useless
        case .none, .requested:
            locks[kind] = .held
            lockDue[kind] = nil
            lockPatience[kind] = nil
            return .held
        }
    }

    /// Returns whether it was asked for. When it is asked for again:
    ///
    /// - for sleep, after `recheckDelay`;
    /// - for a shutdown, after `lockPatience`, which a refusal doubles as a missing answer does: 60 s at first;
    /// - to keep awake, with the next task that wants it, and when something has changed (`forgetRefusal`).
    mutating func wasRefused(_ kind: LockKind, at now: Nanoseconds) -> Bool {
        guard locks[kind] == .requested else { return false }
        lose(kind)
        // That for a shutdown ends with the shutdown that it is refused for, whose end may not be heard.
        lockDue[kind] = kind == .shutdown ? now + patience(kind) : nil
        if kind == .keepAwake { isKeepAwakeRefused = true }
        return true
    }

    /// What it is refused for may be over.
    mutating func forgetRefusal() { isKeepAwakeRefused = false }

    /// The board has slept.
    mutating func doubtGrant() { isGrantOld = locks[.sleep] == .requested }

    /// Returns whether its time is over: of the question, which is given up, or of the rest after a "no".
    mutating func judge(_ kind: LockKind, at now: Nanoseconds) -> Bool {
        guard let due = lockDue[kind], due <= now else { return false }
        lockDue[kind] = nil
        if locks[kind] == .requested { lose(kind) }
        return true
    }

    // MARK: Whether it prepares a sleep

    mutating func askPreparing(at now: Nanoseconds) { answerDue = now + Self.patience }
    mutating func heardPreparing() { answerDue = nil }
    func isAnswerOverdue(at now: Nanoseconds) -> Bool { answerDue.map { $0 <= now } ?? false }

    /// When it is asked again.
    var nextDeadline: Deadline? {
        var next = answerDue ?? .max
        for kind in LockKind.allCases { next = min(next, lockDue[kind] ?? .max) }
        return next == .max ? nil : Deadline(at: next, reason: .login)
    }

    var fault: Fault? {
        for kind in LockKind.allCases {
            if locks[kind] == .requested, lockDue[kind] == nil { return .questionWithoutEnd }
            if locks[kind] != .none, !isAvailable { return .lockOfNone }
        }
        return nil
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &isAvailable)
        archive.optional(2, &delayMax, .zero) { $0.value(1, &$1) }
        archive.raw(3, &locks.sleep)
        archive.raw(4, &locks.shutdown)
        archive.raw(5, &locks.keepAwake)
        archive.value(6, &wasAvailable)
        archive.group(7) {
            for kind in LockKind.allCases { $0.optional(kind.field, &lockDue[kind], .zero) { $0.value(1, &$1) } }
        }
        archive.group(8) {
            for kind in LockKind.allCases { $0.optional(kind.field, &lockPatience[kind], .zero) { $0.value(1, &$1) } }
        }
        archive.optional(9, &answerDue, .zero) { $0.value(1, &$1) }
        archive.value(10, &isKeepAwakeRefused)
        archive.value(11, &isGrantOld)
        archive.optional(12, &notedSleep, .zero) { $0.value(1, &$1) }
    }
}
