internal import Lifecycle

/// What delay locks put off.
enum Operation: Int { case sleep, shutdown }

enum LoginAct: Equatable {
    /// An Inhibit call is answered. incarnation: of logind; one that is gone answers nothing.
    case answersInhibit(LockKind, incarnation: Int, connection: Int)
    case answersPreparing(incarnation: Int)
    /// InhibitDelayMaxUSec is over.
    case losesPatience(Operation, handshake: Int)
    /// Every delay lock is gone.
    case proceeds(Operation, handshake: Int)
    /// systemd-sleep runs its hooks, then the board sleeps.
    case sleeps(handshake: Int)
    case wakes(handshake: Int)
    case cancelsShutdown(handshake: Int)
    case outage
    case returns
    /// A daemon that was started again finds it.
    case isFound(connection: Int)
}

/// systemd-logind, as it really is; what the daemon knows of it is another matter.
struct SimulatedLogin {
    enum Stage: Equatable {
        case idle
        /// Announced; waits for delay locks.
        case preparing
        /// The locks are gone or were ignored: it goes on.
        case committed
    }

    var isPresent = false
    var incarnation = 0
    /// The daemon's connection: with it go the calls that are not answered yet.
    var connection = 0
    var isConnected = false
    /// The daemon listens to its signals; a new one takes its time for that.
    var isHeard = true
    /// For each kind of lock, the connections that the answers on their way belong to.
    var answers: [[Int]] = [[], [], []]
    var delayMax = Nanoseconds.seconds(5)
    var sleep = Stage.idle
    var shutdown = Stage.idle
    /// Counts both kinds, so that what was planned for an older one is recognised.
    var handshake = 0
    /// For each kind of lock, the connections that this logind has granted one to, and whose descriptor is open: the
    /// daemon's, or one on its way to it.
    var grants: [[Int]] = [[], [], []]
    /// The daemon has one in its hands.
    var isInHand = [false, false, false]
    var asked = [false, false, false]
    /// Asked of a logind that has gone, and kept for the next one.
    var strays: [LockKind] = []
    /// The last Inhibit call was refused though nothing is being prepared.
    var refusedIdly = [false, false, false]
    /// Messages of one connection do not overtake each other.
    var lastDelivery = Nanoseconds.zero
    /// The sleep hook waits for the daemon's answer.
    var hookRequest: RequestID?

    func holds(_ kind: LockKind) -> Bool { !grants[Int(kind.rawValue)].isEmpty }

    mutating func grant(_ kind: LockKind) { grants[Int(kind.rawValue)].append(connection) }

    mutating func loseLocks() {
        grants = [[], [], []]
        isInHand = [false, false, false]
    }

    /// No lock on an operation is granted while it is being prepared.
    func isPreparing(_ kind: LockKind) -> Bool {
        switch kind {
        case .sleep, .keepAwake: sleep != .idle
        case .shutdown: shutdown != .idle
        }
    }

    subscript(operation: Operation) -> Stage {
        get { operation == .sleep ? sleep : shutdown }
        set {
            switch operation {
            case .sleep: sleep = newValue
            case .shutdown: shutdown = newValue
            }
        }
    }
}
