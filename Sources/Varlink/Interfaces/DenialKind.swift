/// Why io.curfew.Control denies a call: the member `kind` of its error `Denied`, for programs. A name stays, whatever
/// the sentence beside it says to people.
public enum DenialKind: String, CaseIterable, Sendable {
    case sleeping
    case shuttingDown
    case noSuchApp
    case phaseChanged
    case ended
    case configurationRemoved
    case condition
    case taskHasNoFront
    case taskEnded
    case nameTaken
    case endedBeforeItBegan
    case appEnding
    case budgetSpent
    case keepAwakeNotConfigured
    case keepAwakeSpent
    case loginPreparesSleep
    case sleepCalledOff
    /// The app's file cannot be used: `App.invalid` says why.
    case invalidConfiguration
    /// A process is not taken over that is not the caller's child, or of another user.
    case notYourProcess
    /// A process is not taken over that belongs to an app.
    case processOfAnApp
    /// As many processes are taken over as may be.
    case tooManyTasks
    /// A setting cannot be written down.
    case notSaved
    /// Another version of the program cannot go on where this one is.
    case notUpgraded
}
