/// Everything the core can hear. The shell makes one of what the kernel, the buses and the clients say.
public enum Event: Equatable, Sendable {
    /// The configuration, at start and at each reload. Apps that are gone from it are ended; new ones are added.
    case configured([AppPolicy], DevicePolicy)
    /// The configuration is known and nothing of a predecessor is left: apps with `launch = "boot"` start.
    case started
    /// Whether processes can be frozen here (a writable control group).
    case freezing(available: Bool)
    /// Time has come (`nextDeadline`), a clock was set, or the board may have slept: nothing but the instant.
    case woke

    // What the kernel says of an instance.
    case spawned(InstanceID)
    /// code: errno; explanation: "exec /usr/bin/x: No such file or directory".
    case spawnFailed(InstanceID, code: Int32, explanation: String)
    /// The main process is gone and reaped.
    case exited(InstanceID, ExitStatus)
    /// Nothing is left in the control group, and it is removed.
    case groupEmptied(InstanceID)
    case frozen(InstanceID)

    // What an app says.
    case handlerReturned(InstanceID, CallID)
    case ready(InstanceID)
    case ping(InstanceID)
    /// STOPPING=1: the app is ending by itself.
    case stopping(InstanceID)
    /// EXTEND_TIMEOUT_USEC: counted from now.
    case extendTimeout(InstanceID, Nanoseconds)

    // What logind says. delayMax: InhibitDelayMaxUSec; nil: unknown.
    case loginAvailable(delayMax: Nanoseconds?, preparingForSleep: Bool, preparingForShutdown: Bool)
    /// Locks are gone with it.
    case loginUnavailable
    case lockTaken(LockKind)
    case lockRefused(LockKind)
    /// signalled: MONOTONIC when the signal came, which is when logind's clock started.
    case prepareForSleep(Bool, delayMax: Nanoseconds?, signalled: Nanoseconds)
    case prepareForShutdown(Bool, delayMax: Nanoseconds?, signalled: Nanoseconds)
    /// The answer to `readPreparingForSleep`; nil: logind does not say.
    case preparingForSleep(Bool?)
    /// Whether the kernel has slept since the present sleep was announced, or refused to
    /// (/sys/power/suspend_stats). Comes before the word that the board is awake, where the kernel counts.
    case kernelSlept(Bool)
    /// The answer to `suspendDevice`, where it is no sleep.
    case suspendRefused
    /// The answer to `powerOff`, where the board stays on. It is asked again later.
    case powerOffRefused
    case session(SessionReading)
    /// The daemon is started anew, and its predecessor left a note of a sleep that was announced: BOOTTIME less
    /// MONOTONIC then. Comes before `loginAvailable`.
    case sleepNoted(timeAsleep: Nanoseconds)

    // What the board says of itself.
    case lid(closed: Bool)
    /// Its power, sleep or wake-up key went down.
    case powerKeyPressed
    case power(PowerReading)
    /// The supply is too weak for the board.
    case underVoltage(Bool)
    /// All places whose temperature is known.
    case temperatures([ThermalReading])
    /// Whether any network is connected.
    case network(up: Bool)
    /// Something that has to be known is announced by nobody: `pollBoard` asks for a look at it so often; nil: no need.
    case polling(interval: Nanoseconds?)
    /// The kernel's pressure stall information: apps have waited for memory.
    case memoryPressure(MemoryLevel)
    /// The answer to `readMemory`, in bytes. available: without making anybody wait.
    case memoryRead(available: Int64, total: Int64, [MemoryUse])
    /// An app was slowed down at its own `memory-high`.
    case memoryLimitReached(InstanceID)
    /// Comes before `exited` where somebody else has ended the main process for want of memory.
    case killedForMemory(InstanceID, by: MemoryKiller = .kernel)
    /// The board's watchdog was armed with a timeout (which feeds it); nil: there is none, or it is gone.
    case hardwareWatchdog(timeout: Nanoseconds?)
    /// The service manager expects signs of life from the daemon itself.
    case serviceWatchdog

    /// A call of the Control interface; answered by one `reply`.
    case requested(RequestID, Request)
    /// Its client is gone: no reply is awaited any more.
    case requestAbandoned(RequestID)
    /// SIGTERM: end all apps, then the daemon.
    case stopRequested
}

extension Event {
    /// logind says that the board is awake.
    var isEndOfLoginSleep: Bool { if case .prepareForSleep(false, _, _) = self { true } else { false } }
}

/// The locks we hold at logind.
public enum LockKind: UInt8, CaseIterable, Sendable {
    /// Delay locks: each puts its operation off until the apps are ready.
    case sleep, shutdown
    /// A block lock on idle and sleep, for background tasks that may keep the board awake.
    case keepAwake
}

/// What an operator asks for.
public enum Request: Equatable, Sendable {
    case launch(AppID, background: Bool)
    case activate(AppID)
    case background(AppID)
    case terminate(AppID, force: Bool)
    /// One edge of a sleep, from the sleep hook or for a logical sleep, which nothing but another edge ends. about: the
    /// number of the sleep that a hook's end is about, as the answer to its start said; nil: not known.
    case sleep(start: Bool, logical: Bool, about: Int? = nil)
    /// Answered by `taskBegun`, `tooManyTasks` or `denied`.
    case beginTask(InstanceID, TaskWish)
    /// Answered by `done` or `noSuchTask`. Also where the process that a task names is gone.
    case endTask(InstanceID, BackgroundTaskID)
    /// A process that somebody else has started becomes an app of its own for as long as it runs: `spawn` asks for
    /// it to be taken over. Answered by `taskBegun`, `appEnded` or `denied`.
    case adopt(app: String, TaskWish)
    /// didReceiveMemoryWarning, to one app.
    case warnOfMemory(AppID, MemoryLevel)
    /// The user's own word on low power mode; nil: automatic.
    case setLowPower(Bool?)
}

/// How a request ended.
public enum RequestOutcome: Equatable, Sendable {
    case done
    /// killed: the names of the apps that had to be ended.
    case sleepReady(sleep: Int, killed: [String])
    case notRunning
    case appEnded(Termination)
    /// "sleeping", "shutting down", ...
    case denied(String)
    /// timeRemaining: nil for no limit.
    case taskBegun(BackgroundTaskID, timeRemaining: Nanoseconds?)
    case tooManyTasks(limit: Int)
    case noSuchTask
}
