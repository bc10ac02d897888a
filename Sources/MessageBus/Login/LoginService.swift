public import Vocabulary

/// What a lock of logind's keeps from happening: an operation, or what logind does at a key. The names are those that
/// its method `Inhibit` takes.
public enum Inhibitor: CaseIterable, Sendable {
    case sleep
    case shutdown
    /// Both going idle and sleep.
    case idleAndSleep
    /// What logind does at the power key (HandlePowerKey). Mode block only.
    case powerKey
    /// What logind does at the lid (HandleLidSwitch). Mode block only.
    case lidSwitch

    public var name: String {
        switch self {
        case .sleep: "sleep"
        case .shutdown: "shutdown"
        case .idleAndSleep: "idle:sleep"
        case .powerKey: "handle-power-key"
        case .lidSwitch: "handle-lid-switch"
        }
    }
}

/// How a lock acts (docs/INHIBITOR_LOCKS.md of systemd).
public enum LockMode: Sendable {
    /// Puts the operation off until the lock is released, InhibitDelayMaxUSec at most.
    case delay
    /// Refuses the operation, unless its caller insists. Since systemd 257 that takes polkit, which some boards lack.
    case block
    /// Refuses the operation, unless its caller is root or insists: what `block` was before systemd 257, and is asked
    /// for where logind knows no other.
    case weakBlock

    public var name: String {
        switch self {
        case .delay: "delay"
        case .block: "block"
        case .weakBlock: "block-weak"
        }
    }
}

/// What the login manager knows of the board: its properties LidClosed, Docked and OnExternalPower. nil where it has
/// none.
public struct LoginConditions: Equatable, Sendable {
    public var isLidClosed: Bool?
    /// As logind counts it: in a dock, or with more than one display. Read and not used so far.
    public var isDocked: Bool?
    public var isOnExternalPower: Bool?

    public init(isLidClosed: Bool? = nil, isDocked: Bool? = nil, isOnExternalPower: Bool? = nil) {
        self.isLidClosed = isLidClosed
        self.isDocked = isDocked
        self.isOnExternalPower = isOnExternalPower
    }
}

/// What the login manager says. Times in nanoseconds; inhibitDelayMax is nil where it has never been told, and
/// Int64.max for "without limit".
public enum LoginMessage: Equatable, Sendable {
    /// It has appeared or reappeared; locks have to be taken anew.
    case available(inhibitDelayMax: Int64?, preparingForSleep: Bool, preparingForShutdown: Bool)
    /// It, or the bus, is not there. Once until it is available again. Locks that were asked for and not answered are
    /// void too.
    case unavailable(reason: String)
    /// at: CLOCK_MONOTONIC when the signal arrived.
    case prepareForSleep(Bool, inhibitDelayMax: Int64?, at: Int64)
    case prepareForShutdown(Bool, inhibitDelayMax: Int64?, at: Int64)
    /// The descriptor is the manager's, which closes it.
    case lockTaken(Inhibitor, descriptor: Int32)
    case lockRefused(Inhibitor, reason: String)
    /// A lock that was held is void, as the connection is gone; its descriptor has been closed.
    case lockLost(Inhibitor)
    /// The answer to `readPreparingForSleep`; nil when there was none in time.
    case preparingForSleep(Bool?)
    /// The answer to `readForeignLocks`; nil where there was none in time.
    case foreignLocks([ForeignLock]?)
    /// The last of each user's locks that has hundreds of them. Comes before `foreignLocks`.
    case lockCrowds([ForeignLock])
    /// The answer to `suspend`, where there will be no sleep.
    case suspendRefused(reason: String)
    /// Once after each `available`, and then when something has changed; at most ten a second.
    case sessionChanged(SessionReading)
    /// When something has become known or changed, as above. Not what is nil from the start.
    case conditionsChanged(LoginConditions)
    /// The answer to `powerOff`, where the board stays on.
    case powerOffRefused(reason: String)
}

/// What Curfew needs of a login manager. Everything is answered by an event from the loop, never from within a call.
public protocol LoginService: AnyObject {
    var onEvent: (LoginMessage) -> Void { get set }
    /// Looks for the login manager; the first event is `available` or `unavailable`.
    func start()
    /// Closes all locks and the connection; no event comes any more.
    func stop()
    /// Answered by `lockTaken` or `lockRefused`. Nothing happens when the lock is held or asked for already.
    func takeLock(_ kind: Inhibitor, mode: LockMode)
    /// Closes the lock's descriptor, or gives up asking for it. At once and without an event.
    func releaseLock(_ kind: Inhibitor)
    /// Answered by `preparingForSleep`.
    func readPreparingForSleep()
    /// Reads who holds delay locks on sleep, this process among them. Answered by `foreignLocks`.
    func readForeignLocks()
    /// Puts the board to sleep, if no lock keeps it awake. Answered by `prepareForSleep` or `suspendRefused`.
    func suspend()
    /// Reads what logind does not announce, at once or a little later; `conditionsChanged` and `sessionChanged` come if
    /// that is news.
    func readConditions()
    /// Turns the board off, whatever lock would keep it on. Answered by `prepareForShutdown` or `powerOffRefused`.
    func powerOff()
}
