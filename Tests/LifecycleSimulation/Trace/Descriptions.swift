internal import Lifecycle

extension ClientRequest {
    func text(_ names: AppDirectory) -> String {
        switch self {
        case .launch(let app, let background): "launch \(names.name(app))\(background ? " in background" : "")"
        case .activate(let app): "activate \(names.name(app))"
        case .background(let app): "background \(names.name(app))"
        case .terminate(let app, let force): "terminate \(names.name(app))\(force ? " by force" : "")"
        case .sleep(let start, let logical, _): "sleep \(start ? "starts" : "ends")\(logical ? ", logical" : ", hook")"
        case .beginBackgroundTask(let instance, let wish): "\(names.name(instance)) begins \(wish.text)"
        case .endBackgroundTask(let instance, let task): "\(names.name(instance)) ends task \(task.rawValue)"
        case .adopt(let app, let wish): "adopt \(app): \(wish.text)"
        case .warnOfMemory(let app, let level): "warn \(names.name(app)) of memory: \(level.name)"
        case .setLowPower(let on): "low power \(on.map { $0 ? "on" : "off" } ?? "auto")"
        }
    }
}

extension ThermalReading {
    var text: String { "\(zone): \(temperature.map { String($0) } ?? "-")" }
}

extension RequestOutcome {
    var text: String {
        switch self {
        case .app(.done), .endBackgroundTask(.ended), .setLowPower: "done"
        case .sleep(.ready(let sleep, let killed)): "sleep \(sleep) is ready, killed \(killed)"
        case .app(.notRunning): "not running"
        case .app(.ended(let end)), .adopt(.ended(let end)): "the app ended: \(end.reason.namespace.name)"
        case .app(.denied(let why)), .sleep(.denied(let why)), .beginBackgroundTask(.denied(let why)),
            .adopt(.denied(let why)):
            "denied: \(why.explanation)"
        case .beginBackgroundTask(.begun(let task, let left)), .adopt(.begun(let task, let left)):
            "task \(task.rawValue) begun, left \(left.limitText)"
        case .beginBackgroundTask(.tooMany(let limit)): "there are \(limit) tasks"
        case .endBackgroundTask(.noSuchTask): "no such task"
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
        case .sleepLock(let app): "sleep lock of \(names.name(app))"
        case .death(let app): "death of \(names.name(app))"
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
    var text: String { self?.text ?? "unknown" }
    var limitText: String { self.map { $0 == .max ? "for ever" : $0.text } ?? "no limit" }
}

extension AppPolicy {
    var text: String {
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
    var text: String {
        let dark = darkWakeInterval.map { ", dark wake after \($0.text) for \(darkWakeAllowance.text)" } ?? ""
        return "front \(front), margin \(sleepMargin.text), at most \(sleepAllowanceMax.text), "
            + "without logind \(sleepAllowanceWithoutLogind.text), task grace \(taskGrace.text)\(dark)"
    }
}

extension TaskParameters {
    var text: String {
        let awake = keepAwake.map { $0 ? ", keep awake" : ", do not keep awake" } ?? ""
        let limit = timeAllowed.map { _ in ", limit \(timeAllowed.limitText)" } ?? ""
        return "\(name)\(awake)\(limit)"
    }
}

extension TerminationReason {
    var text: String { "\(namespace.name) 0x\(String(code, radix: 16)) \(explanation)" }
}
