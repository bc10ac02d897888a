internal import Lifecycle

/// What a checker may want to hear of, one for each event.
enum EventKind: Int, CaseIterable {
    case configured, started, freezing, woke
    case spawned, spawnFailed, exited, groupEmptied, frozen
    case handlerReturned, ready, ping, stopping, extendTimeout
    case loginAvailable, loginUnavailable, lockTaken, lockRefused, prepareForSleep, prepareForShutdown
    case preparingForSleep, kernelSlept, suspendRefused, powerOffRefused, sleepNoted, session
    case lid, powerKeyPressed, power, underVoltage, temperatures, network, polling
    case memoryPressure, memoryRead, memoryLimitReached, killedForMemory, hardwareWatchdog, serviceWatchdog
    case requested, requestAbandoned, stopRequested
}

/// What a checker may want to see, one for each effect; notices by what they are about.
enum EffectKind: Int, CaseIterable {
    case spawn, call, inform, terminate, kill, clear, freeze, thaw, nameCulprits
    case takeLock, releaseLock, readPreparingForSleep, sleepHandled, setWakeAlarm, suspendDevice, powerOff, pollBoard
    case readMemory, watchMemoryLimit, feedHardwareWatchdog, restHardwareWatchdog, wakeHardwareWatchdog
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
}

extension Event {
    var kind: EventKind {
        switch self {
        case .configured: .configured
        case .started: .started
        case .freezing: .freezing
        case .woke: .woke
        case .spawned: .spawned
        case .spawnFailed: .spawnFailed
        case .exited: .exited
        case .groupEmptied: .groupEmptied
        case .frozen: .frozen
        case .handlerReturned: .handlerReturned
        case .ready: .ready
        case .ping: .ping
        case .stopping: .stopping
        case .extendTimeout: .extendTimeout
        case .loginAvailable: .loginAvailable
        case .loginUnavailable: .loginUnavailable
        case .lockTaken: .lockTaken
        case .lockRefused: .lockRefused
        case .prepareForSleep: .prepareForSleep
        case .prepareForShutdown: .prepareForShutdown
        case .preparingForSleep: .preparingForSleep
        case .kernelSlept: .kernelSlept
        case .suspendRefused: .suspendRefused
        case .powerOffRefused: .powerOffRefused
        case .sleepNoted: .sleepNoted
        case .session: .session
        case .lid: .lid
        case .powerKeyPressed: .powerKeyPressed
        case .power: .power
        case .underVoltage: .underVoltage
        case .temperatures: .temperatures
        case .network: .network
        case .polling: .polling
        case .memoryPressure: .memoryPressure
        case .memoryRead: .memoryRead
        case .memoryLimitReached: .memoryLimitReached
        case .killedForMemory: .killedForMemory
        case .hardwareWatchdog: .hardwareWatchdog
        case .serviceWatchdog: .serviceWatchdog
        case .requested: .requested
        case .requestAbandoned: .requestAbandoned
        case .stopRequested: .stopRequested
        }
    }
}

extension Effect {
    var kind: EffectKind {
        switch self {
        case .spawn: .spawn
        case .call: .call
        case .inform: .inform
        case .terminate: .terminate
        case .kill: .kill
        case .clear: .clear
        case .freeze: .freeze
        case .thaw: .thaw
        case .nameCulprits: .nameCulprits
        case .takeLock: .takeLock
        case .releaseLock: .releaseLock
        case .readPreparingForSleep: .readPreparingForSleep
        case .sleepHandled: .sleepHandled
        case .setWakeAlarm: .setWakeAlarm
        case .suspendDevice: .suspendDevice
        case .powerOff: .powerOff
        case .pollBoard: .pollBoard
        case .readMemory: .readMemory
        case .watchMemoryLimit: .watchMemoryLimit
        case .feedHardwareWatchdog: .feedHardwareWatchdog
        case .restHardwareWatchdog: .restHardwareWatchdog
        case .wakeHardwareWatchdog: .wakeHardwareWatchdog
        case .restServiceWatchdog: .restServiceWatchdog
        case .wakeServiceWatchdog: .wakeServiceWatchdog
        case .report: .report
        case .reply: .reply
        case .taskChanged: .taskChanged
        case .note(let notice): notice.kind
        case .appChanged: .appChanged
        case .deviceChanged: .deviceChanged
        case .stopDaemon: .stopDaemon
        }
    }
}

extension Notice {
    fileprivate var kind: EffectKind {
        switch self {
        case .launched, .restartScheduled, .leftDown, .overrun, .phaseChanged, .keepAwakeSpent, .essentialAppLost:
            .appNotice
        case .sleepPreparing, .sleepReleased, .sleepEnded, .darkWake, .sleptUnannounced: .sleepNotice
        case .shutdownPreparing, .shutdownCancelled, .criticalBattery: .endNotice
        case .stalled, .phaseLimited, .externalPower, .lowPowerMode, .underVoltage, .thermalState, .memoryPressure,
            .memoryExhausted:
            .boardNotice
        }
    }
}
