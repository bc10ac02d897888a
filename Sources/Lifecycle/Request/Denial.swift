/// Why a request is not carried out; it has changed nothing then. `Prose` says it to people.
public enum Denial: Hashable, Sendable {
    /// The board sleeps, or is about to.
    case sleeping
    case shuttingDown
    case noSuchApp
    /// Another request asked for another phase of the app, or brought another app to the only front.
    case phaseChanged
    /// Another request ended the app.
    case ended
    /// A reload has removed the app.
    case configurationRemoved
    /// No app may be in front under this condition of the board; nil: one that has just ended.
    case condition(Condition?)
    /// What `curfew run` started is not brought to the front.
    case taskHasNoFront
    /// What `curfew run` started is not launched by others.
    case taskEnded
    /// A process is not taken over under a name that is taken.
    case nameTaken(String)
    case endedBeforeItBegan
    case appEnding
    /// refill: what fills it again.
    case budgetSpent(refill: BudgetRefill)
    /// The app's file does not have task-policy = "keep-awake".
    case keepAwakeNotConfigured
    case keepAwakeSpent
    /// An operator's end of a sleep, while logind waits for the apps.
    case loginPreparesSleep
    case sleepCalledOff
}

/// What fills the budget for background tasks again.
public enum BudgetRefill: Hashable, Sendable {
    /// The app becomes active.
    case activation
    /// For one that has never been active: time, a sleep, external power.
    case time
}
