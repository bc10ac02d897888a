internal import Varlink

/// A call of io.curfew.Delegate.
enum HandlerCall: Sendable {
    case didFinishLaunching(LaunchReason, Deadline)
    case didBecomeActive(Deadline)
    case willResignActive(Deadline)
    case didEnterBackground(Deadline)
    case willEnterForeground(Deadline)
    case willTerminate(reason: String, Deadline)
    case backgroundTaskWillExpire(BackgroundTask, Deadline)
    case performFetch(Deadline)
    case didReceiveRemoteNotification(RemoteNotification, Deadline)
    case handleEventsForBackgroundSession(String, Deadline)
    case didReceiveMemoryWarning(MemoryLevel)
    case powerStateDidChange(PowerState)
    case thermalStateDidChange(ThermalState)

    /// Calls that the device does not wait for.
    enum Information { case memory, power, thermal }

    var information: Information? {
        switch self {
        case .didReceiveMemoryWarning: .memory
        case .powerStateDidChange: .power
        case .thermalStateDidChange: .thermal
        case .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
            .willTerminate, .backgroundTaskWillExpire, .performFetch, .didReceiveRemoteNotification,
            .handleEventsForBackgroundSession:
            nil
        }
    }

    /// Background updates have a result.
    var isUpdate: Bool {
        switch self {
        case .performFetch, .didReceiveRemoteNotification: true
        case .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
            .willTerminate, .backgroundTaskWillExpire, .handleEventsForBackgroundSession, .didReceiveMemoryWarning,
            .powerStateDidChange, .thermalStateDidChange:
            false
        }
    }

    /// The delegate's function.
    var name: String {
        switch self {
        case .didFinishLaunching: "didFinishLaunching"
        case .didBecomeActive: "didBecomeActive"
        case .willResignActive: "willResignActive"
        case .didEnterBackground: "didEnterBackground"
        case .willEnterForeground: "willEnterForeground"
        case .willTerminate: "willTerminate"
        case .backgroundTaskWillExpire(let task, _): "backgroundTaskWillExpire for \"\(task.name)\""
        case .performFetch: "performFetch"
        case .didReceiveRemoteNotification: "didReceiveRemoteNotification"
        case .handleEventsForBackgroundSession: "handleEventsForBackgroundSession"
        case .didReceiveMemoryWarning: "didReceiveMemoryWarning"
        case .powerStateDidChange: "powerStateDidChange"
        case .thermalStateDidChange: "thermalStateDidChange"
        }
    }

    /// nil where this library does not know the method or one of its values. Deadlines count from now.
    init?(_ method: String, _ parameters: JSONObject) {
        let deadline = Deadline(after: Duration(wire: parameters["deadline"]?.doubleValue ?? 0))
        let call: HandlerCall? =
            switch method.dropFirst(DelegateInterface.name.utf8.count + 1) {
            case "DidFinishLaunching": parameters.value("reason").map { .didFinishLaunching($0, deadline) }
            case "DidBecomeActive": .didBecomeActive(deadline)
            case "WillResignActive": .willResignActive(deadline)
            case "DidEnterBackground": .didEnterBackground(deadline)
            case "WillEnterForeground": .willEnterForeground(deadline)
            case "WillTerminate":
                .willTerminate(reason: parameters["reason"]?.stringValue ?? "", deadline)
            case "BackgroundTaskWillExpire":
                .backgroundTaskWillExpire(
                    BackgroundTask(
                        identifier: BackgroundTaskIdentifier(parameters["identifier"]?.intValue ?? 0),
                        name: parameters["name"]?.stringValue ?? ""),
                    deadline)
            case "PerformFetch": .performFetch(deadline)
            case "DidReceiveRemoteNotification":
                parameters["payload"]?.objectValue.map {
                    .didReceiveRemoteNotification(RemoteNotification($0), deadline)
                }
            case "HandleEventsForBackgroundSession":
                .handleEventsForBackgroundSession(parameters["session"]?.stringValue ?? "", deadline)
            case "DidReceiveMemoryWarning": parameters.value("level").map { .didReceiveMemoryWarning($0) }
            case "PowerStateDidChange": .powerStateDidChange(PowerState(parameters))
            case "ThermalStateDidChange": parameters.value("state").map { .thermalStateDidChange($0) }
            default: nil
            }
        guard let call else { return nil }
        self = call
    }
}

extension JSONObject {
    /// A member that is one of an enumeration's names.
    func value<Value: RawRepresentable<String>>(_ name: String) -> Value? {
        self[name]?.stringValue.flatMap { Value(rawValue: $0) }
    }
}

extension PowerState {
    init(_ parameters: JSONObject) {
        isOnExternalPower = parameters["externalPower"]?.boolValue ?? true
        batteryLevel = parameters["batteryLevel"]?.doubleValue
        isLowPowerMode = parameters["lowPowerMode"]?.boolValue ?? false
    }
}
