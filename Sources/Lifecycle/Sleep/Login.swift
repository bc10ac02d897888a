/// What is known of logind, and the delay locks that are held there.
struct Login: Equatable {
    /// logind's own default for InhibitDelayMaxUSec.
    static let defaultDelayMax = Nanoseconds.seconds(5)

    enum Lock: UInt8, CaseIterable { case none, requested, held }

    /// One state a kind of lock.
    struct Locks: Equatable {
        var sleep = Lock.none
        var shutdown = Lock.none
        var keepAwake = Lock.none

        subscript(kind: LockKind) -> Lock {
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
    var delayMax: Nanoseconds?
    var locks = Locks()
    /// Not asked for again until something changes.
    var isKeepAwakeRefused = false
}

extension DeviceLifecycle {
    /// logind is there, for the first time or again. Its properties say what we may have missed.
    mutating func loginDidAppear(delayMax: Nanoseconds?, sleeping: Bool, shuttingDown: Bool) {
        forgetLogin()
        login.isAvailable = true
        login.delayMax = delayMax
        if !sleeping {
            // A logind that was restarted has forgotten the sleep: its edge would never come.
            if sleep.isAnnouncedByLogin { endSleep(cancelled: false, heardFromLogin: true) }
            if sleep.state == .awake || sleep.state == .darkWake { takeLock(.sleep) }
        } else {
            announceSleep(since: now.monotonic, logical: false, byLogin: true)
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
        login = Login()
        touchHolders()
        // Nobody will answer the question any more.
        if sleep.recheckAt == .max { sleep.recheckAt = now.monotonic }
        if sleep.state == .awake || sleep.state == .darkWake {
            sleep.echo = .none
            sleep.recheckAt = nil
        }
    }

    /// The clocks have told of a resume before logind did: until it does too, that it refuses a sleep lock is no news.
    public var expectsRefusal: Bool { sleep.echo == .end }

    mutating func takeLock(_ kind: LockKind) {
        guard login.isAvailable, login.locks[kind] == .none else { return }
        login.locks[kind] = .requested
        emit(.takeLock(kind))
    }

    mutating func releaseLock(_ kind: LockKind) {
        guard login.locks[kind] == .held else { return }
        login.locks[kind] = .none
        emit(.releaseLock(kind))
    }

    mutating func lockWasTaken(_ kind: LockKind) {
        guard login.locks[kind] == .requested else { return }
        login.locks[kind] = .held
        switch kind {
        case .sleep:
            switch sleep.state {
            // An edge between the last reading of the property and this lock would otherwise be missed.
            case .awake, .darkWake: emit(.readPreparingForSleep)
            // logind's clock runs for us after all.
            case .preparing: if sleep.isAnnouncedByLogin { boundSleep(since: sleep.since) }
            case .asleep: releaseForSleep()
            }
        case .shutdown:
            if shutdown.isOver, shutdown.isAnnounced { releaseLock(.shutdown) }
        case .keepAwake: touchHolders()
        }
    }

    mutating func lockWasRefused(_ kind: LockKind) {
        guard login.locks[kind] == .requested else { return }
        login.locks[kind] = .none
        if kind == .sleep, sleep.state == .awake || sleep.state == .darkWake { emit(.readPreparingForSleep) }
        if kind == .keepAwake { login.isKeepAwakeRefused = true }
    }
}
