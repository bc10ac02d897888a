/// An app as the core knows it, whether it runs or not.
struct App: Equatable {
    var policy: AppPolicy
    /// Gone from the configuration; the place is taken again by the next app of that name.
    var isRetired = false
    /// The apps this one comes after, and those that come after it.
    var servers: [Int] = []
    var clients: [Int] = []
    /// The longest chain of servers below it: servers have a lower level than all their clients.
    var level = 0

    /// Where the app should stand when nothing on the board asks otherwise. Outlives the instance: a restart keeps it.
    var requestedPhase = ScenePhase.background
    /// The same without what may be denied yet.
    var grantedPhase = ScenePhase.background
    /// Waits for the apps it comes after, or for the board to wake.
    var queuedLaunch: LaunchReason?
    var restart = RestartState()
    /// What would start it, were its launch that is wished denied; nil: none is wished that can be.
    var launchIfDenied: LaunchState?
    var instance: Instance?
    /// What its background tasks have left since it was last active; nil: all of it.
    var pool: TaskPool?
    /// What is left of its time to keep the board awake; nil: all of it.
    var lockTimeLeft: Nanoseconds?
    /// Not configured: a process that was taken over, for as long as it runs.
    var isAdopted = false
    /// Until its process is in our hands.
    var adoption: Adoption?
    /// It was launched, and neither an operator nor its own orderly exit has ended that.
    var isMeantToRun = false
    /// It has been in front since it was configured.
    var hasBeenActive = false
    var launches = 0
    var lastTermination: Termination?
    /// It ran when a shutdown was announced, and comes back when that is cancelled.
    var endedForShutdown = false
    /// It was in front when the board's memory or temperature ended it, and its delay is over.
    var returnsWhenWell = false

    // What follows from the rest, kept so that one event costs the same however many apps there are.
    var isTouched = false
    var isChanged = false
    var isSettledForSleep = true
    var hasRunningCall = false
    var wantsAwake = false
    var announced: AppView?

    /// The nearest that it is to stand, or would if what may be denied yet were.
    var nearestPhase: ScenePhase { max(requestedPhase, grantedPhase) }

    /// Something is to start it.
    var isLaunchDue: Bool { queuedLaunch != nil || restart.due != nil || returnsWhenWell || endedForShutdown }

    /// phase: what is wanted of it. In front it comes back by itself: there may be no person to bring it.
    func isRestarted(after reason: TerminationReason, in phase: ScenePhase) -> Bool {
        if reason.isOfTheBoard, phase != .background { return true }
        return policy.restart == .always ? reason.allowsRestart : reason.isFailure
    }

    var launchState: LaunchState {
        get {
            LaunchState(
                queued: queuedLaunch, restart: restart, returnsWhenWell: returnsWhenWell, isMeantToRun: isMeantToRun)
        }
        set {
            queuedLaunch = newValue.queued
            restart = newValue.restart
            returnsWhenWell = newValue.returnsWhenWell
            isMeantToRun = newValue.isMeantToRun
        }
    }

    /// A handler or an exit is awaited, and its time is running.
    var isTimed: Bool {
        guard let instance, instance.isAlive, !instance.clock.isStopped else { return false }
        return instance.call != nil || instance.stop?.exitDue != nil
    }

    var view: AppView {
        AppView(
            name: policy.name, phase: instance?.phase, taskState: instance?.taskState ?? .notRunning,
            instance: instance?.id, launches: launches, restartPending: restart.due != nil || queuedLaunch != nil,
            isLeftDown: restart.isLeftDown, lastTermination: lastTermination)
    }
}

/// What was asked with a process that is to be taken over.
struct Adoption: Equatable {
    var wish: TaskWish
    /// nil: nobody waits for the answer any more.
    var request: RequestID?
}

/// What is to start an app, and what its ends have come to.
struct LaunchState: Equatable {
    var queued: LaunchReason?
    var restart = RestartState()
    var returnsWhenWell = false
    var isMeantToRun = false
    /// The app has ended since, after so long in which it could run: what is to follow from that.
    var endedAfter: Nanoseconds?

    var isDue: Bool { queued != nil || restart.due != nil || returnsWhenWell || endedAfter != nil }
}

/// What is to happen to an app that ends again and again.
struct RestartState: Equatable {
    /// Ends without a stable uptime in between.
    var endsInRow = 0
    /// The delay of the next restart; nil: the policy's first.
    var nextDelay: Nanoseconds?
    /// When the app is started again, in MONOTONIC time.
    var due: Nanoseconds?
    var isLeftDown = false
}

/// What can be seen of an app.
public struct AppView: Equatable, Sendable {
    public var name: String
    /// nil while it does not run.
    public var phase: ScenePhase?
    public var taskState: TaskState
    public var instance: InstanceID?
    /// Processes started since the daemon was.
    public var launches: Int
    /// A restart or launch is due, or waits for another app or for the board to wake.
    public var restartPending: Bool
    /// `restart-limit` ends in a row: only an operator starts it again.
    public var isLeftDown: Bool
    public var lastTermination: Termination?
}

/// What can be seen of the device.
public struct DeviceView: Equatable, Sendable {
    public var sleepState: SleepState
    /// The number of the current or last sleep.
    public var sleep: Int
    public var isShuttingDown: Bool
    /// InhibitDelayMaxUSec as last heard; nil without logind.
    public var inhibitDelayMax: Nanoseconds?
    /// nil: nothing says so.
    public var externalPower: Bool?
    /// Percent; nil without a battery.
    public var batteryLevel: Int?
    public var isLowPower = false
    public var thermalState = ThermalState.nominal
    public var memoryPressure = MemoryPressure.normal
    public var isUnderVoltage = false
    /// The most that the conditions of the board allow, and why it is not more.
    public var phaseLimit = ScenePhase.active
    public var limit: String?
}
