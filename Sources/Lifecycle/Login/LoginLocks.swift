// logind's locks: asked for, granted, refused and given back, and what each of that means for the board.

extension DeviceLifecycle {
    mutating func takeLock(_ kind: LockKind) {
        if login.ask(for: kind, at: now.monotonic) { emit(.login(.takeLock(kind))) }
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

    /// Its question was not answered in time, or its rest is over.
    mutating func retryLock(_ kind: LockKind) {
        switch kind {
        // What logind refuses it for may be an old sleep: see `recheckLogin`.
        case .sleep, .shutdown: if wantsLock(kind) { takeLock(kind) }
        case .keepAwake: touchHolders()
        }
    }

    /// There is room for it again.
    mutating func retakeSleepLock() {
        if wantsLock(.sleep) { takeLock(.sleep) }
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
                sleep.echoDue = sleep.echo == .end ? now.monotonic + Login.recheckDelay : nil
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
