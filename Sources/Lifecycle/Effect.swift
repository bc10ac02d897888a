/// Everything the core can ask of the shell, carried out in order after the transition.
public enum Effect: Equatable, Sendable {
    /// Start the app's program in a fresh control group. Answered by `spawned` or `spawnFailed`.
    case spawn(AppID, InstanceID, LaunchReason, background: Bool)
    /// Call the app's delegate. deadline: from now. Answered by `handlerReturned`.
    case call(InstanceID, CallID, HandlerCall, deadline: Nanoseconds)
    /// Tell the app's delegate; no reply is awaited.
    case inform(InstanceID, Information)
    /// SIGTERM to the main process.
    case terminate(InstanceID)
    /// Kill every process of the control group at once. Answered by `exited`.
    case kill(InstanceID)
    /// The main process is gone: kill what is left in the control group and remove it. Answered by `groupEmptied`.
    case clear(InstanceID)
    /// Answered by `frozen`.
    case freeze(InstanceID)
    case thaw(InstanceID)
    /// Say which processes could not be frozen or killed.
    case nameCulprits(InstanceID, Stuck)
    case takeLock(LockKind)
    case releaseLock(LockKind)
    /// Answered by `preparingForSleep`.
    case readPreparingForSleep
    /// A sleep of the kernel's may come at any moment, and the apps have been walked: whoever announces sleeps beside
    /// logind need not. Or not any more.
    case sleepHandled(Bool)
    /// Wake the board at a moment of BOOTTIME, and the core then; nil: not any more.
    case setWakeAlarm(Nanoseconds?)
    /// Ask logind for a sleep. Answered by `prepareForSleep` or `suspendRefused`.
    case suspendDevice
    /// Ask logind to switch the board off. Answered by `prepareForShutdown` or `powerOffRefused`.
    case powerOff
    /// Look at what nothing announces. Answered by `temperatures`, `power`, `underVoltage`.
    case pollBoard
    /// Find out how much memory is available and, with `uses`, what each app has. Answered by `memoryRead`.
    case readMemory(uses: Bool)
    /// Listen again to an app's own memory limit.
    case watchMemoryLimit(InstanceID)
    case feedHardwareWatchdog
    /// The kernel is about to sleep: make the board's watchdog fit for it. Answered by `hardwareWatchdog`.
    case restHardwareWatchdog
    /// The kernel is awake: arm it again. Answered by `hardwareWatchdog`.
    case wakeHardwareWatchdog
    /// The kernel is about to sleep: the service manager is to expect no signs of life.
    case restServiceWatchdog
    /// The kernel is awake: as before.
    case wakeServiceWatchdog
    /// Record an end, durably. Comes before anything that follows from it.
    case report(Termination)
    case reply(RequestID, RequestOutcome)
    /// A background task has begun, is about to run out of time, or has ended.
    case taskChanged(AppID, InstanceID, BackgroundTaskView, TaskChange)
    case note(Notice)
    /// What can be seen of an app has changed.
    case appChanged(AppID)
    case deviceChanged
    /// Every app is ended: leave.
    case stopDaemon
}

/// What became of a sleep.
public enum SleepOutcome: UInt8, CaseIterable, Sendable {
    /// The board has slept, in the kernel or logically.
    case slept
    /// Called off before the kernel was asked, or never meant.
    case cancelled
    /// Announced, and every app ready: the kernel did not sleep.
    case failed
}

/// What would not let go.
public enum Stuck: UInt8, Sendable {
    case unfreezable
    case unkillable
}

/// A handler, with what it is told beside its deadline.
public enum HandlerCall: Equatable, Sendable {
    case didFinishLaunching(LaunchReason)
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    /// reason: the termination namespace, "user".
    case willTerminate(String)
    /// name: the task's.
    case backgroundTaskWillExpire(BackgroundTaskID, name: String)

    public var handler: Handler {
        switch self {
        case .didFinishLaunching: .didFinishLaunching
        case .didBecomeActive: .didBecomeActive
        case .willResignActive: .willResignActive
        case .didEnterBackground: .didEnterBackground
        case .willEnterForeground: .willEnterForeground
        case .willTerminate: .willTerminate
        case .backgroundTaskWillExpire: .backgroundTaskWillExpire
        }
    }
}

/// What an app is told without being waited for.
public enum Information: Equatable, Sendable {
    case didReceiveMemoryWarning(MemoryLevel)
    /// batteryLevel: percent; nil: unknown, or no battery.
    case powerStateDidChange(externalPower: Bool, batteryLevel: Int?, lowPowerMode: Bool)
    case thermalStateDidChange(ThermalState)
}

/// What is worth a line in the journal and has no other effect.
public enum Notice: Equatable, Sendable {
    case launched(AppID, InstanceID)
    case restartScheduled(AppID, delay: Nanoseconds)
    /// `restart-limit` ends in a row: nobody starts it again but an operator.
    case leftDown(AppID, ends: Int)
    /// A handler ran into its deadline: the app is about to be killed.
    case overrun(AppID, InstanceID, TerminationReason)
    case phaseChanged(AppID, ScenePhase)
    case sleepPreparing(sleep: Int, allowance: Nanoseconds)
    /// elapsed: from the announcement.
    case sleepReleased(sleep: Int, elapsed: Nanoseconds, killed: Int)
    case sleepEnded(sleep: Int, SleepOutcome)
    /// Our alarm has woken the board: held background tasks run, for so long at most.
    case darkWake(sleep: Int, allowance: Nanoseconds)
    /// The board slept without a word to us.
    case sleptUnannounced(Nanoseconds)
    case shutdownPreparing(allowance: Nanoseconds?)
    case shutdownCancelled
    /// The board gave no time: handler deadlines were moved by this much.
    case stalled(Nanoseconds)
    /// An app's background tasks do not keep the board awake any more: their budget for that is spent.
    case keepAwakeSpent(AppID, budget: Nanoseconds)
    /// A condition of the board keeps apps from the front, or does not any more.
    case phaseLimited(ScenePhase, by: Condition?)
    case externalPower(Bool, level: Int?)
    case lowPowerMode(Bool, level: Int?)
    case underVoltage(Bool)
    case thermalState(ThermalState)
    case memoryPressure(MemoryPressure)
    /// Memory is critically short, and nobody is left to be ended.
    case memoryExhausted
    /// The board is about to be switched off.
    case criticalBattery(level: Int?)
    /// It is not fed any more: the board resets after this time.
    case essentialAppLost(AppID, reset: Nanoseconds)
}

/// When the core must be woken, and why.
public struct Deadline: Equatable, Sendable {
    /// MONOTONIC. In the past: at once.
    public var at: Nanoseconds
    public var reason: Reason

    /// What is due then.
    public enum Reason: Equatable, Sendable {
        case spawn(AppID)
        case handler(AppID, Handler)
        case taskExpiration(AppID)
        case taskBudget(AppID)
        case keepAwakeBudget(AppID)
        case exit(AppID)
        case liveness(AppID)
        case memoryLimit(AppID)
        case restart(AppID)
        case freeze(AppID)
        case clearing(AppID)
        /// A handler runs: a look at the clock, so that a stalled board is noticed before anybody is judged.
        case stallCheck
        case sleepAllowance
        /// Held background tasks have put the release off for long enough.
        case taskGrace
        case sleepRelease
        case sleepCancellation
        /// A question to logind has waited for long enough, or is asked again.
        case login
        case darkWake
        case shutdown
        case condition
        case criticalBattery
        case thermalRelief
        case poll
        case memory
        case hardwareWatchdog
    }
}
