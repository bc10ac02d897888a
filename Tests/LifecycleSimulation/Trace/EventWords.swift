internal import Lifecycle

extension Event {
    /// "camera#3 has frozen".
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .configured(let apps, let device):
            "configured: \(apps.map(\.text).joined(separator: "; ")); \(device.text)"
        case .started: "started"
        case .freezing(let available): "freezing is \(available ? "" : "not ")available"
        case .timePassed: "time passed"
        case .stopRequested: "SIGTERM"
        case .process(let event): event.text(names)
        case .app(let event): event.text(names)
        case .login(let event): event.text(names)
        case .sleep(let event): event.text(names)
        case .board(let event): event.text(names)
        case .memory(let event): event.text(names)
        case .watchdog(let event): event.text(names)
        case .client(let event): event.text(names)
        }
    }
}

extension ProcessEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .spawned(let instance): "\(names.name(instance)) is spawned"
        case .spawnFailed(let instance, let code, _): "\(names.name(instance)) could not be spawned: \(code)"
        case .exited(let instance, let status): "\(names.name(instance)) has exited: \(status)"
        case .leftBehind(let instance): "\(names.name(instance)) has left others behind"
        case .groupEmptied(let instance): "\(names.name(instance)): group is empty"
        case .frozen(let instance): "\(names.name(instance)) has frozen"
        case .regained(let instances):
            "in the next loop's hands: \(instances.map { names.name($0) }.joined(separator: ", "))"
        }
    }
}

extension AppEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .handlerReturned(let instance, let call):
            "\(names.name(instance)) returns from call \(call.rawValue)"
        case .handlerStarting(let instance, let call):
            "the command of call \(call.rawValue) of \(names.name(instance)) is started"
        case .handlerStarted(let instance, let call):
            "the command of call \(call.rawValue) of \(names.name(instance)) runs"
        case .ready(let instance): "\(names.name(instance)) says READY=1"
        case .ping(let instance): "\(names.name(instance)) says WATCHDOG=1"
        case .stopping(let instance): "\(names.name(instance)) says STOPPING=1"
        case .extendTimeout(let instance, let time):
            "\(names.name(instance)) says EXTEND_TIMEOUT_USEC, \(time == .max ? "for ever" : time.text)"
        }
    }
}

extension LoginEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .available(let delayMax, let sleep, let shutdown):
            "logind is available: delay \(delayMax.text), preparing for sleep \(sleep), for shutdown \(shutdown)"
        case .unavailable: "logind is unavailable"
        case .lockTaken(let kind): "\(kind) lock is taken"
        case .lockRefused(let kind): "\(kind) lock is refused"
        case .prepareForSleep(let edge, let delayMax, let signalled):
            "PrepareForSleep(\(edge)), delay \(delayMax.text), signalled at \(signalled.rawValue / 1000) us"
        case .prepareForShutdown(let edge, let delayMax, let signalled):
            "PrepareForShutdown(\(edge)), delay \(delayMax.text), signalled at \(signalled.rawValue / 1000) us"
        case .preparingForSleep(let answer): "PreparingForSleep is \(answer.map { "\($0)" } ?? "unknown")"
        case .suspendRefused: "the sleep is refused"
        case .appHoldsLock(let instance): "\(names.name(instance)) holds a lock of its own"
        case .appReleasedLock(let instance): "\(names.name(instance)) has released its own lock"
        case .appFillsLocks(let instance): "\(names.name(instance)) has filled logind with locks"
        case .powerOffRefused: "the board stays on"
        }
    }
}

extension SleepEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .kernelSlept(let hasSlept): hasSlept ? "the kernel has slept" : "the kernel has not slept"
        case .noted(let time): "a sleep was noted at \(time.text) asleep"
        }
    }
}

extension BoardEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .session(let reading):
            "\(reading.users) users\(reading.isLocked ? ", locked" : "")\(reading.isIdle ? ", idle" : "")"
        case .lid(let closed): "lid \(closed ? "closed" : "open")"
        case .keyPressed(let key): "\(key) key"
        case .power(let reading):
            "power: external \(reading.isExternal.map { "\($0)" } ?? "-"), \(reading.level.map { "\($0)" } ?? "-") %"
        case .underVoltage(let present): "under-voltage \(present.map { "\($0)" } ?? "-")"
        case .temperatures(let readings): "temperatures \(readings.map(\.text))"
        case .network(let up): "network \(up ? "up" : "down")"
        case .polling(let interval): "polling every \(interval.text)"
        }
    }
}

extension MemoryEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .pressure(let level): "memory pressure \(level.name)"
        case .read(let available, let total, let uses):
            "memory: \(available) of \(total), \(uses.map { "\(names.name($0.instance)) \($0.bytes ?? -1)" })"
        case .limitReached(let instance): "\(names.name(instance)) is at its memory limit"
        case .killed(let instance, let killer): "\(names.name(instance)) was killed by \(killer) for memory"
        }
    }
}

extension WatchdogEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .hardware(let timeout): "watchdog \(timeout.text)"
        case .lost: "the watchdog is lost"
        case .service: "the service manager watches"
        }
    }
}

extension ClientEvent {
    fileprivate func text(_ names: AppDirectory) -> String {
        switch self {
        case .requested(let id, let request): "request \(id.rawValue): \(request.text(names))"
        case .abandoned(let id): "request \(id.rawValue) is abandoned"
        }
    }
}
