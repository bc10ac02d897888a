/// What logind says. delayMax: InhibitDelayMaxUSec; nil: unknown.
public enum LoginEvent: Equatable, Sendable {
    case available(delayMax: Nanoseconds?, preparingForSleep: Bool, preparingForShutdown: Bool)
    /// Locks are gone with it.
    case unavailable
    case lockTaken(LockKind)
    case lockRefused(LockKind)
    /// signalled: MONOTONIC when the signal came, which is when logind's clock started.
    case prepareForSleep(Bool, delayMax: Nanoseconds?, signalled: Nanoseconds)
    case prepareForShutdown(Bool, delayMax: Nanoseconds?, signalled: Nanoseconds)
    /// The answer to `readPreparingForSleep`; nil: logind does not say.
    case preparingForSleep(Bool?)
    /// The answer to `suspendDevice`, where it is no sleep.
    case suspendRefused
    /// The answer to `powerOff`, where the board stays on. It is asked again later.
    case powerOffRefused
    /// On the way to sleep: an instance holds a delay lock of its own.
    case appHoldsLock(InstanceID)
    /// It does not any more.
    case appReleasedLock(InstanceID)
    /// logind has refused our lock for sleep, and hundreds of those that it has are this instance's.
    case appFillsLocks(InstanceID)
}

/// What logind is asked for.
public enum LoginEffect: Equatable, Sendable {
    /// Answered by `lockTaken` or `lockRefused`.
    case takeLock(LockKind)
    case releaseLock(LockKind)
    /// Answered by `preparingForSleep`.
    case readPreparingForSleep
    /// Ask logind for a sleep. Answered by `prepareForSleep` or `suspendRefused`.
    case suspendDevice
    /// Ask logind to switch the board off. Answered by `prepareForShutdown` or `powerOffRefused`.
    case powerOff
}

/// The locks we hold at logind.
public enum LockKind: UInt8, CaseIterable, Sendable {
    /// Delay locks: each puts its operation off until the apps are ready.
    case sleep, shutdown
    /// A block lock on idle and sleep, for background tasks that may keep the board awake.
    case keepAwake

    /// Of what there is for each kind, in an archive.
    var field: Int { Int(rawValue) + 1 }
}

extension Event {
    /// logind says that the board is awake.
    var isEndOfLoginSleep: Bool { if case .login(.prepareForSleep(false, _, _)) = self { true } else { false } }
}

extension DeviceLifecycle {
    mutating func hear(_ event: LoginEvent) {
        switch event {
        case .available(let delayMax, let sleeping, let shuttingDown):
            loginDidAppear(delayMax: delayMax, sleeping: sleeping, shuttingDown: shuttingDown)
        case .unavailable: loginDidVanish()
        case .lockTaken(let kind): lockWasTaken(kind)
        case .lockRefused(let kind): lockWasRefused(kind)
        case .prepareForSleep(let start, let delayMax, let signalled):
            hearSleepEdge(start, delayMax: delayMax, signalled: signalled)
        case .prepareForShutdown(let start, let delayMax, let signalled):
            hearPrepareForShutdown(start, delayMax: delayMax, signalled: signalled)
        case .preparingForSleep(let value): hearPreparingAnswer(value)
        case .suspendRefused: suspendWasRefused()
        case .powerOffRefused: break
        case .appHoldsLock(let instance): hearHeldLock(instance)
        case .appReleasedLock(let instance): hearLockReleased(instance)
        case .appFillsLocks(let instance): endForLocks(instance)
        }
    }
}
