// What logind's comings and goings mean for the board, and what it has not answered in time.

extension DeviceLifecycle {
    /// logind is there, for the first time or again. Its properties say what we may have missed.
    mutating func loginDidAppear(delayMax: Nanoseconds?, sleeping: Bool, shuttingDown: Bool) {
        let isFirst = !login.wasAvailable
        let noted = login.notedSleep
        forgetLogin()
        login.appear(delayMax: delayMax)
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
        // logind, which could put the board to sleep again, is gone.
        if !sleep.isLogical { endDarkWake() }
    }

    private mutating func forgetLogin() {
        login.forget()
        touchHolders()
        conditions.restWish.hasten(at: now.monotonic)
        // The question will not be answered any more.
        if sleep.asleep?.question == .asked {
            let now = now.monotonic
            sleep.stage.change { (asleep: inout Asleep) in asleep.question = .due(now) }
        }
        // Its job is not this logind's.
        sleep.echo = .none
        if sleep.isUp { sleep.echoDue = nil }
    }

    /// The clocks have told of a resume before logind did: until it does too, that it refuses a sleep lock is no news.
    public var expectsRefusal: Bool { sleep.echo == .end }

    /// A lock on shutdown holds up nothing that is still to be done.
    public var isShutdownOver: Bool { shutdown.isAnnounced && shutdown.isOver }

    /// Asks logind whether it prepares a sleep.
    mutating func readPreparing() {
        login.askPreparing(at: now.monotonic)
        emit(.login(.readPreparingForSleep))
    }

    /// What logind has not answered in time it will not answer: asked again, or taken for a "no".
    mutating func judgeLogin() {
        for kind in LockKind.allCases where login.judge(kind, at: now.monotonic) { retryLock(kind) }
        if login.isAnswerOverdue(at: now.monotonic) { hearPreparingAnswer(nil) }
    }
}
