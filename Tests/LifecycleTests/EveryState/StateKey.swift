@testable import Lifecycle

/// What makes a state another one: everything but identifiers, times and counts.
struct StateKey: Hashable {
    struct AppKey: Hashable {
        var isRetired: Bool
        var isQueued: Bool
        var isRestartDue: Bool
        var requestedPhase: ScenePhase
        var endedForShutdown: Bool
        var returnsWhenWell: Bool
        var hasPool: Bool
        var isLockTimeSpent: Bool
        var isAdopted: Bool
        var isBeingAdopted: Bool
        var instance: InstanceKey?
    }
    struct InstanceKey: Hashable {
        var stage: Instance.Stage
        var freezer: Instance.Freezer
        var reasons: UInt8
        var phase: ScenePhase
        var hasResigned: Bool
        var isLaunched: Bool
        var handler: Handler?
        var awaitsReply: Bool?
        var awaitsReady: Bool?
        var isStarting: Bool?
        var hasStop: Bool
        var isExitDue: Bool
        var isOwnWish: Bool
        var hasCause: Bool
        var isReportedStuck: Bool
        var tasks: [TaskKey]
        var isPoolRunning: Bool
        var isLockTimeRunning: Bool
        var isWarnedOfMemory: Bool
    }
    struct TaskKey: Hashable {
        var keepsAwake: Bool
        var hasLimit: Bool
        var isWarned: Bool
        var isOver: Bool
    }

    var apps: [AppKey]
    var sleepState: SleepState
    var isLogical: Bool
    var isAnnouncedByLogin: Bool
    var isAllowanceOver: Bool
    var isOrderOver: Bool
    var isGraceRunning: Bool
    var isGraceOver: Bool
    var isAlarmSet: Bool
    var isReturning: Bool
    var echo: Sleep.Echo
    var rechecks: Int
    var isAnnounced: Bool
    var stopsDaemon: Bool
    var wave: Int?
    var isWaveForced: Bool
    var isOver: Bool
    var isAvailable: Bool
    var sleepLock: Login.LockState
    var shutdownLock: Login.LockState
    var keepAwakeLock: Login.LockState
    var isKeepAwakeRefused: Bool
    var isWaitedFor: [Bool]
    var board: BoardKey

    init(_ core: DeviceLifecycle) {
        apps = core.apps.map { app in
            AppKey(
                isRetired: app.isRetired, isQueued: app.launch.queued != nil,
                isRestartDue: app.launch.restart.due != nil,
                requestedPhase: app.requestedPhase, endedForShutdown: app.endedForShutdown,
                returnsWhenWell: app.launch.returnsWhenWell,
                hasPool: app.pool != nil, isLockTimeSpent: app.keepAwakePool?.left == .zero, isAdopted: app.isAdopted,
                isBeingAdopted: app.adoption != nil, instance: app.instance.map(InstanceKey.init))
        }
        sleepState = core.sleep.state
        isLogical = core.sleep.isLogical
        isAnnouncedByLogin = core.sleep.isAnnouncedByLogin
        isAllowanceOver = core.sleep.overtime.isAllowanceOver
        isOrderOver = core.sleep.preparation?.isOrderOver == true
        isGraceRunning = core.sleep.preparation?.graceEnd != nil
        isGraceOver = core.sleep.overtime.isGraceOver
        isAlarmSet = core.sleep.asleep?.alarm != nil
        isReturning = core.sleep.darkWake?.isReturning == true
        echo = core.sleep.echo
        rechecks = core.sleep.echoDue != nil || core.sleep.asleep?.question.due != nil ? 1 : 0
        isAnnounced = core.shutdown.isAnnounced
        stopsDaemon = core.shutdown.stopsDaemon
        wave = core.shutdown.wave
        isWaveForced = core.shutdown.isWaveForced
        isOver = core.shutdown.isOver
        isAvailable = core.login.isAvailable
        sleepLock = core.login.locks.sleep
        shutdownLock = core.login.locks.shutdown
        keepAwakeLock = core.login.locks.keepAwake
        isKeepAwakeRefused = core.login.isKeepAwakeRefused
        isWaitedFor = core.apps.indices.map { index in core.requests.all.contains { $0.app == index } }
        isWaitedFor.append(core.sleep.preparation?.waiting.isEmpty == false)
        board = BoardKey(core)
    }
}

/// Conditions, memory and the watchdogs.
struct BoardKey: Hashable {
    var present: UInt16
    var inForce: [Int]
    var isBatteryConfirmed: Bool
    var isCooling: Bool
    var isOutOfPower: Bool
    var isOffAsked: Bool
    var memoryAsked: MemoryLevel?
    var pressure: MemoryPressure
    var isWatched: Bool
    var isResting: Bool
    var isStarving: Bool
    var isWatchdogLost: Bool
    var service: [Bool]

    init(_ core: DeviceLifecycle) {
        let conditions = core.conditions
        present = conditions.holding.rawValue
        inForce = [conditions.limit.value, conditions.saving.value, conditions.supply.value, conditions.heat.value]
        isBatteryConfirmed = conditions.criticalSince != nil
        isCooling = conditions.nextThermalKill != nil
        isOutOfPower = core.shutdown.isLowBattery
        isOffAsked = core.shutdown.powerOffDue != nil
        memoryAsked = core.memory.askedLevel
        pressure = core.memory.pressure
        isWatched = core.watchdog.timeout != nil
        isResting = core.watchdog.isResting
        isStarving = core.watchdog.isStarving
        isWatchdogLost = core.watchdog.retryDue != nil
        service = [core.serviceWatchdog.isWatching, core.serviceWatchdog.isResting]
    }
}

extension StateKey.InstanceKey {
    init(_ instance: Instance) {
        stage = instance.stage
        freezer = instance.freezer
        reasons = instance.freezeReasons.rawValue
        phase = instance.phase
        hasResigned = instance.hasResigned
        isLaunched = instance.isLaunched
        handler = instance.call?.call.handler
        awaitsReply = instance.call?.awaitsReply
        awaitsReady = instance.call?.awaitsReady
        isStarting = instance.call?.isStarting
        hasStop = instance.stop != nil
        isExitDue = instance.stop?.exitDue != nil
        isOwnWish = instance.stop?.isOwnWish == true
        hasCause = instance.cause != nil
        isReportedStuck = instance.isReportedStuck
        tasks = instance.tasks.all.map {
            StateKey.TaskKey(
                keepsAwake: $0.keepsAwake, hasLimit: $0.allowedUntil != nil, isWarned: $0.isWarned, isOver: $0.isOver)
        }
        isPoolRunning = instance.tasks.poolEnd != nil
        isLockTimeRunning = instance.tasks.keepAwakeEnd != nil
        isWarnedOfMemory = instance.news.isWarnedOfMemory
    }
}

/// The part of a state whose combinations are counted: (stage, freezer, phase, call outstanding, sleep lock, sleep,
/// shutdown).
struct Combination: Hashable {
    var stage: Instance.Stage?
    var freezer: Instance.Freezer?
    var phase: ScenePhase?
    var isCalled: Bool
    var isLockHeld: Bool
    var sleepState: SleepState
    var isShuttingDown: Bool

    static func all(in core: DeviceLifecycle) -> [Combination] {
        core.apps.map { app in
            Combination(
                stage: app.instance?.stage, freezer: app.instance?.freezer, phase: app.instance?.phase,
                isCalled: app.instance?.call != nil,
                isLockHeld: core.login.locks[.sleep] == .held, sleepState: core.sleep.state,
                isShuttingDown: core.shutdown.isRunning)
        }
    }
}
