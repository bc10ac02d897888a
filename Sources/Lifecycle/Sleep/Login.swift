/// What is known of logind, and the delay locks that are held there.
struct Login: Equatable {
    /// logind's own default for InhibitDelayMaxUSec.
    static let defaultDelayMax = Nanoseconds.seconds(5)

    enum Lock: UInt8, CaseIterable { case none, requested, held }

    /// One state a kind of lock.
    struct Locks: Equatable {
        var sleep = Lock.none
        var shutdown = Lock.none

        subscript(kind: LockKind) -> Lock {
            get {
                switch kind {
                case .sleep: sleep
                case .shutdown: shutdown
                }
            }
            set {
                switch kind {
                case .sleep: sleep = newValue
                case .shutdown: shutdown = newValue
                }
            }
        }
    }

    var isAvailable = false
    var delayMax: Nanoseconds?
    var locks = Locks()
    /// The sleep lock was refused, and asked for once more since: nothing but an edge makes us ask again.
    var hasRetried = false
    /// The board has slept and is awake, and logind has not said so yet: until it does it refuses a lock, and its
    /// PreparingForSleep is of the sleep that is over.
    var awaitsResume = false
}

extension DeviceLifecycle {
    /// logind is there, for the first time or again. Its properties say what we may have missed.
    mutating func loginDidAppear(delayMax: Nanoseconds?, sleeping: Bool, shuttingDown: Bool) {
        login.isAvailable = true
        login.delayMax = delayMax
        login.locks = Login.Locks()
        login.hasRetried = false
        login.awaitsResume = false
        if !shuttingDown { cancelShutdown() }
        if !sleeping {
            if sleep.state == .asleep, sleep.isAnnouncedByLogin { endSleep(cancelled: false) }
            if sleep.state == .awake { takeLock(.sleep) }
        } else {
            announceSleep(since: now.monotonic, logical: false, byLogin: true)
        }
        if shuttingDown {
            hearPrepareForShutdown(true, delayMax: delayMax, signalled: now.monotonic)
        } else {
            takeLock(.shutdown)
        }
    }

    mutating func loginDidVanish() {
        login = Login()
        // Nobody will answer the question any more.
        if sleep.recheckAt == .max { sleep.recheckAt = now.monotonic }
    }

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
            login.hasRetried = false
            login.awaitsResume = false
            if sleep.state == .asleep, sleep.isAnnouncedByLogin {
                releaseForSleep()
            } else if sleep.state == .awake {
                // An edge between the last reading of the property and this lock would otherwise be missed.
                emit(.readPreparingForSleep)
            }
        case .shutdown:
            if shutdown.isOver, shutdown.isAnnounced { releaseLock(.shutdown) }
        }
    }

    mutating func lockWasRefused(_ kind: LockKind) {
        guard login.locks[kind] == .requested else { return }
        login.locks[kind] = .none
        guard kind == .sleep, sleep.state == .awake else { return }
        if login.awaitsResume {
            // Its signal is on the way; if that is lost, its property will tell.
            sleep.recheckAt = now.monotonic + Self.cancellationDelay
        } else if !login.hasRetried {
            emit(.readPreparingForSleep)
        }
    }

    /// Refused while a sleep was being prepared that is over by now.
    mutating func retryLock() {
        guard login.isAvailable, login.locks[.sleep] == .none, !login.hasRetried else { return }
        login.hasRetried = true
        takeLock(.sleep)
    }
}
