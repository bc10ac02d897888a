extension TerminationReason {
    /// For programs: a name that stays, whatever the sentence for people says.
    public var name: String {
        switch self {
        case .handlerOverrun: "handlerOverrun"
        case .readinessMissed: "readinessMissed"
        case .exitOverrun: "exitOverrun"
        case .livenessMissed: "livenessMissed"
        case .unfreezable: "unfreezable"
        case .sleepLockHeld: "sleepLockHeld"
        case .lockTableFilled: "lockTableFilled"
        case .taskBudgetSpent: "taskBudgetSpent"
        case .taskBudgetRanOut: "taskBudgetRanOut"
        case .memoryCritical: "memoryCritical"
        case .killedForMemory: "killedForMemory"
        case .overheated: "overheated"
        case .lowBattery: "lowBattery"
        case .endedByOperator: "endedByOperator"
        case .configurationRemoved: "configurationRemoved"
        case .exited: "exited"
        case .exitedUnseen: "exitedUnseen"
        case .signalled: "signalled"
        case .launchFailed: "launchFailed"
        case .launchTimedOut: "launchTimedOut"
        case .shutdown: "shutdown"
        case .unknown: "unknown"
        case .loopDied: "daemonDied"
        }
    }

    /// A sentence for people: what happened, and for how long the app had been allowed to do it.
    public var explanation: String {
        switch self {
        case .handlerOverrun(let handler, let allowance): Self.overrun(handler, allowance)
        case .readinessMissed(let allowance): "process-launch: no READY=1 within \(allowance.text)"
        case .exitOverrun(let allowance):
            "process-exit: the app did not exit within \(allowance.text) of being asked to"
        case .livenessMissed(let interval): "liveness: no WATCHDOG=1 for \(interval.text)"
        case .unfreezable: "suspension: it could not be frozen at sleep after sleep"
        case .sleepLockHeld: "sleep-lock: it kept its own lock on sleep at logind, at sleep after sleep"
        case .lockTableFilled: "sleep-lock: so many locks at logind were its own that curfewd's was refused"
        case .taskBudgetSpent(let budget, let held, let more): Self.budgetSpent(budget, held, more)
        case .taskBudgetRanOut(let budget): "asked to end as its budget of \(budget.text) ran out"
        case .memoryCritical(let available, let bytes, let isProtected):
            "memory was critically short (\(available >> 20) MiB available); the app had \(bytes >> 20) MiB"
                + (isProtected ? " and was protected, but no other was left to be ended" : "")
        case .killedForMemory(.oomd): "killed by systemd-oomd, which found memory or swap short"
        case .killedForMemory(.kernel):
            "killed by the kernel: the app's memory limit, or the board's memory, was used up"
        case .overheated: "the board is critically hot"
        case .lowBattery(.some(let level)): "the battery is at \(level) %: the board is switched off"
        case .lowBattery(nil): "the battery is critically low: the board is switched off"
        case .endedByOperator(let isForced): isForced ? "ended by an operator, at once" : "ended by an operator"
        case .configurationRemoved: "its configuration was removed"
        case .exited(0): "exited by itself"
        case .exited(let status): "exited by itself with status \(status)"
        case .exitedUnseen: "ended by itself; who started it knows how"
        case .signalled(let number): "killed by signal \(number)"
        case .launchFailed(_, let words): words
        case .launchTimedOut(let bound): "its program was not started within \(bound.text)"
        case .shutdown: "the board shuts down or the supervisor was stopped"
        case .unknown: "ended, and curfewd could not learn how"
        case .loopDied(let number): "signal \(number) ended curfewd's loop, and the app was ended with it"
        }
    }

    private static func overrun(_ handler: Handler, _ allowance: Nanoseconds) -> String {
        let words = "\(handler.method) did not return within \(allowance.text)"
        return handler == .backgroundTaskWillExpire ? words : handler.watchdogScope + ": " + words
    }

    private static func budgetSpent(_ budget: Nanoseconds, _ held: [String], _ more: Int) -> String {
        let names = held.map { "\"\($0)\"" }.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        let subject = held.count == 1 && more == 0 ? "background task \(names) was" : "background tasks \(names) were"
        return subject + " still held when the budget of \(budget.text) was spent"
    }
}
