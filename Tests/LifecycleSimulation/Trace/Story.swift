internal import Lifecycle

/// What happened in the words of the core's own tests (Tests/LifecycleTests/Story.swift), so that a test can be written
/// from it: what the core heard, and indented what it asked for. Without announcements of what changed, and without
/// what the core was told to no effect again and again.
extension Trace {
    func story(_ names: AppDirectory) -> [String] {
        var lines: [String] = []
        var last = inOrder.first?.at ?? .zero
        var silent: [String] = []
        for (entry, names) in named(names) {
            if let word = entry.silentWord(names) {
                if !silent.contains(word) { silent.append(word) }
                continue
            }
            if entry.at - last >= .milliseconds(1) {
                let meanwhile = silent.filter { !$0.isEmpty }.joined(separator: ", ")
                lines.append("pass \((entry.at - last).text)" + (meanwhile.isEmpty ? "" : " (\(meanwhile))"))
            }
            silent = []
            last = entry.at
            switch entry {
            case .board(_, let line): lines.append("(\(line))")
            case .death: lines.append("(the daemon dies)")
            case .plan(_, let plan): lines.append("(faults: \(plan.description))")
            case .step(let step):
                lines.append(step.event.story(names))
                for effect in step.told { lines.append("    \(effect.story(names))") }
            }
        }
        return lines
    }
}

extension Trace.Entry {
    /// What is said of a step that leads to nothing and is one of many; nil: it is not.
    fileprivate func silentWord(_ names: AppDirectory) -> String? {
        guard case .step(let step) = self, step.told.isEmpty else { return nil }
        return switch step.event {
        case .timePassed: ""
        case .app(.ping(let instance)): "\(names.storyName(instance)) pings"
        default: nil
        }
    }
}

extension Step {
    fileprivate var told: [Effect] {
        effects.filter {
            switch $0 {
            case .client(.appChanged), .client(.deviceChanged): false
            default: true
            }
        }
    }
}

extension AppDirectory {
    /// "camera", and "camera.2" when it has been launched again.
    fileprivate func storyName(_ instance: InstanceID) -> String {
        let name = ordinalName(instance)
        return name.hasSuffix(".1") ? String(name.dropLast(2)) : name
    }
}

extension Event {
    fileprivate func story(_ names: AppDirectory) -> String {
        func name(_ instance: InstanceID) -> String { names.storyName(instance) }
        return switch self {
        case .process(.spawned(let instance)): "spawned \(name(instance))"
        case .process(.spawnFailed(let instance, let code, _)): "spawnFailed \(name(instance)) \(code)"
        case .process(.exited(let instance, let status)): "exited \(name(instance)) \(status)"
        case .process(.leftBehind(let instance)): "leftBehind \(name(instance))"
        case .process(.groupEmptied(let instance)): "emptied \(name(instance))"
        case .process(.frozen(let instance)): "frozen \(name(instance))"
        case .process(.regained(let instances)): "regained \(instances.map { name($0) }.joined(separator: " "))"
        case .app(.handlerReturned(let instance, let call)): "returned \(name(instance)) (call \(call.rawValue))"
        case .app(.handlerStarting(let instance, let call)): "starting \(name(instance)) (call \(call.rawValue))"
        case .app(.handlerStarted(let instance, let call)): "started \(name(instance)) (call \(call.rawValue))"
        case .app(.ready(let instance)): "ready \(name(instance))"
        case .app(.ping(let instance)): "ping \(name(instance))"
        case .app(.stopping(let instance)): "stopping \(name(instance))"
        case .app(.extendTimeout(let instance, let time)): "extendTimeout \(name(instance)) \(time.text)"
        case .login(.prepareForSleep(let edge, let delayMax, _)): "sleepSignal \(edge) \(delayMax?.text ?? "unknown")"
        case .login(.prepareForShutdown(let edge, let delayMax, _)):
            "shutdownSignal \(edge) \(delayMax?.text ?? "unknown")"
        case .login(.lockTaken(let kind)): "lockTaken \(kind)"
        case .login(.lockRefused(let kind)): "lockRefused \(kind)"
        case .login(.appHoldsLock(let instance)): "holdsLock \(name(instance))"
        case .login(.appReleasedLock(let instance)): "releasedLock \(name(instance))"
        case .login(.appFillsLocks(let instance)): "fillsLocks \(name(instance))"
        case .memory(.limitReached(let instance)): "memoryLimitReached \(name(instance))"
        case .memory(.killed(let instance, let killer)): "killedForMemory \(name(instance)) by \(killer)"
        case .client(.requested(let id, .beginBackgroundTask(let instance, let wish))):
            "begin \(name(instance)) \(wish.name) (request \(id.rawValue))"
        case .client(.requested(let id, .endBackgroundTask(let instance, let task))):
            "end \(name(instance)) task \(task.rawValue) (request \(id.rawValue))"
        case .client(.requested(let id, let request)): "ask \(id.rawValue) \(request.text(names))"
        case .client(.abandoned(let id)): "abandoned \(id.rawValue)"
        case .stopRequested: "stopRequested"
        case .configured(let apps, let device):
            "configured " + apps.map(\.story).joined(separator: ", ") + device.story
        case .started, .freezing, .timePassed, .login(.available), .login(.unavailable), .login(.preparingForSleep),
            .sleep,
            .login(.suspendRefused), .login(.powerOffRefused), .board, .memory(.pressure), .memory(.read), .watchdog:
            text(names)
        }
    }
}

extension Effect {
    fileprivate func story(_ names: AppDirectory) -> String {
        func name(_ instance: InstanceID) -> String { names.storyName(instance) }
        return switch self {
        case .process(.spawn(_, let instance, let reason, let background)):
            "spawn \(name(instance)) \(reason.name)\(background ? " background" : "")"
        case .app(.call(let instance, let id, let call, let deadline)):
            "call \(name(instance)) \(call.handler) \(deadline.text) (call \(id.rawValue))"
        case .app(.giveUp(let instance, let id)): "giveUp \(name(instance)) (call \(id.rawValue))"
        case .app(.inform(let instance, let what)): "inform \(name(instance)) \(what)"
        case .process(.terminate(let instance)): "terminate \(name(instance))"
        case .process(.kill(let instance)): "kill \(name(instance))"
        case .process(.clear(let instance)): "clear \(name(instance))"
        case .process(.freeze(let instance)): "freeze \(name(instance))"
        case .process(.thaw(let instance)): "thaw \(name(instance))"
        case .process(.reportStuck(let instance, let stuck)): "\(stuck) \(name(instance))"
        case .login(.takeLock(let kind)): "take \(kind)"
        case .login(.releaseLock(let kind)): "release \(kind)"
        case .report(let end): "report \(end.name) \(end.reason.namespace.name): \(end.reason.explanation)"
        case .client(.taskChanged(_, let instance, let task, let change)):
            "task \(name(instance)) \(task.name) \(change) (task \(task.id.rawValue))"
        case .memory(.watchLimit(let instance)): "watch limit \(name(instance))"
        case .login(.powerOff): "power off"
        case .login(.suspendDevice): "suspend"
        case .client(.reply(let id, let outcome)): "reply \(id.rawValue): \(outcome.text)"
        default: text(names)
        }
    }
}

extension AppPolicy {
    /// "camera (liveness 5 s)": what is not as usual.
    fileprivate var story: String {
        let usual = AppPolicy(name: name)
        var words: [String] = []
        func add(_ isUsual: Bool, _ word: @autoclosure () -> String) { if !isUsual { words.append(word()) } }
        add(launch == usual.launch, "\(launch)")
        add(start == usual.start, "start \(start.name)")
        add(readiness == usual.readiness, "ready at \(readiness)")
        add(handlers == usual.handlers, handlers == .all ? "all handlers" : handlerNames)
        for handler in Handler.allCases where allowances[handler] != usual.allowances[handler] {
            words.append("\(handler) \(allowances[handler].text)")
        }
        add(restart == usual.restart, "restart \(restart)")
        add(restartDelay == usual.restartDelay, "delay \(restartDelay.text)")
        add(restartDelayMax == usual.restartDelayMax, "delay at most \(restartDelayMax.text)")
        add(restartLimit == usual.restartLimit, "limit \(restartLimit)")
        add(restartReset == usual.restartReset, "reset \(restartReset.text)")
        add(suspend == usual.suspend, "never frozen")
        add(after == usual.after, "after \(after.joined(separator: "+"))")
        add(liveness == usual.liveness, "liveness \(liveness?.text ?? "unknown")")
        add(taskBudget == usual.taskBudget, "budget \(taskBudget.text)")
        add(keepsAwake == usual.keepsAwake, "keeps awake")
        add(priorityBand == usual.priorityBand, "band \(priorityBand)")
        add(isEssential == usual.isEssential, "essential")
        return words.isEmpty ? name : "\(name) (\(words.joined(separator: ", ")))"
    }

    private var handlerNames: String {
        "handlers " + Handler.allCases.filter(handlers.contains).map { "\($0)" }.joined(separator: "+")
    }
}

extension DevicePolicy {
    /// "; debounce 500 ms": what is not as usual.
    fileprivate var story: String {
        let usual = DevicePolicy()
        var words: [String] = []
        func add(_ isUsual: Bool, _ word: @autoclosure () -> String) { if !isUsual { words.append(word()) } }
        add(front == usual.front, "front \(front)")
        add(sleepMargin == usual.sleepMargin, "margin \(sleepMargin.text)")
        add(sleepAllowanceMax == usual.sleepAllowanceMax, "allowance at most \(sleepAllowanceMax.text)")
        add(
            sleepAllowanceWithoutLogind == usual.sleepAllowanceWithoutLogind,
            "allowance without logind \(sleepAllowanceWithoutLogind.text)")
        add(taskGrace == usual.taskGrace, "task grace \(taskGrace.text)")
        add(darkWakeInterval == usual.darkWakeInterval, "dark wake after \(darkWakeInterval?.text ?? "unknown")")
        add(darkWakeAllowance == usual.darkWakeAllowance, "for \(darkWakeAllowance.text)")
        for condition in Condition.allCases where responses[condition] != usual.responses[condition] {
            words.append("\(condition.key) = \(responses[condition])")
        }
        add(debounce == usual.debounce, "debounce \(debounce.text)")
        add(batteryLow == usual.batteryLow, "battery low \(batteryLow) %")
        add(batteryCritical == usual.batteryCritical, "critical \(batteryCritical) %")
        add(protectedBand == usual.protectedBand, "protected band \(protectedBand)")
        add(memoryReserve == usual.memoryReserve, "memory reserve \(memoryReserve.map { "\($0)" } ?? "unknown")")
        add(sleepsLogically == usual.sleepsLogically, "sleeps logically")
        add(wakeSources == usual.wakeSources, "wake sources \(wakeSources.rawValue)")
        return words.isEmpty ? "" : "; " + words.joined(separator: ", ")
    }
}
