/// Why an app ended: exactly one for every end. `Prose` says it to people.
public indirect enum TerminationReason: Hashable, Sendable {
    /// A handler did not return within the time that it was told.
    case handlerOverrun(Handler, allowance: Nanoseconds)
    /// READY=1 did not come.
    case readinessMissed(allowance: Nanoseconds)
    /// The app was asked to exit, and did not.
    case exitOverrun(allowance: Nanoseconds)
    /// WATCHDOG=1 did not come.
    case livenessMissed(interval: Nanoseconds)
    /// The kernel could not freeze it at two sleeps in a row, or at three of ten.
    case unfreezable
    /// It runs through sleeps, and did not let go of its own lock at logind, as often.
    case sleepLockHeld
    /// So many of logind's locks were its own that ours was refused.
    case lockTableFilled
    /// held: the names of the first three tasks that were still held; more: how many others there were.
    case taskBudgetSpent(budget: Nanoseconds, held: [String], more: Int)
    /// A command was told that its budget ran out, and ended.
    case taskBudgetRanOut(budget: Nanoseconds)
    /// available: of the board; bytes: of the app.
    case memoryCritical(available: Int64, bytes: Int64, isProtected: Bool)
    case killedForMemory(by: MemoryKiller)
    case overheated
    /// level: per cent; nil where it is not known.
    case lowBattery(level: Int?)
    case endedByOperator(isForced: Bool)
    case configurationRemoved
    case exited(status: Int32)
    /// A process that was taken over: its parent alone hears how it ended.
    case exitedUnseen
    case signalled(Int32)
    /// errno and its words, of the exec or of what comes before it.
    case launchFailed(errno: Int32, String)
    /// Its program was not started in time.
    case launchTimedOut(bound: Nanoseconds)
    case shutdown
    /// The kernel did not tell curfewd how: the process is not its child (MAINPID=), or another has reaped it.
    case unknown
    /// A signal has ended curfewd's loop, and its apps with it.
    case loopDied(signal: Int32)

    static func ended(_ status: ExitStatus) -> TerminationReason {
        switch status {
        case .exited(let code): .exited(status: code)
        case .signalled(let number): .signalled(number)
        case .unknown: .unknown
        case .withLoop(let number): .loopDied(signal: number)
        }
    }

    static func adoptedEnded(_ status: ExitStatus) -> TerminationReason {
        switch status {
        case .exited, .signalled, .withLoop: ended(status)
        case .unknown: .exitedUnseen
        }
    }

    public static let watchdogCode: UInt64 = 0x8bad_f00d
    public static let taskBudgetCode: UInt64 = 0x2182_bad2
    static let overheatedCode: UInt64 = 0xc000_10ff
}

/// What kind of end it was.
public enum TerminationNamespace: UInt8, CaseIterable, Sendable {
    case watchdog, backgroundTask, jetsam, thermal, lowBattery, user, crash, exit, launchFailure
    case shutdown, unknown

    public var name: String {
        switch self {
        case .watchdog: "watchdog"
        case .backgroundTask: "backgroundTask"
        case .jetsam: "jetsam"
        case .thermal: "thermal"
        case .lowBattery: "lowBattery"
        case .user: "user"
        case .crash: "crash"
        case .exit: "exit"
        case .launchFailure: "launchFailure"
        case .shutdown: "shutdown"
        case .unknown: "unknown"
        }
    }
}

extension TerminationReason {
    public var namespace: TerminationNamespace {
        switch self {
        case .handlerOverrun(let handler, _): handler == .backgroundTaskWillExpire ? .backgroundTask : .watchdog
        case .readinessMissed, .exitOverrun, .livenessMissed, .unfreezable, .sleepLockHeld, .lockTableFilled:
            .watchdog
        case .taskBudgetSpent, .taskBudgetRanOut: .backgroundTask
        case .memoryCritical, .killedForMemory: .jetsam
        case .overheated: .thermal
        case .lowBattery: .lowBattery
        case .endedByOperator, .configurationRemoved: .user
        case .exited, .exitedUnseen: .exit
        case .signalled: .crash
        case .launchFailed, .launchTimedOut: .launchFailure
        case .shutdown: .shutdown
        case .unknown, .loopDied: .unknown
        }
    }

    /// 0x8badf00d for the watchdog, the signal of a crash, the status of an exit, the errno of a failed launch.
    public var code: UInt64 {
        switch self {
        case .handlerOverrun, .readinessMissed, .exitOverrun, .livenessMissed, .unfreezable, .sleepLockHeld,
            .lockTableFilled:
            namespace == .watchdog ? Self.watchdogCode : Self.taskBudgetCode
        case .taskBudgetSpent, .taskBudgetRanOut: Self.taskBudgetCode
        case .overheated: Self.overheatedCode
        case .exited(let number), .signalled(let number), .launchFailed(let number, _):
            UInt64(UInt32(bitPattern: number))
        // ETIMEDOUT
        case .launchTimedOut: 110
        // SIGKILL
        case .killedForMemory: 9
        case .memoryCritical, .lowBattery, .endedByOperator, .configurationRemoved, .exitedUnseen, .shutdown,
            .unknown, .loopDied:
            0
        }
    }

    /// The key of the app's file that would have given it longer; nil where time was not the matter.
    public var limitKey: String? {
        switch self {
        case .handlerOverrun(.backgroundTaskWillExpire, _), .taskBudgetSpent, .taskBudgetRanOut:
            "[background] task-budget"
        case .handlerOverrun(let handler, _): "[allowances] " + handler.key
        case .readinessMissed: "[allowances] " + Handler.didFinishLaunching.key
        case .exitOverrun: "[allowances] " + Handler.willTerminate.key
        case .livenessMissed: "liveness"
        case .unfreezable, .sleepLockHeld, .lockTableFilled, .memoryCritical, .killedForMemory, .overheated,
            .lowBattery,
            .endedByOperator, .configurationRemoved, .exited, .exitedUnseen, .signalled, .launchFailed, .launchTimedOut,
            .shutdown,
            .unknown, .loopDied:
            nil
        }
    }

    /// Whether `restart = "on-failure"` starts the app again after it.
    public var isFailure: Bool {
        switch namespace {
        case .watchdog, .crash, .launchFailure: true
        case .unknown: !isOfDaemon
        case .exit: code != 0
        case .backgroundTask, .jetsam, .thermal, .lowBattery, .user, .shutdown: false
        }
    }

    /// Whether `restart = "always"` starts the app again after it.
    var allowsRestart: Bool {
        switch namespace {
        case .watchdog, .crash, .launchFailure, .unknown, .exit: true
        case .backgroundTask, .jetsam, .thermal, .lowBattery, .user, .shutdown: false
        }
    }

    /// The daemon's fault: the app goes on where it was.
    public var isOfDaemon: Bool {
        if case .loopDied = self { true } else { false }
    }

    /// Not the app's fault: the board was short of memory or too hot.
    var isOfTheBoard: Bool { namespace == .jetsam || namespace == .thermal }

    /// Everything ends with it: the board goes down, or the daemon.
    var isOfShutdown: Bool { namespace == .shutdown || namespace == .lowBattery }
}
