internal import Lifecycle

/// What a checker may want to hear of, one for each event.
enum EventKind: Int, CaseIterable {
    case configured, started, freezing, timePassed
    case spawned, spawnFailed, exited, leftBehind, groupEmptied, frozen, regained
    case handlerReturned, ready, ping, stopping, extendTimeout, handlerStarting, handlerStarted
    case loginAvailable, loginUnavailable, lockTaken, lockRefused, prepareForSleep, prepareForShutdown
    case preparingForSleep, kernelSlept, suspendRefused, powerOffRefused, appHoldsLock, appReleasedLock, appFillsLocks,
        sleepNoted,
        session
    case lid, keyPressed, power, underVoltage, temperatures, network, polling
    case memoryPressure, memoryRead, memoryLimitReached, killedForMemory
    case hardwareWatchdog, hardwareWatchdogLost, serviceWatchdog
    case requested, requestAbandoned, stopRequested
}

/// What a checker may want to see, one for each effect; notices by what they are about.
enum EffectKind: Int, CaseIterable {
    case spawn, call, giveUp, inform, terminate, kill, clear, freeze, thaw, reportStuck
    case takeLock, releaseLock, readPreparingForSleep, sleepHandled, setWakeAlarm, suspendDevice, powerOff, pollBoard
    case readMemory, watchMemoryLimit, feedHardwareWatchdog, restHardwareWatchdog, wakeHardwareWatchdog
    case retryHardwareWatchdog
    case restServiceWatchdog, wakeServiceWatchdog
    case report, reply, taskChanged, appChanged, deviceChanged, stopDaemon
    /// Of one app.
    case appNotice
    /// Of sleeps, announced or not.
    case sleepNotice
    /// Of the end of all apps: a shutdown, the last of the battery.
    case endNotice
    /// Of conditions, memory, and time that the board did not give.
    case boardNotice
    /// The core finds itself broken.
    case fault
}

extension Event {
    var kind: EventKind {
        switch self {
        case .configured: .configured
        case .started: .started
        case .freezing: .freezing
        case .timePassed: .timePassed
        case .stopRequested: .stopRequested
        case .process(let event): event.kind
        case .app(let event): event.kind
        case .login(let event): event.kind
        case .sleep(let event): event.kind
        case .board(let event): event.kind
        case .memory(let event): event.kind
        case .watchdog(let event): event.kind
        case .client(let event): event.kind
        }
    }
}

extension ProcessEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .spawned: .spawned
        case .spawnFailed: .spawnFailed
        case .exited: .exited
        case .leftBehind: .leftBehind
        case .groupEmptied: .groupEmptied
        case .frozen: .frozen
        case .regained: .regained
        }
    }
}

extension AppEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .handlerReturned: .handlerReturned
        case .ready: .ready
        case .ping: .ping
        case .stopping: .stopping
        case .extendTimeout: .extendTimeout
        case .handlerStarting: .handlerStarting
        case .handlerStarted: .handlerStarted
        }
    }
}

extension LoginEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .available: .loginAvailable
        case .unavailable: .loginUnavailable
        case .lockTaken: .lockTaken
        case .lockRefused: .lockRefused
        case .prepareForSleep: .prepareForSleep
        case .prepareForShutdown: .prepareForShutdown
        case .preparingForSleep: .preparingForSleep
        case .suspendRefused: .suspendRefused
        case .appHoldsLock: .appHoldsLock
        case .appReleasedLock: .appReleasedLock
        case .appFillsLocks: .appFillsLocks
        case .powerOffRefused: .powerOffRefused
        }
    }
}

extension SleepEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .kernelSlept: .kernelSlept
        case .noted: .sleepNoted
        }
    }
}

extension BoardEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .session: .session
        case .lid: .lid
        case .keyPressed: .keyPressed
        case .power: .power
        case .underVoltage: .underVoltage
        case .temperatures: .temperatures
        case .network: .network
        case .polling: .polling
        }
    }
}

extension MemoryEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .pressure: .memoryPressure
        case .read: .memoryRead
        case .limitReached: .memoryLimitReached
        case .killed: .killedForMemory
        }
    }
}

extension WatchdogEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .hardware: .hardwareWatchdog
        case .lost: .hardwareWatchdogLost
        case .service: .serviceWatchdog
        }
    }
}

extension ClientEvent {
    fileprivate var kind: EventKind {
        switch self {
        case .requested: .requested
        case .abandoned: .requestAbandoned
        }
    }
}

extension Effect {
    var kind: EffectKind {
        switch self {
        case .report: .report
        case .note(let notice): notice.kind
        case .stopDaemon: .stopDaemon
        case .process(let effect): effect.kind
        case .app(let effect): effect.kind
        case .login(let effect): effect.kind
        case .sleep(let effect): effect.kind
        case .board(let effect): effect.kind
        case .memory(let effect): effect.kind
        case .watchdog(let effect): effect.kind
        case .client(let effect): effect.kind
        }
    }
}

extension ProcessEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .spawn: .spawn
        case .terminate: .terminate
        case .kill: .kill
        case .clear: .clear
        case .freeze: .freeze
        case .thaw: .thaw
        case .reportStuck: .reportStuck
        }
    }
}

extension AppEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .call: .call
        case .giveUp: .giveUp
        case .inform: .inform
        }
    }
}

extension LoginEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .takeLock: .takeLock
        case .releaseLock: .releaseLock
        case .readPreparingForSleep: .readPreparingForSleep
        case .suspendDevice: .suspendDevice
        case .powerOff: .powerOff
        }
    }
}

extension SleepEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .handled: .sleepHandled
        case .setWakeAlarm: .setWakeAlarm
        }
    }
}

extension BoardEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .poll: .pollBoard
        }
    }
}

extension MemoryEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .read: .readMemory
        case .watchLimit: .watchMemoryLimit
        }
    }
}

extension WatchdogEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .feed: .feedHardwareWatchdog
        case .rest: .restHardwareWatchdog
        case .wake: .wakeHardwareWatchdog
        case .retry: .retryHardwareWatchdog
        case .restService: .restServiceWatchdog
        case .wakeService: .wakeServiceWatchdog
        }
    }
}

extension ClientEffect {
    fileprivate var kind: EffectKind {
        switch self {
        case .reply: .reply
        case .taskChanged: .taskChanged
        case .appChanged: .appChanged
        case .deviceChanged: .deviceChanged
        }
    }
}

extension Notice {
    fileprivate var kind: EffectKind {
        switch self {
        case .app: .appNotice
        case .sleep: .sleepNotice
        case .shutdown: .endNotice
        case .board: .boardNotice
        case .fault: .fault
        }
    }
}
