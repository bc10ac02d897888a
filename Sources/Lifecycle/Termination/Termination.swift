/// One end of one app, as it is recorded. The shell adds the time of day and what the processes used.
public struct Termination: Hashable, Sendable {
    public var app: AppID
    public var name: String
    public var instance: InstanceID
    public var reason: TerminationReason
    /// The handler that was running.
    public var handler: Handler?
    /// The time that the handler was told it had, or the size of the pool that its tasks have spent.
    public var allowance: Nanoseconds?
    /// The runnable time that was taken of it; nil where no handler ran and no pool was spent.
    public var taken: Nanoseconds?
    /// Since the process was started, in MONOTONIC time.
    public var uptime: Nanoseconds
    public var phase: ScenePhase
    /// The sleep it happened in; nil while the board is awake.
    public var sleep: Int?

    public init(
        app: AppID, name: String, instance: InstanceID, reason: TerminationReason, handler: Handler? = nil,
        allowance: Nanoseconds? = nil, taken: Nanoseconds? = nil, uptime: Nanoseconds, phase: ScenePhase,
        sleep: Int? = nil
    ) {
        self.app = app
        self.name = name
        self.instance = instance
        self.reason = reason
        self.handler = handler
        self.allowance = allowance
        self.taken = taken
        self.uptime = uptime
        self.phase = phase
        self.sleep = sleep
    }
}
