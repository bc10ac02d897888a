/// What an app is told of its place on the device.
public enum ScenePhase: String, Sendable, CaseIterable { case active, inactive, background }

/// What is done with an app's processes.
public enum TaskState: String, Sendable, CaseIterable { case notRunning, running, suspended, terminating }

/// Why an app was launched.
public enum LaunchReason: String, Sendable, CaseIterable {
    case user, boot, restart, backgroundFetch, remoteNotification, backgroundSession, backgroundTask, location
    case accessory
}

/// What came of a background update.
public enum FetchResult: String, Sendable, CaseIterable { case newData, noData, failed }

/// How short memory is.
public enum MemoryLevel: String, Sendable, CaseIterable { case warning, critical }

/// How hot the board is.
public enum ThermalState: String, Sendable, CaseIterable { case nominal, fair, serious, critical }

/// Whether the app gets background updates. denied: they are switched off; restricted: by low power mode or the board.
public enum BackgroundRefreshStatus: String, Sendable, CaseIterable { case available, denied, restricted }

/// The board's power supply.
public struct PowerState: Sendable, Hashable {
    /// Also where the board does not say.
    public let isOnExternalPower: Bool
    /// From 0 to 1; nil without a battery.
    public let batteryLevel: Double?
    public let isLowPowerMode: Bool
}

/// Where an app stands.
public struct ApplicationState: Sendable, Hashable {
    /// The name of its configuration file.
    public let name: String
    public let scenePhase: ScenePhase?
    public let taskState: TaskState
    /// nil: no limit.
    public let backgroundTimeRemaining: Duration?
    public let backgroundRefreshStatus: BackgroundRefreshStatus
    public let isLowPowerMode: Bool
    public let thermalState: ThermalState
}
