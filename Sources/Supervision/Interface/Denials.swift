internal import Lifecycle
internal import Varlink

extension Denial {
    /// What programs read of it.
    var kind: DenialKind {
        switch self {
        case .sleeping: .sleeping
        case .shuttingDown: .shuttingDown
        case .noSuchApp: .noSuchApp
        case .phaseChanged: .phaseChanged
        case .ended: .ended
        case .configurationRemoved: .configurationRemoved
        case .condition: .condition
        case .taskHasNoFront: .taskHasNoFront
        case .taskEnded: .taskEnded
        case .nameTaken: .nameTaken
        case .endedBeforeItBegan: .endedBeforeItBegan
        case .appEnding: .appEnding
        case .budgetSpent: .budgetSpent
        case .keepAwakeNotConfigured: .keepAwakeNotConfigured
        case .keepAwakeSpent: .keepAwakeSpent
        case .loginPreparesSleep: .loginPreparesSleep
        case .sleepCalledOff: .sleepCalledOff
        }
    }
}

extension AdoptionRefusal.Cause {
    var kind: DenialKind {
        switch self {
        case .notYours: .notYourProcess
        case .ofAnApp: .processOfAnApp
        case .nameTaken: .nameTaken
        case .tooMany: .tooManyTasks
        }
    }
}
