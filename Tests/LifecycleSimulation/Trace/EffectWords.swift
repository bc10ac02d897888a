internal import Lifecycle

extension Effect {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .report(let end):
            "report \(names.name(end.app))#\(end.instance.rawValue): \(end.reason.text)"
        case .note(let notice): "note: \(notice.text(names))"
        case .stopDaemon: "stop the daemon"
        case .process(let effect): effect.text(names)
        case .app(let effect): effect.text(names)
        case .login(let effect): effect.text(names)
        case .sleep(let effect): effect.text(names)
        case .board(let effect): effect.text(names)
        case .memory(let effect): effect.text(names)
        case .watchdog(let effect): effect.text(names)
        case .client(let effect): effect.text(names)
        }
    }
}

extension ProcessEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .spawn(let app, let instance, let reason, let background):
            "spawn \(names.name(app)) as #\(instance.rawValue) (\(reason)\(background ? ", in background" : ""))"
        case .terminate(let instance): "SIGTERM to \(names.name(instance))"
        case .kill(let instance): "kill \(names.name(instance))"
        case .clear(let instance): "clear \(names.name(instance))"
        case .freeze(let instance): "freeze \(names.name(instance))"
        case .thaw(let instance): "thaw \(names.name(instance))"
        case .reportStuck(let instance, let stuck): "name the culprits of \(names.name(instance)): \(stuck)"
        }
    }
}

extension AppEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .call(let instance, let id, let call, let deadline):
            "call \(id.rawValue) \(names.name(instance)).\(call.handler.method), deadline \(deadline.text)"
        case .giveUp(let instance, let id): "give up call \(id.rawValue) of \(names.name(instance))"
        case .inform(let instance, .didReceiveMemoryWarning(let level)):
            "inform \(names.name(instance)): memory \(level.name)"
        case .inform(let instance, .powerStateDidChange(let external, let level, let saving)):
            "inform \(names.name(instance)): external \(external), \(level.map { "\($0)" } ?? "-") %, "
                + "low power \(saving)"
        case .inform(let instance, .thermalStateDidChange(let state)):
            "inform \(names.name(instance)): \(state.name)"
        }
    }
}

extension LoginEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .takeLock(let kind): "take the \(kind) lock"
        case .releaseLock(let kind): "release the \(kind) lock"
        case .readPreparingForSleep: "read PreparingForSleep"
        case .suspendDevice: "ask for a sleep"
        case .powerOff: "switch the board off"
        }
    }
}

extension SleepEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .handled(let isHandled): isHandled ? "this sleep is handled" : "no sleep is handled"
        case .setWakeAlarm(let alarm):
            alarm.map { "wake the board at \($0.text) of BOOTTIME" } ?? "no alarm any more"
        }
    }
}

extension BoardEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .poll: "look at the board"
        }
    }
}

extension MemoryEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .read(let uses): "read the memory\(uses ? " and its uses" : "")"
        case .watchLimit(let instance): "listen to the memory limit of \(names.name(instance))"
        }
    }
}

extension WatchdogEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .feed: "feed the watchdog"
        case .rest: "the watchdog rests"
        case .wake: "the watchdog wakes"
        case .retry: "the watchdog is tried again"
        case .restService: "the service manager does not watch"
        case .wakeService: "the service manager watches again"
        }
    }
}

extension ClientEffect {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .reply(let id, let outcome): "reply to request \(id.rawValue): \(outcome.text)"
        case .taskChanged(_, let instance, let task, let change):
            "task \(task.id.rawValue) of \(names.name(instance)) \(change)\(task.keepAwake ? ", keeps awake" : ""), "
                + "held \(task.held.text), left \(task.timeRemaining.limitText)"
        case .appChanged(let app): "\(names.name(app)) has changed"
        case .deviceChanged: "the device has changed"
        }
    }
}

extension Notice {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .app(let notice): notice.text(names)
        case .sleep(let notice): notice.text(names)
        case .shutdown(let notice): notice.text(names)
        case .board(let notice): notice.text(names)
        case .fault(let fault, let app): "\(app.map { names.name($0) } ?? "the board") is broken: \(fault.name)"
        }
    }
}

extension AppNotice {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .launched(let app, _): "\(names.name(app)) is launched"
        case .restartScheduled(let app, let delay): "\(names.name(app)) restarts in \(delay.text)"
        case .leftDown(let app, let ends): "\(names.name(app)) is left down after \(ends) ends in a row"
        case .overrun(let app, _, let reason): "\(names.name(app)) overran: \(reason.explanation)"
        case .heldUpSleep(let app): "\(names.name(app)) has held up a sleep"
        case .keepsLock(let app, _): "\(names.name(app)) keeps its own lock"
        case .handlerNotStarted(let app, let handler):
            "\(handler.method) of \(names.name(app)) did not get to run"
        case .phaseChanged(let app, let phase): "\(names.name(app)) is \(phase.name)"
        case .keepAwakeSpent(let app, let budget):
            "\(names.name(app)) has kept the board awake for \(budget.text)"
        case .essentialAppLost(let app, let time): "\(names.name(app)) is lost, reset in \(time.text)"
        }
    }
}

extension SleepNotice {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .preparing(let sleep, let allowance): "sleep \(sleep) prepares, allowance \(allowance.text)"
        case .released(let sleep, let elapsed, let killed):
            "sleep \(sleep) is released after \(elapsed.text), \(killed) killed"
        case .ended(let sleep, let outcome): "sleep \(sleep) ends: \(outcome)"
        case .darkWake(let sleep, let allowance): "sleep \(sleep): dark wake, \(allowance.text) at most"
        case .unannounced(let time): "slept \(time.text) unannounced"
        }
    }
}

extension ShutdownNotice {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .preparing(let allowance): "shutdown prepares, allowance \(allowance.text)"
        case .cancelled: "shutdown is cancelled"
        case .criticalBattery: "the battery is critical"
        }
    }
}

extension BoardNotice {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .stalled(let time): "stalled for \(time.text)"
        case .phaseLimited(let phase, let condition): "no app above \(phase.name): \(condition?.key ?? "-")"
        case .externalPower(let on, _): "external power \(on)"
        case .lowPowerMode(let on, _): "low power mode \(on)"
        case .underVoltage(let on): "under-voltage \(on)"
        case .thermalState(let state): "thermal state \(state.name)"
        case .memoryPressure(let pressure): "memory pressure \(pressure.name)"
        case .memoryExhausted: "memory is exhausted"
        }
    }
}
