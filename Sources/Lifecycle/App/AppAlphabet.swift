/// What an app says.
public enum AppEvent: Equatable, Sendable {
    case handlerReturned(InstanceID, CallID)
    case ready(InstanceID)
    case ping(InstanceID)
    /// STOPPING=1: the app is ending by itself.
    case stopping(InstanceID)
    /// EXTEND_TIMEOUT_USEC: counted from now.
    case extendTimeout(InstanceID, Nanoseconds)
    /// The handler is a command, and that is on its way to its exec(3).
    case handlerStarting(InstanceID, CallID)
    /// It runs.
    case handlerStarted(InstanceID, CallID)
}

/// What an app's delegate is told.
public enum AppEffect: Equatable, Sendable {
    /// Call the app's delegate. allowance: from now. Answered by `handlerReturned`.
    case call(InstanceID, CallID, HandlerCall, allowance: Nanoseconds)
    /// Its command has not got to run in time, and is awaited no more.
    case giveUp(InstanceID, CallID)
    /// Tell the app's delegate; no reply is awaited.
    case inform(InstanceID, Information)
}

/// What is worth a line of an app.
public enum AppNotice: Equatable, Sendable {
    case launched(AppID, InstanceID)
    case restartScheduled(AppID, delay: Nanoseconds)
    /// `restart-limit` ends in a row: only an operator starts it again.
    case leftDown(AppID, ends: Int)
    /// A handler ran into its deadline, or its tasks into the end of their budget: the app is about to be killed.
    case overrun(AppID, InstanceID, TerminationReason)
    case phaseChanged(AppID, ScenePhase)
    /// The command that its handler is did not get to run in the handler's time: that counts as handled.
    case handlerNotStarted(AppID, Handler)
    /// Its launch took all the time that a sleep had, or its end by itself: at the next ten sleeps it is frozen at once
    /// when it is at that again.
    case heldUpSleep(AppID)
    /// It runs through sleeps, and has not let go of its own lock at logind in time.
    case keepsLock(AppID, InstanceID)
    /// An app's background tasks do not keep the board awake any more: their budget for that is spent.
    case keepAwakeSpent(AppID, budget: Nanoseconds)
    /// The board's watchdog is not fed any more: the board resets after this time.
    case essentialAppLost(AppID, reset: Nanoseconds)
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

extension DeviceLifecycle {
    mutating func hear(_ event: AppEvent) {
        switch event {
        // Transition/Phases.swift
        case .handlerReturned(let instance, let call): handlerDidReturn(instance, call)
        // Launch/Launch.swift
        case .ready(let instance): didBecomeReady(instance)
        // Liveness.swift
        case .ping(let instance): hearSignOfLife(instance)
        // Termination/Stop.swift
        case .stopping(let instance): appBeganToStop(instance)
        case .extendTimeout(let instance, let time): extendTimeout(instance, time)
        // Transition/Phases.swift
        case .handlerStarting(let instance, let call): noteStart(instance, call, isUnderWay: true)
        case .handlerStarted(let instance, let call): noteStart(instance, call, isUnderWay: false)
        }
    }
}
