import Lifecycle
import Testing

/// The core's effects as lines, so that a test reads as a story: "call camera willResignActive 2.25 s".
extension Board {
    /// What one event leads to, without notices and announcements.
    mutating func tell(_ event: Event) -> [String] {
        let effects = handle(event)
        return lines(effects)
    }

    /// What time alone leads to.
    mutating func pass(_ time: Nanoseconds) -> [String] {
        let effects = wait(time)
        return lines(effects)
    }

    /// The board gives no time: no process runs in between.
    mutating func stall(_ time: Nanoseconds) -> [String] {
        monotonic += time
        return tell(.timePassed)
    }

    // What an app, or the shell on its behalf, says of its last instance. One that is gone, or has no call open, says
    // nothing: then the test is wrong about where it is.
    mutating func spawned(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.process(.spawned(present(name, place))))
    }
    mutating func returned(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.app(.handlerReturned(present(name, place), openCall(name, at: place))))
    }
    mutating func frozen(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.process(.frozen(present(name, place))))
    }
    mutating func exited(
        _ name: String, _ status: Lifecycle.ExitStatus = .exited(0), at place: SourceLocation = #_sourceLocation
    ) -> [String] {
        tell(.process(.exited(present(name, place), status)))
    }
    mutating func leavesOthers(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.process(.leftBehind(present(name, place))))
    }
    mutating func emptied(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.process(.groupEmptied(present(name, place))))
    }
    mutating func ready(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.app(.ready(present(name, place))))
    }
    mutating func ping(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.app(.ping(present(name, place))))
    }
    mutating func stopping(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        tell(.app(.stopping(present(name, place))))
    }
    mutating func ask(_ id: Int64, _ request: ClientRequest) -> [String] {
        tell(.client(.requested(RequestID(rawValue: id), request)))
    }
    mutating func begin(
        _ app: String, _ name: String = "upload", keepAwake: Bool? = nil, allowed: Nanoseconds? = nil
    ) -> [String] {
        ask(0, .beginBackgroundTask(last(app), TaskParameters(name: name, keepAwake: keepAwake, timeAllowed: allowed)))
    }
    /// Ends the task of that name that began last.
    mutating func end(_ app: String, _ name: String = "upload", at place: SourceLocation = #_sourceLocation) -> [String]
    {
        guard let task = tasks[name] else {
            Issue.record("no task \(name) has begun", sourceLocation: place)
            return []
        }
        return ask(0, .endBackgroundTask(last(app, at: place), task))
    }
    /// Takes it to background and says so of its handlers at once.
    mutating func goBack(_ app: String) throws {
        let effects = try handle(.client(.requested(RequestID(rawValue: 99), .background(id(app)))))
        _ = obey(effects)
    }
    mutating func sleepSignal(_ start: Bool, delayMax: Nanoseconds = .seconds(5)) -> [String] {
        let effects = prepareForSleep(start, delayMax: delayMax)
        return lines(effects)
    }
    mutating func shutdownSignal(_ start: Bool, delayMax: Nanoseconds = .seconds(5)) -> [String] {
        tell(.login(.prepareForShutdown(start, delayMax: delayMax, signalled: monotonic)))
    }

    /// The whole way to sleep, with every app prompt.
    mutating func fallAsleep() {
        let first = prepareForSleep(true)
        _ = obey(first)
    }

    /// The last instance of that app, which may be gone.
    func last(_ name: String, at place: SourceLocation = #_sourceLocation) -> InstanceID {
        if let instance = instances[name] { return instance }
        Issue.record("\(name) has not been started", sourceLocation: place)
        return InstanceID(rawValue: -1)
    }
    func openCall(_ name: String, at place: SourceLocation = #_sourceLocation) -> CallID {
        if let call = calls[last(name, at: place)] { return call }
        Issue.record("no call of \(name) is open", sourceLocation: place)
        return CallID(rawValue: -1)
    }
    private func present(_ name: String, _ place: SourceLocation) -> InstanceID {
        let instance = last(name, at: place)
        // One that a reload has removed cannot be looked up until it is gone.
        if let app = core.id(of: name), core.view(of: app)?.instance != instance {
            Issue.record("\(name) is gone", sourceLocation: place)
        }
        return instance
    }

    /// Notes who is who among what the core has asked for.
    mutating func remember(_ effects: [Effect]) {
        for effect in effects {
            if case .process(.spawn(let app, let instance, _, _)) = effect {
                let name = core.view(of: app)?.name ?? "?"
                instances[name] = instance
                names[instance] = name
            } else if case .app(.call(let instance, let call, _, _)) = effect {
                calls[instance] = call
            } else if case .app(.giveUp(let instance, _)) = effect {
                calls[instance] = nil
            } else if case .client(.taskChanged(_, _, let task, .began)) = effect {
                tasks[task.name] = task.id
            }
        }
    }

    func lines(_ effects: [Effect]) -> [String] { effects.map(line) }

    private func name(_ instance: InstanceID) -> String { names[instance] ?? "?" }

    private func line(_ effect: Effect) -> String {
        switch effect {
        case .process(.spawn(_, let instance, let reason, let background)):
            "spawn \(name(instance)) \(reason.name)\(background ? " background" : "")"
        case .app(.call(let instance, _, let call, let deadline)):
            "call \(name(instance)) \(call.handler)\(told(call)) \(deadline.text)"
        case .app(.giveUp(let instance, _)): "give up the call of \(name(instance))"
        case .app(.inform(let instance, .didReceiveMemoryWarning(let level))):
            "inform \(name(instance)) memory \(level)"
        case .app(.inform(let instance, .powerStateDidChange(let external, let level, let saving))):
            "inform \(name(instance)) \(external ? "external" : "battery") \(level.map { "\($0)" } ?? "-")"
                + (saving ? " saving" : "")
        case .app(.inform(let instance, .thermalStateDidChange(let state))): "inform \(name(instance)) thermal \(state)"
        case .login(.powerOff): "power off"
        case .board(.poll): "poll"
        case .memory(.read(let uses)): "read memory\(uses ? " and uses" : "")"
        case .memory(.watchLimit(let instance)): "watch limit \(name(instance))"
        case .watchdog(.feed): "feed"
        case .watchdog(.rest): "watchdog rests"
        case .watchdog(.wake): "watchdog wakes"
        case .watchdog(.retry): "watchdog again"
        case .watchdog(.restService): "service watchdog rests"
        case .watchdog(.wakeService): "service watchdog wakes"
        case .process(.terminate(let instance)): "terminate \(name(instance))"
        case .process(.kill(let instance)): "kill \(name(instance))"
        case .process(.clear(let instance)): "clear \(name(instance))"
        case .process(.freeze(let instance)): "freeze \(name(instance))"
        case .process(.thaw(let instance)): "thaw \(name(instance))"
        case .process(.reportStuck(let instance, let stuck)): "\(stuck) \(name(instance))"
        case .login(.takeLock(let kind)): "take \(kind)"
        case .login(.releaseLock(let kind)): "release \(kind)"
        case .login(.readPreparingForSleep): "read PreparingForSleep"
        case .sleep(.handled(let isHandled)): isHandled ? "sleep is handled" : "sleep is over"
        case .sleep(.setWakeAlarm(let alarm)): "alarm \(alarm.map { "in \(($0 - now.boottime).text)" } ?? "off")"
        case .login(.suspendDevice): "suspend"
        case .report(let end): "report \(end.name) \(end.reason.namespace.name): \(end.reason.explanation)"
        case .client(.reply(let id, let outcome)): "reply \(id.rawValue): \(text(outcome))"
        case .client(.taskChanged(_, let instance, let task, let change)):
            "task \(name(instance)) \(task.name) \(change)\(task.timeRemaining.map { " \($0.text)" } ?? "")"
        case .note(let notice): "note \(notice)"
        case .client(.appChanged(let app)): "changed \(core.view(of: app)?.name ?? "?")"
        case .client(.deviceChanged): "device changed"
        case .stopDaemon: "stop daemon"
        }
    }

    private func told(_ call: HandlerCall) -> String {
        switch call {
        case .didFinishLaunching(let reason): " \(reason.name)"
        case .willTerminate(let reason): " \(reason)"
        case .backgroundTaskWillExpire(_, let name): " \(name)"
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: ""
        }
    }

    private func text(_ outcome: RequestOutcome) -> String {
        switch outcome {
        case .app(.done), .endBackgroundTask(.ended), .setLowPower: "done"
        case .sleep(.ready(let sleep, let killed)): "sleep \(sleep) ready, killed \(killed)"
        case .app(.notRunning): "not running"
        case .app(.ended(let end)), .adopt(.ended(let end)): "ended by \(end.reason.namespace.name)"
        case .app(.denied(let why)), .sleep(.denied(let why)), .beginBackgroundTask(.denied(let why)),
            .adopt(.denied(let why)):
            "denied, \(why.explanation)"
        case .beginBackgroundTask(.begun(_, let remaining)), .adopt(.begun(_, let remaining)):
            "begun, \(remaining.map { $0.text } ?? "no limit")"
        case .beginBackgroundTask(.tooMany(let limit)): "more than \(limit) tasks"
        case .endBackgroundTask(.noSuchTask): "no such task"
        }
    }
}
