/// What is known of logind, and the delay locks that are held there.
struct Login: Equatable {
    /// logind's own default for InhibitDelayMaxUSec.
    static let defaultDelayMax = Nanoseconds.seconds(5)

    enum Lock: UInt8, CaseIterable { case none, requested, held }

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

    var isAvailable = false
    /// It was there before, so what it says now is not from before our time.
    var wasAvailable = false
    var delayMax: Nanoseconds?
    var locks = PerLock(Lock.none)
    /// MONOTONIC: until then the answer to the question for a lock is waited for; or, where it was not to be had, it is
    /// asked for again.
    var lockDue = PerLock<Nanoseconds?>(nil)
    /// How long that is: longer each time that it is not granted.
    var lockPatience = PerLock<Nanoseconds?>(nil)
    /// MONOTONIC: until then the answer to `readPreparingForSleep` is waited for; nil: it was not asked.
    var answerDue: Nanoseconds?
    /// Not asked for again until something changes.
    var isKeepAwakeRefused = false
    /// The board has slept since the sleep lock was asked for: that it is granted may be from before.
    var isGrantOld = false
    /// BOOTTIME less MONOTONIC when a predecessor heard of a sleep; nil: it did not, or its end has been heard.
    var notedSleep: Nanoseconds?
}

extension DeviceLifecycle {
    /// How long an answer of logind is waited for, and how long a question that was answered with "no" rests.
    static let loginPatience = Nanoseconds.seconds(30)
    static let longestPatience = Nanoseconds.seconds(120)

    /// logind is there, for the first time or again. Its properties say what we may have missed.
    mutating func loginDidAppear(delayMax: Nanoseconds?, sleeping: Bool, shuttingDown: Bool) {
        let isFirst = !login.wasAvailable
        let noted = login.notedSleep
        forgetLogin()
        login.notedSleep = nil
        login.isAvailable = true
        login.wasAvailable = true
        login.delayMax = delayMax
        if !sleeping {
            // A logind that was restarted has forgotten the sleep: its edge would never come.
            if sleep.isAnnouncedByLogin { endSleep(cancelled: false, heardFromLogin: true) }
            if sleep.isUp { takeLock(.sleep) }
        } else if sleep.state == .awake || sleep.isLogical, let noted, now.timeAsleep - noted > Self.sleepThreshold {
            // Announced to a predecessor, and slept: logind has still to say that it is over.
            if sleep.state == .awake { expectEnd() } else { sleep.echo = .end }
        } else {
            let isDoubtful = sleep.isDoubtful || isFirst && sleep.state == .awake
            // Asleep, it may mean the present one as well.
            announceSleep(
                since: now.monotonic, logical: false, byLogin: true, isDoubtful: isDoubtful, isAnswer: true)
        }
        if shuttingDown {
            hearPrepareForShutdown(true, delayMax: delayMax, signalled: now.monotonic)
        } else {
            cancelShutdown()
            takeLock(.shutdown)
        }
    }

    mutating func loginDidVanish() {
        forgetLogin()
        // Nobody is there any more who could put the board to sleep again.
        if !sleep.isLogical { wakeFully() }
    }

    private mutating func forgetLogin() {
        let former = login
        login = Login()
        login.wasAvailable = former.wasAvailable
        // A predecessor's note is about the first word of any logind.
        login.notedSleep = former.notedSleep
        touchHolders()
        conditions.restWish.hasten(at: now.monotonic)
        // The question will not be answered any more.
        if sleep.nap?.question == .asked {
            let now = now.monotonic
            sleep.stage.change { (nap: inout Nap) in nap.question = .due(now) }
        }
        // Its job is not this logind's.
        sleep.echo = .none
        if sleep.isUp { sleep.echoDue = nil }
    }

    /// The clocks have told of a resume before logind did: until it does too, that it refuses a sleep lock is no news.
    public var expectsRefusal: Bool { sleep.echo == .end }

    mutating func takeLock(_ kind: LockKind) {
        guard login.isAvailable, login.locks[kind] == .none else { return }
        login.locks[kind] = .requested
        if kind == .sleep { login.isGrantOld = false }
        login.lockDue[kind] = now.monotonic + patience(kind)
        emit(.login(.takeLock(kind)))
    }

    /// Asks logind whether it prepares a sleep.
    mutating func readPreparing() {
        login.answerDue = now.monotonic + Self.loginPatience
        emit(.login(.readPreparingForSleep))
    }

    /// What logind has not answered in time it will not answer: asked again, or taken for a "no".
    mutating func judgeLogin() {
        for kind in LockKind.allCases {
            guard let due = login.lockDue[kind], due <= now.monotonic else { continue }
            login.lockDue[kind] = nil
            if login.locks[kind] == .requested { loseLock(kind) }
            retryLock(kind)
        }
        guard let due = login.answerDue, due <= now.monotonic else { return }
        login.answerDue = nil
        hearPreparingForSleep(nil)
    }

    private func patience(_ kind: LockKind) -> Nanoseconds { login.lockPatience[kind] ?? Self.loginPatience }

    private mutating func loseLock(_ kind: LockKind) {
        login.locks[kind] = .none
        login.lockPatience[kind] = patience(kind).doubled(upTo: Self.longestPatience)
    }

    /// Whether a lock that comes late is welcome.
    private func wantsLock(_ kind: LockKind) -> Bool {
        guard login.isAvailable else { return false }
        return switch kind {
        case .sleep: sleep.isUp && sleep.echo != .end
        case .shutdown: !shutdown.isAnnounced
        // Whatever became of an earlier question.
        case .keepAwake: keepAwakeCount > 0
        }
    }

    private mutating func retryLock(_ kind: LockKind) {
        switch kind {
        // What logind refuses it for may be an old sleep: see `recheckLogin`.
        case .sleep, .shutdown: if wantsLock(kind) { takeLock(kind) }
        case .keepAwake: touchHolders()
        }
    }

    /// When logind is asked again.
    var loginDeadline: Deadline? {
        var next = login.answerDue ?? .max
        for kind in LockKind.allCases { next = min(next, login.lockDue[kind] ?? .max) }
        return next == .max ? nil : Deadline(at: next, reason: .login)
    }

    mutating func releaseLock(_ kind: LockKind) {
        guard login.locks[kind] == .held else { return }
        login.locks[kind] = .none
        emit(.login(.releaseLock(kind)))
    }

    mutating func lockWasTaken(_ kind: LockKind) {
        guard login.locks[kind] == .requested || login.locks[kind] == .none && wantsLock(kind) else {
            // The question had been given up, and by now it is of no use.
            if login.locks[kind] == .none { emit(.login(.releaseLock(kind))) }
            return
        }
        login.locks[kind] = .held
        login.lockDue[kind] = nil
        login.lockPatience[kind] = nil
        // Given back at once, or a board that is idle would be taken for one that is not.
        if kind == .keepAwake, keepAwakeCount == 0 { return releaseLock(kind) }
        switch kind {
        case .sleep:
            switch sleep.state {
            // An edge between the last reading of the property and this lock would otherwise be missed.
            case .awake, .darkWake:
                // logind grants none while it is in a sleep.
                if sleep.echo == .end, !login.isGrantOld { sleep.echo = .none }
                sleep.echoDue = sleep.echo == .end ? now.monotonic + Self.cancellationDelay : nil
                readPreparing()
            // logind's clock runs for us after all.
            case .preparing: if sleep.isAnnouncedByLogin { boundSleep(since: sleep.since) }
            case .asleep: releaseForSleep()
            }
        case .shutdown:
            if shutdown.isOver, shutdown.isAnnounced { releaseLock(.shutdown) }
        case .keepAwake:
            login.isKeepAwakeRefused = false
            touchHolders()
        }
    }

    mutating func lockWasRefused(_ kind: LockKind) {
        guard login.locks[kind] == .requested else { return }
        loseLock(kind)
        login.lockDue[kind] = nil
        switch kind {
        case .sleep: if sleep.isUp, sleep.echo != .end { readPreparing() }
        // It ends with the shutdown that it is refused for, whose end may not be heard.
        case .shutdown: login.lockDue[kind] = now.monotonic + patience(kind)
        case .keepAwake: login.isKeepAwakeRefused = true
        }
    }
}
