internal import Lifecycle

/// What happens to the processes of one instance, by the kernel or by themselves.
enum ProcessAct: Equatable {
    // The kernel, which nothing holds up but the board itself.
    case execed
    case execFails
    case freezeDone(generation: Int)
    case killDone
    case groupEmpty
    // The app, which runs only while it is not frozen. deed: an index into the process's own list.
    case ping
    case deed(Int)
    /// It thinks of its background tasks.
    case urge
    case endsTask(BackgroundTaskID)
    /// A process of its own that a task was begun for is gone: the kernel tells, whether or not the app is frozen.
    case namedProcessEnds(BackgroundTaskID)

    var needsProcessor: Bool {
        switch self {
        case .execed, .execFails, .freezeDone, .killDone, .groupEmpty, .namedProcessEnds: false
        case .ping, .deed, .urge, .endsTask: true
        }
    }

    /// What goes on on a board at rest too.
    var isRoutine: Bool {
        switch self {
        case .execed, .execFails, .freezeDone, .killDone, .groupEmpty, .deed: false
        case .ping, .urge, .endsTask, .namedProcessEnds: true
        }
    }
}

/// The processes of one instance, as they really are.
final class SimulatedProcess {
    enum Stage { case starting, alive, exited }

    let instance: InstanceID
    let app: AppID
    let policy: AppPolicy
    let temper: Temper
    let habits: TaskHabits
    var stage = Stage.starting
    /// Processes beside the main one.
    var hasLeftovers = false
    /// cgroup.freeze is set; the processes stop a little later.
    var freezeAsked = false
    var freezeGeneration = 0
    /// Since when it has really been frozen.
    var frozenSince: Nanoseconds?
    var killAsked = false
    var clearAsked = false
    /// It comes up long after it was asked for, whatever was done about it by then.
    var comesLate = false
    /// The daemon has heard that it was spawned.
    var isKnown = false
    /// READY=1 is what its launch waits for, by the policy of when it was spawned.
    var awaitsReady = false
    /// SIGTERM came while it was frozen, or before exec: handled later.
    var terminationPending = false
    /// What it was doing when it was frozen, with the time it still needs.
    var heldUp: [(after: Nanoseconds, act: ProcessAct)] = []
    var deeds: [AppDeed] = []
    /// Those it was ever given.
    var tasks: [BackgroundTaskID] = []
    /// What it has of the board's memory.
    var bytes: Int64 = 0
    /// MONOTONIC, and what of it the board or its freezer have kept from the app since.
    var aliveSince: Nanoseconds?
    var lost = Nanoseconds.zero
    /// How often time was kept from it while it was not frozen.
    var thefts: [Theft] = []
    /// Readings of its own time.
    var lastPing = Nanoseconds.zero

    init(instance: InstanceID, app: AppID, policy: AppPolicy, temper: Temper, habits: TaskHabits) {
        self.instance = instance
        self.app = app
        self.policy = policy
        self.temper = temper
        self.habits = habits
    }

    var isFrozen: Bool { frozenSince != nil }

    /// The time it could really run since it came up.
    func ran(at now: Nanoseconds) -> Nanoseconds {
        guard let aliveSince else { return .zero }
        return (frozenSince ?? now) - aliveSince - lost
    }

    /// The board gave it no time.
    func robbed(of time: Nanoseconds, at now: Nanoseconds) {
        guard stage == .alive, !isFrozen else { return }
        lost += time
        thefts.append(Theft(at: now, time: time))
    }
}

/// Time that was kept from a process that was not frozen.
struct Theft {
    /// MONOTONIC, after it.
    let at: Nanoseconds
    let time: Nanoseconds
}
