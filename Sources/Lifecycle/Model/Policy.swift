/// When an app is launched without being asked.
public enum LaunchPolicy: UInt8, Sendable { case boot, manual, onDemand }

/// After which ends an app is started again.
public enum RestartPolicy: UInt8, Sendable { case never, onFailure, always }

/// What ends a launch, beside the return of didFinishLaunching.
public enum Readiness: UInt8, Sendable {
    /// exec(2) has succeeded.
    case launch
    /// READY=1 has come over the notify socket.
    case notify
}

/// Whether all apps that are active are in front together, or one at a time.
public enum FrontPolicy: UInt8, Sendable { case many, one }

/// The time each handler may take.
public struct Allowances: Hashable, Sendable {
    /// No app is given a deadline that no program can meet.
    static let least = Nanoseconds.milliseconds(100)

    /// What an app may extend a launch or its end to (EXTEND_TIMEOUT_USEC), in all.
    static func longest(of told: Nanoseconds) -> Nanoseconds { told * 3 }

    var values: [Nanoseconds]

    /// The defaults: 20 s to launch, 5 s to enter background and to terminate, 10 s for the rest.
    public init() {
        values = Handler.allCases.map { handler in
            switch handler {
            case .didFinishLaunching: .seconds(20)
            case .didEnterBackground, .willTerminate: .seconds(5)
            case .didBecomeActive, .willResignActive, .willEnterForeground: .seconds(10)
            // What is left of the budget.
            case .backgroundTaskWillExpire: .zero
            }
        }
    }

    /// The time that one handler may take.
    public subscript(handler: Handler) -> Nanoseconds {
        get { values[Int(handler.rawValue)] }
        set { values[Int(handler.rawValue)] = newValue }
    }
}

/// What the core must know of an app. The shell knows the rest (program, user, environment, limits).
public struct AppPolicy: Hashable, Sendable {
    public var name: String
    /// A file that says nothing of it means `boot` (`AppConfiguration`); what is taken over is never launched.
    public var launch = LaunchPolicy.manual
    /// The scene phase after a launch at boot: active or background.
    public var start = ScenePhase.active
    public var readiness = Readiness.launch
    /// What the app's delegate implements; empty without a delegate.
    public var handlers: HandlerSet = []
    public var allowances = Allowances()
    public var restart = RestartPolicy.onFailure
    /// The first delay; doubles with each end in a row up to `restartDelayMax`.
    public var restartDelay = Nanoseconds.milliseconds(100)
    public var restartDelayMax = Nanoseconds.seconds(30)
    /// An uptime after which an end is not "in a row" any more.
    public var restartReset = Nanoseconds.seconds(60)
    /// Ends in a row before the app is left down.
    public var restartLimit = 10
    /// False: never frozen.
    public var suspend = true
    /// Apps launched before and frozen after this one.
    public var after: [String] = []
    /// The longest time between two WATCHDOG=1; nil: not watched.
    public var liveness: Nanoseconds?
    /// The pool of an app that holds a task as it enters background; without one it is 30 s. As much again, counted
    /// apart, is its time to keep the board awake. In low power mode both are 30 s.
    public var taskBudget = Nanoseconds.seconds(600)
    /// Its background tasks may keep the board awake.
    public var keepsAwake = false
    /// Where memory or temperature ask for victims, lower goes first.
    public var priorityBand = 100
    /// The board is reset rather than left without it.
    public var isEssential = false

    public init(name: String) { self.name = name }
}

/// What the core must know of the device.
public struct DevicePolicy: Hashable, Sendable {
    public var front = FrontPolicy.many
    /// Kept back from logind's InhibitDelayMaxUSec for killing and freezing.
    public var sleepMargin = Nanoseconds.milliseconds(500)
    /// All that the way to sleep may take, its margin included, however long logind would wait.
    public var sleepAllowanceMax = Nanoseconds.seconds(30)
    /// The same in place of InhibitDelayMaxUSec, for the sleep hook and for logical sleep.
    public var sleepAllowanceWithoutLogind = Nanoseconds.seconds(5)
    /// How long held background tasks may put off the release of the lock when all other apps are ready.
    public var taskGrace = Nanoseconds.seconds(2)
    /// How long the board sleeps before it is woken for held background tasks; nil: it is not.
    public var darkWakeInterval: Nanoseconds?
    /// How long they then have, before it sleeps again.
    public var darkWakeAllowance = Nanoseconds.seconds(30)
    /// What each condition of the board asks.
    public var responses = ConditionResponses()
    /// What a condition changed turns back only after so long.
    public var debounce = Nanoseconds.seconds(2)
    /// Percent, on battery: where the board's profile says nothing else.
    public var batteryLow = 20
    public var batteryCritical = 5
    /// Apps of this band and above are ended for memory only when no other app is left, and never for heat.
    public var protectedBand = 900
    /// Bytes that are to be available after apps were ended for memory; nil: an eighth of all.
    public var memoryReserve: Int64?
    /// The board cannot sleep in the kernel: all its sleeps are logical.
    public var sleepsLogically = false
    /// What ends a logical sleep, beside `curfew wake`.
    public var wakeSources = WakeSources([WakeSources(.key), WakeSources(.clock), WakeSources(.lid)])

    public init() {}
}
