/// The lifecycle of a board and its apps.
public struct DeviceLifecycle: Equatable, Sendable {
    public init() {}
    public mutating func handle(_ event: Event, at now: Instant) -> [Effect] { [] }
    public var nextDeadline: Deadline? { nil }
    /// The whole state, to be written down.
    public func archived() -> [UInt8] { [] }
    /// Reads a state back; nil when the bytes are damaged or of another version.
    public init?(archive: [UInt8]) { return nil }
    public func id(of name: String) -> AppID? { nil }
    public func view(of app: AppID) -> AppView? { nil }
    public var device: DeviceView { DeviceView(sleepState: .awake, sleep: 0, preparingForShutdown: false) }
}
/// What can be seen of an app.
public struct AppView: Equatable, Sendable {
    public var id: AppID
    public var name: String
    /// nil while it does not run.
    public var phase: ScenePhase?
    public var taskState: TaskState
    public var instance: InstanceID?
    /// Processes started since the daemon was.
    public var launches: Int
    public var restartPending: Bool
    public var lastTermination: Termination?
}
/// What can be seen of the device.
public struct DeviceView: Equatable, Sendable {
    public var sleepState: SleepState
    /// The number of the current or last sleep.
    public var sleep: Int
    public var preparingForShutdown: Bool
}
