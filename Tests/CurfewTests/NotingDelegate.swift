import Curfew

/// Notes every call, and then does what a test says.
struct NotingDelegate: ApplicationDelegate {
    let events = Events()
    var onCall: @Sendable (_ app: Application, _ handler: String) async throws -> Void = { _, _ in }

    private func note(_ app: Application, _ handler: String, _ argument: String = "") async throws {
        events.note(argument.isEmpty ? handler : "\(handler) \(argument)")
        try await onCall(app, handler)
        events.note("\(handler) done")
    }

    func didFinishLaunching(_ app: Application, reason: LaunchReason, deadline: Deadline) async throws {
        try await note(app, "DidFinishLaunching", reason.rawValue)
    }
    func didBecomeActive(_ app: Application, deadline: Deadline) async throws { try await note(app, "DidBecomeActive") }
    func willResignActive(_ app: Application, deadline: Deadline) async throws {
        try await note(app, "WillResignActive")
    }
    func didEnterBackground(_ app: Application, deadline: Deadline) async throws {
        try await note(app, "DidEnterBackground")
    }
    func willEnterForeground(_ app: Application, deadline: Deadline) async throws {
        try await note(app, "WillEnterForeground", "\(deadline.timeAllowance)")
    }
    func willTerminate(_ app: Application, reason: String, deadline: Deadline) async throws {
        try await note(app, "WillTerminate", reason)
    }
    func backgroundTaskWillExpire(_ app: Application, _ task: BackgroundTask, deadline: Deadline) async throws {
        try await note(app, "BackgroundTaskWillExpire", "\(task.identifier.rawValue) \(task.name)")
    }
    func performFetch(_ app: Application, deadline: Deadline) async throws -> FetchResult {
        try await note(app, "PerformFetch")
        return .newData
    }
    func didReceiveRemoteNotification(
        _ app: Application, _ notification: RemoteNotification, deadline: Deadline
    ) async throws -> FetchResult {
        try await note(app, "DidReceiveRemoteNotification", notification["command"]?.stringValue ?? notification.json)
        return .newData
    }
    func handleEventsForBackgroundSession(_ app: Application, session: String, deadline: Deadline) async throws {
        try await note(app, "HandleEventsForBackgroundSession", session)
    }
    func didReceiveMemoryWarning(_ app: Application, level: MemoryLevel) async throws {
        try await note(app, "DidReceiveMemoryWarning", level.rawValue)
    }
    func powerStateDidChange(_ app: Application, _ state: PowerState) async throws {
        let level = state.batteryLevel.map { "\($0)" } ?? "none"
        try await note(app, "PowerStateDidChange", "\(state.isOnExternalPower) \(level) \(state.isLowPowerMode)")
    }
    func thermalStateDidChange(_ app: Application, _ state: ThermalState) async throws {
        try await note(app, "ThermalStateDidChange", state.rawValue)
    }
}

/// Overrides nothing.
struct SilentDelegate: ApplicationDelegate {}

struct Failure: Error {}
