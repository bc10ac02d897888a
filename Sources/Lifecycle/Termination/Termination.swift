/// What ended an app.
public enum TerminationNamespace: UInt8, CaseIterable, Sendable {
    case watchdog, backgroundTask, jetsam, thermal, lowBattery, user, crash, exit, launchFailure, lockHeldInSuspension
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
        case .lockHeldInSuspension: "lockHeldInSuspension"
        case .shutdown: "shutdown"
        case .unknown: "unknown"
        }
    }
}

/// Why an app ended: exactly one for every end.
public struct TerminationReason: Hashable, Sendable {
    public var namespace: TerminationNamespace
    /// 0x8badf00d for the watchdog, the signal of a crash, the status of an exit, the errno of a failed launch.
    public var code: UInt64
    /// A sentence for people: what happened, and for how long the app had been allowed to do it.
    public var explanation: String

    public init(namespace: TerminationNamespace, code: UInt64, explanation: String) {
        self.namespace = namespace
        self.code = code
        self.explanation = explanation
    }

    public static let watchdogCode: UInt64 = 0x8bad_f00d

    public static let taskBudgetCode: UInt64 = 0x2182_bad2

    static func overrun(_ handler: Handler, told allowance: Nanoseconds) -> TerminationReason {
        if handler == .backgroundTaskWillExpire {
            return TerminationReason(
                namespace: .backgroundTask, code: taskBudgetCode,
                explanation: "\(handler.method) did not return within \(allowance.text)")
        }
        return TerminationReason(
            namespace: .watchdog, code: watchdogCode,
            explanation: "\(handler.watchdogScope): \(handler.method) did not return within \(allowance.text)")
    }

    /// held: the tasks' names, each in quotation marks.
    static func budgetSpent(_ budget: Nanoseconds, held: [String]) -> TerminationReason {
        let some = held.prefix(3).joined(separator: ", ")
        let more = held.count > 3 ? " and \(held.count - 3) more" : ""
        return TerminationReason(
            namespace: .backgroundTask, code: taskBudgetCode,
            explanation: held.count == 1
                ? "background task \(some) was still held when the budget of \(budget.text) was spent"
                : "background tasks \(some)\(more) were still held when the budget of \(budget.text) was spent")
    }

    static func budgetRanOut(_ budget: Nanoseconds) -> TerminationReason {
        TerminationReason(
            namespace: .backgroundTask, code: taskBudgetCode,
            explanation: "asked to end as its budget of \(budget.text) ran out")
    }

    /// Its parent alone hears how a process that was taken over has ended.
    static func adoptedEnded(_ status: ExitStatus) -> TerminationReason {
        switch status {
        case .exited, .signalled: ended(status)
        case .unknown:
            TerminationReason(namespace: .exit, code: 0, explanation: "ended by itself; who started it knows how")
        }
    }

    static func readinessMissed(_ allowance: Nanoseconds) -> TerminationReason {
        TerminationReason(
            namespace: .watchdog, code: watchdogCode,
            explanation: "process-launch: no READY=1 within \(allowance.text)")
    }

    /// code: ETIMEDOUT.
    static func notStarted(within bound: Nanoseconds) -> TerminationReason {
        TerminationReason(
            namespace: .launchFailure, code: 110, explanation: "its program was not started within \(bound.text)")
    }

    static func exitOverrun(_ allowance: Nanoseconds) -> TerminationReason {
        TerminationReason(
            namespace: .watchdog, code: watchdogCode,
            explanation: "process-exit: the app did not exit within \(allowance.text) of being asked to")
    }

    static func livenessMissed(_ interval: Nanoseconds) -> TerminationReason {
        TerminationReason(
            namespace: .watchdog, code: watchdogCode, explanation: "liveness: no WATCHDOG=1 for \(interval.text)")
    }

    static func lowBattery(_ level: Int?) -> TerminationReason {
        TerminationReason(
            namespace: .lowBattery, code: 0,
            explanation: level.map { "the battery is at \($0) %: the board is switched off" }
                ?? "the battery is critically low: the board is switched off")
    }

    static let overheatedCode: UInt64 = 0xc000_10ff

    static let overheated = TerminationReason(
        namespace: .thermal, code: overheatedCode, explanation: "the board is critically hot")

    /// Ended by Curfew; by others it is the signal's number.
    static let jetsamCode: UInt64 = 0

    static func jetsam(available: Int64, bytes: Int64, isProtected: Bool) -> TerminationReason {
        TerminationReason(
            namespace: .jetsam, code: jetsamCode,
            explanation: "memory was critically short (\(available >> 20) MiB available); "
                + "the app had \(bytes >> 20) MiB"
                + (isProtected ? " and was protected, but no other was left to be ended" : ""))
    }

    static func killedForMemory(by killer: MemoryKiller) -> TerminationReason {
        TerminationReason(
            namespace: .jetsam, code: 9,
            explanation: killer == .oomd
                ? "killed by systemd-oomd, which found memory or swap short"
                : "killed by the kernel: the app's memory limit, or the board's memory, was used up")
    }

    static func ended(_ status: ExitStatus) -> TerminationReason {
        switch status {
        case .exited(let code):
            TerminationReason(
                namespace: .exit, code: UInt64(UInt32(bitPattern: code)),
                explanation: code == 0 ? "exited by itself" : "exited by itself with status \(code)")
        case .signalled(let number):
            TerminationReason(
                namespace: .crash, code: UInt64(UInt32(bitPattern: number)), explanation: "killed by signal \(number)")
        case .unknown:
            TerminationReason(namespace: .unknown, code: 0, explanation: "ended while nobody watched")
        }
    }

    /// Whether `restart = "on-failure"` starts the app again after it.
    public var isFailure: Bool {
        switch namespace {
        case .watchdog, .crash, .launchFailure, .lockHeldInSuspension, .unknown: true
        case .exit: code != 0
        case .backgroundTask, .jetsam, .thermal, .lowBattery, .user, .shutdown: false
        }
    }

    /// Whether `restart = "always"` starts the app again after it.
    var allowsRestart: Bool {
        switch namespace {
        case .watchdog, .crash, .launchFailure, .lockHeldInSuspension, .unknown, .exit: true
        case .backgroundTask, .jetsam, .thermal, .lowBattery, .user, .shutdown: false
        }
    }

    /// Not the app's fault: the board was short of memory or too hot.
    var isOfTheBoard: Bool { namespace == .jetsam || namespace == .thermal }

    /// Everything ends with it: the board goes down, or the daemon.
    var isOfShutdown: Bool { namespace == .shutdown || namespace == .lowBattery }

    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(&namespace)
        archive.value(&code)
        archive.value(&explanation)
    }
}

/// One end of one app, as it is recorded. The shell adds the time of day and what the processes used.
public struct Termination: Hashable, Sendable {
    public var app: AppID
    public var name: String
    public var instance: InstanceID
    public var reason: TerminationReason
    /// The handler that was running.
    public var handler: Handler?
    /// The time that handler was told it had.
    public var allowance: Nanoseconds?
    /// The runnable time it had taken; nil where no handler ran.
    public var taken: Nanoseconds?
    /// Since the process was started, in MONOTONIC time.
    public var uptime: Nanoseconds
    public var phase: ScenePhase
    /// The sleep it happened in; nil while the board is awake.
    public var sleep: Int?

    public init(
        app: AppID, name: String, instance: InstanceID, reason: TerminationReason, handler: Handler? = nil,
        allowance: Nanoseconds? = nil, taken: Nanoseconds? = nil, uptime: Nanoseconds, phase: ScenePhase,
        sleep: Int? = nil
    ) {
        self.app = app
        self.name = name
        self.instance = instance
        self.reason = reason
        self.handler = handler
        self.allowance = allowance
        self.taken = taken
        self.uptime = uptime
        self.phase = phase
        self.sleep = sleep
    }
}

extension Termination {
    /// What in the app's file would have given it longer; nil where time was not the matter.
    public var limitKey: String? {
        switch reason.namespace {
        case .watchdog:
            if let handler { return "[allowances] " + handler.key }
            let isLiveness = reason.explanation.utf8.starts(with: "liveness".utf8)
            return isLiveness ? "liveness" : "[allowances] " + Handler.willTerminate.key
        case .backgroundTask: return "[background] task-budget"
        case .jetsam, .thermal, .lowBattery, .user, .crash, .exit, .launchFailure, .lockHeldInSuspension, .shutdown,
            .unknown:
            return nil
        }
    }
}
