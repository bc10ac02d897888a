internal import Varlink

/// `App` of io.curfew.Control, as far as it is shown. What is missing in the daemon's reply is taken as unknown.
struct AppRecord: Equatable {
    let name: String
    let invalid: String?
    /// The same, one by one.
    let problems: [String]
    let scenePhase: String?
    let taskState: String
    let mainPID: Int64?
    let priorityBand: Int64
    let backgroundModes: [String]
    let backgroundRefresh: Bool
    let backgroundTimeRemaining: Double?
    let statusText: String?
    let memoryBytes: Int64?
    let launches: Int64
    /// The daemon has given up restarting it. An older daemon says so in `statusText` alone.
    let isLeftDown: Bool
    /// nil: it was not started yet.
    let user: Int64?
    /// Its level; nil: an older daemon.
    let sandbox: String?
    let sandboxHas: [String]
    let sandboxLacks: [String]
    let lastTermination: TerminationRecord?

    init(_ json: JSON) {
        name = json["name"]?.stringValue ?? "?"
        let invalid = json["invalid"]?.stringValue
        self.invalid = invalid
        problems = json["problems"]?.arrayValue?.compactMap(\.stringValue) ?? invalid.map { [$0] } ?? []
        scenePhase = json["scenePhase"]?.stringValue
        taskState = json["taskState"]?.stringValue ?? "unknown"
        mainPID = json["mainPID"]?.intValue
        priorityBand = json["priorityBand"]?.intValue ?? 0
        backgroundModes = json["backgroundModes"]?.arrayValue?.compactMap(\.stringValue) ?? []
        backgroundRefresh = json["backgroundRefresh"]?.boolValue ?? false
        backgroundTimeRemaining = json["backgroundTimeRemaining"]?.doubleValue
        statusText = json["statusText"]?.stringValue
        memoryBytes = json["memoryBytes"]?.intValue
        launches = json["launches"]?.intValue ?? 0
        isLeftDown = json["leftDown"]?.boolValue ?? false
        user = json["user"]?.intValue
        sandbox = json["sandbox"]?.stringValue
        sandboxHas = json["sandboxHas"]?.arrayValue?.compactMap(\.stringValue) ?? []
        sandboxLacks = json["sandboxLacks"]?.arrayValue?.compactMap(\.stringValue) ?? []
        lastTermination = json["lastTermination"]?.objectValue.map { TerminationRecord(.object($0)) }
    }

    /// The state as people know it.
    var state: String {
        if invalid != nil { return "invalid" }
        switch taskState {
        case "notRunning": return "not running"
        case "running": return scenePhase ?? "starting"
        default: return taskState
        }
    }

    var tone: Tone {
        switch state {
        case "active": .good
        case "inactive", "starting", "terminating": .caution
        case "background", "suspended": .accent
        case "invalid": .bad
        default: isLeftDown ? .bad : .dim
        }
    }
}
