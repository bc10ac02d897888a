internal import Lifecycle

extension Event {
    /// "camera#3 has frozen".
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .configured(let apps, let device):
            "configured: \(apps.map(\.text).joined(separator: "; ")); \(device.text)"
        case .started: "started"
        case .freezing(let available): "freezing is \(available ? "" : "not ")available"
        case .woke: "woke"
        case .spawned(let instance): "\(names.name(instance)) is spawned"
        case .spawnFailed(let instance, let code, _): "\(names.name(instance)) could not be spawned: \(code)"
        case .exited(let instance, let status): "\(names.name(instance)) has exited: \(status)"
        case .groupEmptied(let instance): "\(names.name(instance)): group is empty"
        case .frozen(let instance): "\(names.name(instance)) has frozen"
        case .handlerReturned(let instance, let call): "\(names.name(instance)) returns from call \(call.rawValue)"
        case .ready(let instance): "\(names.name(instance)) says READY=1"
        case .ping(let instance): "\(names.name(instance)) says WATCHDOG=1"
        case .stopping(let instance): "\(names.name(instance)) says STOPPING=1"
        case .extendTimeout(let instance, let time):
            "\(names.name(instance)) says EXTEND_TIMEOUT_USEC, \(time == .max ? "for ever" : time.text)"
        case .loginAvailable(let delayMax, let sleep, let shutdown):
            "logind is available: delay \(delayMax.text), preparing for sleep \(sleep), for shutdown \(shutdown)"
        case .loginUnavailable: "logind is unavailable"
        case .lockTaken(let kind): "\(kind) lock is taken"
        case .lockRefused(let kind): "\(kind) lock is refused"
        case .prepareForSleep(let edge, let delayMax, let signalled):
            "PrepareForSleep(\(edge)), delay \(delayMax.text), signalled at \(signalled.rawValue / 1000) us"
        case .prepareForShutdown(let edge, let delayMax, let signalled):
            "PrepareForShutdown(\(edge)), delay \(delayMax.text), signalled at \(signalled.rawValue / 1000) us"
        case .preparingForSleep(let answer): "PreparingForSleep is \(answer.map { "\($0)" } ?? "unknown")"
        case .suspendRefused: "the sleep is refused"
        case .kernelSlept(let hasSlept): hasSlept ? "the kernel has slept" : "the kernel has not slept"
        case .powerOffRefused, .session, .lid, .powerKeyPressed, .power, .underVoltage, .temperatures, .network,
            .polling,
            .memoryPressure, .memoryRead, .memoryLimitReached, .killedForMemory, .hardwareWatchdog, .serviceWatchdog,
            .sleepNoted:
            boardText(names)
        case .requested(let id, let request): "request \(id.rawValue): \(request.text(names))"
        case .requestAbandoned(let id): "request \(id.rawValue) is abandoned"
        case .stopRequested: "SIGTERM"
        }
    }
}

extension Event {
    /// What the board says of itself.
    private func boardText(_ names: AppDirectory) -> String {
        switch self {
        case .powerOffRefused: "the board stays on"
        case .session(let reading):
            "\(reading.users) users\(reading.isLocked ? ", locked" : "")\(reading.isIdle ? ", idle" : "")"
        case .lid(let closed): "lid \(closed ? "closed" : "open")"
        case .powerKeyPressed: "power key"
        case .power(let reading):
            "power: external \(reading.isExternal.map { "\($0)" } ?? "-"), \(reading.level.map { "\($0)" } ?? "-") %"
        case .underVoltage(let present): "under-voltage \(present)"
        case .temperatures(let readings): "temperatures \(readings.map(\.text))"
        case .network(let up): "network \(up ? "up" : "down")"
        case .polling(let interval): "polling every \(interval.text)"
        case .memoryPressure(let level): "memory pressure \(level.name)"
        case .memoryRead(let available, let total, let uses):
            "memory: \(available) of \(total), \(uses.map { "\(names.name($0.instance)) \($0.bytes ?? -1)" })"
        case .memoryLimitReached(let instance): "\(names.name(instance)) is at its memory limit"
        case .killedForMemory(let instance, let killer): "\(names.name(instance)) was killed by \(killer) for memory"
        case .sleepNoted(let time): "a sleep was noted at \(time.text) asleep"
        case .hardwareWatchdog(let timeout): "watchdog \(timeout.text)"
        case .serviceWatchdog: "the service manager watches"
        case .configured, .started, .freezing, .woke, .spawned, .spawnFailed, .exited, .groupEmptied, .frozen,
            .handlerReturned, .ready, .ping, .stopping, .extendTimeout, .loginAvailable, .loginUnavailable, .lockTaken,
            .lockRefused, .prepareForSleep, .prepareForShutdown, .preparingForSleep, .kernelSlept, .suspendRefused,
            .requested,
            .requestAbandoned, .stopRequested:
            ""
        }
    }
}

extension Effect {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .spawn(let app, let instance, let reason, let background):
            "spawn \(names.name(app)) as #\(instance.rawValue) (\(reason)\(background ? ", in background" : ""))"
        case .call(let instance, let id, let call, let deadline):
            "call \(id.rawValue) \(names.name(instance)).\(call.handler.method), deadline \(deadline.text)"
        case .terminate(let instance): "SIGTERM to \(names.name(instance))"
        case .kill(let instance): "kill \(names.name(instance))"
        case .clear(let instance): "clear \(names.name(instance))"
        case .freeze(let instance): "freeze \(names.name(instance))"
        case .thaw(let instance): "thaw \(names.name(instance))"
        case .nameCulprits(let instance, let stuck): "name the culprits of \(names.name(instance)): \(stuck)"
        case .takeLock(let kind): "take the \(kind) lock"
        case .releaseLock(let kind): "release the \(kind) lock"
        case .readPreparingForSleep: "read PreparingForSleep"
        case .sleepHandled(let isHandled): isHandled ? "this sleep is handled" : "no sleep is handled"
        case .setWakeAlarm(let alarm): alarm.map { "wake the board at \($0.text) of BOOTTIME" } ?? "no alarm any more"
        case .suspendDevice: "ask for a sleep"
        case .powerOff: "switch the board off"
        case .pollBoard: "look at the board"
        case .readMemory(let uses): "read the memory\(uses ? " and its uses" : "")"
        case .watchMemoryLimit(let instance): "listen to the memory limit of \(names.name(instance))"
        case .feedHardwareWatchdog: "feed the watchdog"
        case .restHardwareWatchdog: "the watchdog rests"
        case .wakeHardwareWatchdog: "the watchdog wakes"
        case .restServiceWatchdog: "the service manager does not watch"
        case .wakeServiceWatchdog: "the service manager watches again"
        case .report(let end):
            "report \(names.name(end.app))#\(end.instance.rawValue): \(end.reason.text)"
        case .reply(let id, let outcome): "reply to request \(id.rawValue): \(outcome.text)"
        case .inform(let instance, .didReceiveMemoryWarning(let level)):
            "inform \(names.name(instance)): memory \(level.name)"
        case .inform(let instance, .powerStateDidChange(let external, let level, let saving)):
            "inform \(names.name(instance)): external \(external), \(level.map { "\($0)" } ?? "-") %, "
                + "low power \(saving)"
        case .inform(let instance, .thermalStateDidChange(let state)):
            "inform \(names.name(instance)): \(state.name)"
        case .taskChanged(_, let instance, let task, let change):
            "task \(task.id.rawValue) of \(names.name(instance)) \(change)\(task.keepAwake ? ", keeps awake" : ""), "
                + "held \(task.held.text), left \(task.timeRemaining.limitText)"
        case .note(let notice): "note: \(notice.text(names))"
        case .appChanged(let app): "\(names.name(app)) has changed"
        case .deviceChanged: "the device has changed"
        case .stopDaemon: "stop the daemon"
        }
    }
}

extension Request {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .launch(let app, let background): "launch \(names.name(app))\(background ? " in background" : "")"
        case .activate(let app): "activate \(names.name(app))"
        case .background(let app): "background \(names.name(app))"
        case .terminate(let app, let force): "terminate \(names.name(app))\(force ? " by force" : "")"
        case .sleep(let start, let logical, _): "sleep \(start ? "starts" : "ends")\(logical ? ", logical" : ", hook")"
        case .beginTask(let instance, let wish): "\(names.name(instance)) begins \(wish.text)"
        case .endTask(let instance, let task): "\(names.name(instance)) ends task \(task.rawValue)"
        case .adopt(let app, let wish): "adopt \(app): \(wish.text)"
        case .warnOfMemory(let app, let level): "warn \(names.name(app)) of memory: \(level.name)"
        case .setLowPower(let on): "low power \(on.map { $0 ? "on" : "off" } ?? "auto")"
        }
    }
}

extension ThermalReading {
    fileprivate var text: String { "\(zone): \(temperature.map { String($0) } ?? "-")" }
}

extension RequestOutcome {
    var text: String {
        switch self {
        case .done: "done"
        case .sleepReady(let sleep, let killed): "sleep \(sleep) is ready, killed \(killed)"
        case .notRunning: "not running"
        case .appEnded(let end): "the app ended: \(end.reason.namespace.name)"
        case .denied(let why): "denied: \(why)"
        case .taskBegun(let task, let left): "task \(task.rawValue) begun, left \(left.limitText)"
        case .tooManyTasks(let limit): "there are \(limit) tasks"
        case .noSuchTask: "no such task"
        }
    }
}

extension Notice {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .launched(let app, _): "\(names.name(app)) is launched"
        case .restartScheduled(let app, let delay): "\(names.name(app)) restarts in \(delay.text)"
        case .leftDown(let app, let ends): "\(names.name(app)) is left down after \(ends) ends in a row"
        case .overrun(let app, _, let reason): "\(names.name(app)) overran: \(reason.explanation)"
        case .phaseChanged(let app, let phase): "\(names.name(app)) is \(phase.name)"
        case .sleepPreparing(let sleep, let allowance): "sleep \(sleep) prepares, allowance \(allowance.text)"
        case .sleepReleased(let sleep, let elapsed, let killed):
            "sleep \(sleep) is released after \(elapsed.text), \(killed) killed"
        case .sleepEnded(let sleep, let outcome): "sleep \(sleep) ends: \(outcome)"
        case .darkWake(let sleep, let allowance): "sleep \(sleep): dark wake, \(allowance.text) at most"
        case .sleptUnannounced(let time): "slept \(time.text) unannounced"
        case .shutdownPreparing(let allowance): "shutdown prepares, allowance \(allowance.text)"
        case .shutdownCancelled: "shutdown is cancelled"
        case .stalled(let time): "stalled for \(time.text)"
        case .keepAwakeSpent(let app, let budget): "\(names.name(app)) has kept the board awake for \(budget.text)"
        case .phaseLimited(let phase, let condition): "nobody above \(phase.name): \(condition?.key ?? "-")"
        case .externalPower(let on, _): "external power \(on)"
        case .lowPowerMode(let on, _): "low power mode \(on)"
        case .underVoltage(let on): "under-voltage \(on)"
        case .thermalState(let state): "thermal state \(state.name)"
        case .memoryPressure(let pressure): "memory pressure \(pressure.name)"
        case .memoryExhausted: "memory is exhausted"
        case .criticalBattery: "the battery is critical"
        case .essentialAppLost(let app, let time): "\(names.name(app)) is lost, reset in \(time.text)"
        }
    }
}

extension Deadline.Reason {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .spawn(let app): "spawn of \(names.name(app))"
        case .login: "a question to logind"
        case .handler(let app, let handler): "\(handler.method) of \(names.name(app))"
        case .taskExpiration(let app): "expiration of a task of \(names.name(app))"
        case .taskBudget(let app): "task budget of \(names.name(app))"
        case .keepAwakeBudget(let app): "keep-awake budget of \(names.name(app))"
        case .exit(let app): "exit of \(names.name(app))"
        case .liveness(let app): "liveness of \(names.name(app))"
        case .memoryLimit(let app): "memory limit of \(names.name(app))"
        case .restart(let app): "restart of \(names.name(app))"
        case .freeze(let app): "freeze of \(names.name(app))"
        case .clearing(let app): "clearing of \(names.name(app))"
        case .stallCheck: "stall check"
        case .sleepAllowance: "sleep allowance"
        case .taskGrace: "task grace"
        case .sleepRelease: "sleep release"
        case .sleepCancellation: "sleep cancellation"
        case .darkWake: "end of the dark wake"
        case .shutdown: "shutdown"
        case .condition: "a condition of the board"
        case .criticalBattery: "critical battery"
        case .thermalRelief: "time to cool down"
        case .poll: "a look at the board"
        case .memory: "memory pressure"
        case .hardwareWatchdog: "the watchdog"
        }
    }
}

extension Nanoseconds? {
    fileprivate var text: String { self?.text ?? "unknown" }
    fileprivate var limitText: String { self.map { $0 == .max ? "for ever" : $0.text } ?? "no limit" }
}

extension AppPolicy {
    fileprivate var text: String {
        let implemented = Handler.allCases.filter(handlers.contains).map(\.key).joined(separator: "+")
        let times = Handler.allCases.map { allowances[$0].text }.joined(separator: "/")
        var text = "\(name) [\(launch), \(start.name), ready at \(readiness), handlers \(implemented), \(times)"
        text += ", restart \(restart) \(restartDelay.text)...\(restartDelayMax.text) limit \(restartLimit)"
        text += " reset \(restartReset.text)"
        if let liveness { text += ", liveness \(liveness.text)" }
        text += ", tasks \(taskBudget.text)\(keepsAwake ? ", keeps awake" : "")"
        if !suspend { text += ", never frozen" }
        if !after.isEmpty { text += ", after \(after.joined(separator: "+"))" }
        return text + "]"
    }
}

extension DevicePolicy {
    fileprivate var text: String {
        let dark = darkWakeInterval.map { ", dark wake after \($0.text) for \(darkWakeAllowance.text)" } ?? ""
        return "front \(front), margin \(sleepMargin.text), at most \(sleepAllowanceMax.text), "
            + "without logind \(sleepAllowanceWithoutLogind.text), task grace \(taskGrace.text)\(dark)"
    }
}

extension TaskWish {
    fileprivate var text: String {
        let awake = keepAwake.map { $0 ? ", keep awake" : ", do not keep awake" } ?? ""
        let limit = timeAllowed.map { _ in ", limit \(timeAllowed.limitText)" } ?? ""
        return "\(name)\(awake)\(limit)"
    }
}

extension TerminationReason {
    fileprivate var text: String { "\(namespace.name) 0x\(String(code, radix: 16)) \(explanation)" }
}
