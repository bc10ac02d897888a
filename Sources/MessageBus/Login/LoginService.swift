/// Which of logind's operations a lock is about; also the name in logind's words.
public enum LockKind: CaseIterable, Sendable {
    case sleep
    case shutdown
    /// Both going idle and sleep.
    case idleAndSleep

    public var name: String {
        switch self {
        case .sleep: "sleep"
        case .shutdown: "shutdown"
        case .idleAndSleep: "idle:sleep"
        }
    }
}

/// How a lock acts (docs/INHIBITOR_LOCKS.md of systemd).
public enum LockMode: Sendable {
    /// Puts the operation off until the lock is released, InhibitDelayMaxUSec at most.
    case delay
    /// Refuses the operation, unless its caller insists.
    case block

    public var name: String {
        switch self {
        case .delay: "delay"
        case .block: "block"
        }
    }
}

/// What the login manager says. Times in nanoseconds; inhibitDelayMax is nil where it has never been told, and
/// Int64.max for "without limit".
public enum LoginEvent: Equatable, Sendable {
    /// It has appeared or reappeared; locks have to be taken anew.
    case available(inhibitDelayMax: Int64?, preparingForSleep: Bool, preparingForShutdown: Bool)
    /// It, or the bus, is not there. Once until it is available again. Locks that were asked for and not answered are
    /// void too.
    case unavailable(reason: String)
    /// at: CLOCK_MONOTONIC when the signal arrived.
    case prepareForSleep(Bool, inhibitDelayMax: Int64?, at: Int64)
    case prepareForShutdown(Bool, inhibitDelayMax: Int64?, at: Int64)
    /// The descriptor is the manager's, which closes it.
    case lockTaken(LockKind, descriptor: Int32)
    case lockRefused(LockKind, reason: String)
    /// A lock that was held is void, as the connection is gone; its descriptor has been closed.
    case lockLost(LockKind)
    /// The answer to `readPreparingForSleep`; nil when there was none in time.
    case preparingForSleep(Bool?)
    /// The answer to `suspend`, where there will be no sleep.
    case suspendRefused(reason: String)
}

/// What Curfew needs of a login manager. Everything is answered by an event from the loop, never from within a call.
public protocol LoginService: AnyObject {
    var onEvent: (LoginEvent) -> Void { get set }
    /// Looks for the login manager; the first event is `available` or `unavailable`.
    func start()
    /// Closes all locks and the connection; no event comes any more.
    func stop()
    /// Answered by `lockTaken` or `lockRefused`. Nothing happens when the lock is held or asked for already.
    func takeLock(_ kind: LockKind, mode: LockMode)
    /// Closes the lock's descriptor, or gives up asking for it. At once and without an event.
    func releaseLock(_ kind: LockKind)
    /// Answered by `preparingForSleep`.
    func readPreparingForSleep()
    /// Puts the board to sleep, if nobody keeps it awake. Answered by `prepareForSleep` or `suspendRefused`.
    func suspend()
}
