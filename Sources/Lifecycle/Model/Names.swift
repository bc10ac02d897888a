// Its words are the core's too: what imports the core sees them.
@_exported public import Vocabulary

/// What an app is told about where it stands.
public enum ScenePhase: UInt8, Comparable, CaseIterable, Sendable {
    case background
    case inactive
    case active

    public static func < (left: ScenePhase, right: ScenePhase) -> Bool { left.rawValue < right.rawValue }

    /// As in the Varlink interfaces.
    public var name: String {
        switch self {
        case .background: "background"
        case .inactive: "inactive"
        case .active: "active"
        }
    }
}

/// What is done with an app's processes.
public enum TaskState: UInt8, CaseIterable, Sendable {
    case notRunning
    case running
    /// Frozen by its control group.
    case suspended
    case terminating

    public var name: String {
        switch self {
        case .notRunning: "notRunning"
        case .running: "running"
        case .suspended: "suspended"
        case .terminating: "terminating"
        }
    }
}

/// What the board is doing about sleep.
public enum SleepState: UInt8, CaseIterable, Sendable {
    case awake
    /// Announced; apps are on their way to background.
    case preparing
    /// Every app is ready and the delay lock is released: the board sleeps, is about to, or does so logically.
    case asleep
    /// Woken by our own alarm: only background work runs, and the board sleeps again.
    case darkWake

    public var name: String {
        switch self {
        case .awake: "awake"
        case .preparing: "preparing"
        case .asleep: "asleep"
        case .darkWake: "darkWake"
        }
    }
}

/// Why an app's process was started.
public enum LaunchReason: UInt8, CaseIterable, Sendable {
    case user, boot, restart, backgroundFetch, remoteNotification, backgroundSession, backgroundTask, location
    case accessory

    public var name: String {
        switch self {
        case .user: "user"
        case .boot: "boot"
        case .restart: "restart"
        case .backgroundFetch: "backgroundFetch"
        case .remoteNotification: "remoteNotification"
        case .backgroundSession: "backgroundSession"
        case .backgroundTask: "backgroundTask"
        case .location: "location"
        case .accessory: "accessory"
        }
    }
}

/// The calls of an app's delegate that are awaited. Each has a time allowance.
public enum Handler: UInt8, CaseIterable, Sendable {
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case willTerminate
    /// The expiration handler: its time is what is left of the budget.
    case backgroundTaskWillExpire

    /// The method of `io.curfew.Delegate`.
    public var method: String {
        switch self {
        case .didFinishLaunching: "DidFinishLaunching"
        case .didBecomeActive: "DidBecomeActive"
        case .willResignActive: "WillResignActive"
        case .didEnterBackground: "DidEnterBackground"
        case .willEnterForeground: "WillEnterForeground"
        case .willTerminate: "WillTerminate"
        case .backgroundTaskWillExpire: "BackgroundTaskWillExpire"
        }
    }

    /// The key in `[allowances]`, `[hooks]` and `[signals]`.
    public var key: String {
        switch self {
        case .didFinishLaunching: "did-finish-launching"
        case .didBecomeActive: "did-become-active"
        case .willResignActive: "will-resign-active"
        case .didEnterBackground: "did-enter-background"
        case .willEnterForeground: "will-enter-foreground"
        case .willTerminate: "will-terminate"
        case .backgroundTaskWillExpire: "background-task-will-expire"
        }
    }

    /// The part of the watchdog's termination reason that says what was overrun.
    var watchdogScope: String {
        switch self {
        case .didFinishLaunching: "process-launch"
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: "scene-update"
        case .willTerminate: "process-exit"
        case .backgroundTaskWillExpire: "background-task"
        }
    }
}

/// The handlers that an app's delegate implements; the others count as returned at once.
public struct HandlerSet: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public init(_ handler: Handler) { rawValue = 1 << handler.rawValue }

    public static let all = HandlerSet(rawValue: 0b111_1111)

    public func contains(_ handler: Handler) -> Bool { rawValue & (1 << handler.rawValue) != 0 }
}

/// How a main process ended, as waitid(2) says.
public enum ExitStatus: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// The kernel does not tell curfewd: not its child, or reaped by another.
    case unknown
    /// A signal has ended the daemon's loop, and its apps with it.
    case withLoop(signal: Int32)
}

/// An app's place in the core: stable while the app is configured.
public struct AppID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
}

/// One run of an app's program. Never used twice, so that news of an older run is recognised and dropped.
public struct InstanceID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One call of a delegate.
public struct CallID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One background task. Never used twice, greater than 0.
public struct BackgroundTaskID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One call of a client that waits for its answer. Chosen by the shell.
public struct RequestID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}
