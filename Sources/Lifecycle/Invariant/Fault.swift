/// An invariant of the core that does not hold: a fault of its own, whatever it was told. It goes on as well as it can.
public enum Fault: UInt8, CaseIterable, Sendable {
    // Of an instance.
    /// A call is awaited of an app that is not alive, or was never made.
    case callOfTheDead
    /// Tasks of a process that is still starting, more than the limit, or of the same number twice.
    case strangeTasks
    /// It is asked to end without an order, or has a time to exit and is not asked.
    case endWithoutOrder
    /// It is killed and the reason is not known.
    case killWithoutCause
    /// Frozen while it starts, or with no reason to be frozen.
    case frozenWithoutReason
    /// It was told that it is in front before it was launched.
    case frontBeforeLaunch
    /// Its budget runs though it is in front.
    case budgetInFront
    /// Its clock runs while it is frozen, or stands while it is not.
    case clockAgainstFreezer

    // Of an app.
    /// Its instance or its name is not found where it is looked for.
    case lostInIndex
    /// A launch is kept for the case that a wish is denied, and no request wishes one.
    case keptLaunchOfNone
    /// It is to be started though it runs and stays.
    case launchOfWhatRuns
    /// It is gone from the configuration and is to be started.
    case launchOfRetired
    /// Its budget is less than nothing or more than all.
    case budgetOutOfRange
    /// It waits to be taken over and runs.
    case adoptionOfWhatRuns
    /// What is kept of its deadline is not its deadline.
    case staleDeadline

    // Of the board.
    /// A sleep whose times are not in order.
    case sleepTimesOutOfOrder
    /// logind is to be asked about a former sleep in the middle of one.
    case questionInSleep
    /// A wave of a shutdown that does not run, or power that is to be switched off for no critical battery.
    case shutdownLeftovers
    /// logind or the board's memory was asked, and no time is set at which that is given up, or the other way round.
    case questionWithoutEnd
    /// A lock is held or asked for, and no logind is there.
    case lockOfNone
    /// A watchdog starves or rests that is not there.
    case watchdogOfNone
    /// Two requests of one number, or one for an app that there is not.
    case strangeRequests
    /// What is counted of all apps is less than none.
    case countBelowZero
    /// An app was touched and not settled.
    case unsettledApp

    /// For people who report it.
    public var name: String {
        switch self {
        case .callOfTheDead: "callOfTheDead"
        case .strangeTasks: "strangeTasks"
        case .endWithoutOrder: "endWithoutOrder"
        case .killWithoutCause: "killWithoutCause"
        case .frozenWithoutReason: "frozenWithoutReason"
        case .frontBeforeLaunch: "frontBeforeLaunch"
        case .budgetInFront: "budgetInFront"
        case .clockAgainstFreezer: "clockAgainstFreezer"
        case .lostInIndex: "lostInIndex"
        case .keptLaunchOfNone: "keptLaunchOfNone"
        case .launchOfWhatRuns: "launchOfWhatRuns"
        case .launchOfRetired: "launchOfRetired"
        case .budgetOutOfRange: "budgetOutOfRange"
        case .adoptionOfWhatRuns: "adoptionOfWhatRuns"
        case .staleDeadline: "staleDeadline"
        case .sleepTimesOutOfOrder: "sleepTimesOutOfOrder"
        case .questionInSleep: "questionInSleep"
        case .shutdownLeftovers: "shutdownLeftovers"
        case .questionWithoutEnd: "questionWithoutEnd"
        case .lockOfNone: "lockOfNone"
        case .watchdogOfNone: "watchdogOfNone"
        case .strangeRequests: "strangeRequests"
        case .countBelowZero: "countBelowZero"
        case .unsettledApp: "unsettledApp"
        }
    }
}

extension DeviceLifecycle {
    /// Judges what the event at hand has changed, once all is settled.
    mutating func checkInvariants() {
        for index in changed {
            if let fault = fault(ofApp: index) { emit(.note(.fault(fault, AppID(rawValue: index)))) }
        }
        if let boardFault { emit(.note(.fault(boardFault, nil))) }
    }

    private func fault(ofApp index: Int) -> Fault? {
        let id = instanceID(index)
        if let id, indexOfInstance[id] != index { return .lostInIndex }
        if !apps[index].isRetired, indexOfName[apps[index].policy.name] != index { return .lostInIndex }
        if apps[index].launchIfDenied != nil, !requests.wishesLaunch(of: index) { return .keptLaunchOfNone }
        if isThere(index), apps[index].launch.isPlanned { return .launchOfWhatRuns }
        #if !hasFeature(Embedded)
            // It costs as much as the event itself: for tests and simulation.
            if deadlineOfApp[index] != deadline(ofApp: index) { return .staleDeadline }
        #endif
        return apps[index].fault ?? apps[index].instance?.fault
    }

    private var boardFault: Fault? {
        if !touched.isEmpty { return .unsettledApp }
        if runningCalls < 0 || keepAwakeCount < 0 || sleep.unsettled < 0 { return .countBelowZero }
        return requests.fault(apps: apps.count) ?? sleep.fault ?? shutdown.fault ?? login.fault ?? memory.fault
            ?? watchdog.fault ?? serviceWatchdog.fault
    }
}
