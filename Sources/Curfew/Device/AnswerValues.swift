internal import Varlink

extension ApplicationState {
    /// `State` of io.curfew.Application; nil where it is something else.
    init?(_ value: JSON?) {
        guard let object = value?.objectValue, let name = object["app"]?.stringValue,
            let taskState: TaskState = object.value("taskState"),
            let refresh: BackgroundRefreshStatus = object.value("backgroundRefreshStatus"),
            let isLowPowerMode = object["lowPowerMode"]?.boolValue,
            let thermalState: ThermalState = object.value("thermalState")
        else { return nil }
        self.init(
            name: name, scenePhase: object.value("scenePhase"), taskState: taskState,
            backgroundTimeRemaining: object["backgroundTimeRemaining"]?.doubleValue.map(Duration.init(wire:)),
            backgroundRefreshStatus: refresh, isLowPowerMode: isLowPowerMode, thermalState: thermalState)
    }
}

extension HeldBackgroundTask {
    /// `BackgroundTask` of io.curfew.Application; nil where it is something else.
    init?(_ value: JSON) {
        guard let identifier = value["identifier"]?.intValue, let name = value["name"]?.stringValue,
            let keepsAwake = value["keepAwake"]?.boolValue, let held = value["secondsHeld"]?.doubleValue
        else { return nil }
        self.init(
            task: BackgroundTask(identifier: BackgroundTaskIdentifier(identifier), name: name),
            keepsAwake: keepsAwake, timeHeld: Duration(wire: held))
    }
}

extension CurfewError {
    /// The answer has not the members it should have.
    static func unreadable(_ method: String) -> CurfewError {
        .unexpectedAnswer("something else than the interface says, to \(method)")
    }
}
