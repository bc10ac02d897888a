// What logind's comings and goings, and its answers to the questions for locks, mean for the board.

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
        if !sleep.isLogical { wakeFully() }
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

    mutating func takeLock(_ kind: LockKind) {
        if login.ask(for: kind, at: now.monotonic) { emit(.login(.takeLock(kind))) }
    }

    /// Asks logind whether it prepares a sleep.
    mutating func readPreparing() {
        login.askPreparing(at: now.monotonic)
        emit(.login(.readPreparingForSleep))
    }

    /// What logind has not answered in time it will not answer: asked again, or taken for a "no".
    mutating func judgeLogin() {
        for kind in LockKind.allCases where login.judge(kind, at: now.monotonic) { retryLock(kind) }
        if login.isAnswerOverdue(at: now.monotonic) { hearPreparingForSleep(nil) }
    }

    /// Whether a lock that comes late is welcome.
    private func wantsLock(_ kind: LockKind) -> Bool {
        guard login.isAvailable else { return false }
        return switch kind {
        case .sleep: sleep.isUp && sleep.echo != .end
        case .shutdown: !shutdown.isAnnounced
        // Even after an earlier refusal.
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

    mutating func releaseLock(_ kind: LockKind) {
        if login.release(kind) { emit(.login(.releaseLock(kind))) }
    }

    mutating func lockWasTaken(_ kind: LockKind) {
        switch login.wasGranted(kind, isWelcome: wantsLock(kind)) {
        case .held: useLock(kind)
        case .known: break
        case .useless: emit(.login(.releaseLock(kind)))
        }
    }

    private mutating func useLock(_ kind: LockKind) {
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
            case .preparing: if sleep.isAnnouncedByLogin { boundSleep(since: sleep.allowanceSince) }
            case .asleep: releaseForSleep()
            }
        case .shutdown:
            if shutdown.isOver, shutdown.isAnnounced { releaseLock(.shutdown) }
        case .keepAwake:
            login.forgetRefusal()
            touchHolders()
        }
    }

    mutating func lockWasRefused(_ kind: LockKind) {
        guard login.wasRefused(kind, at: now.monotonic) else { return }
        if kind == .sleep, sleep.isUp, sleep.echo != .end { readPreparing() }
    }
}
