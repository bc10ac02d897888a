extension Denial {
    /// For people.
    public var explanation: String {
        switch self {
        case .sleeping: "sleeping"
        case .shuttingDown: "shutting down"
        case .noSuchApp: "no such app"
        case .phaseChanged: "another request changed its phase"
        case .ended: "another request ended it"
        case .configurationRemoved: "its configuration was removed"
        case .condition(let condition?): condition.explanation
        case .condition(nil): "a condition of the board has just ended"
        case .taskHasNoFront: "a task of its own does not come to the front"
        case .taskEnded: "it has ended, and only who started it can start it again"
        case .nameTaken(let name): "\(name) is there already"
        case .endedBeforeItBegan: "it was ended before it began"
        case .appEnding: "the app is being ended"
        case .budgetSpent(.activation): "the budget is spent; it is full again when the app becomes active"
        case .budgetSpent(.time):
            "the budget is spent; it is full again after a day, a sleep of half an hour, or with external power"
        case .keepAwakeNotConfigured: "the app is not configured with task-policy = \"keep-awake\""
        case .keepAwakeSpent: "the time to keep the board awake is spent until it has slept"
        case .loginPreparesSleep: "logind prepares a sleep"
        case .sleepCalledOff: "the sleep was called off"
        }
    }
}

extension Condition {
    /// Why an app cannot come to the front.
    var explanation: String {
        switch self {
        case .sessionLocked: "the session is locked"
        case .lidClosed: "the lid is closed"
        case .idle: "the board is idle"
        case .powerKey, .onBattery, .batteryLow, .batteryCritical, .underVoltage, .thermalSerious, .thermalCritical: key
        }
    }
}
