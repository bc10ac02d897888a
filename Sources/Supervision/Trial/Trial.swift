internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// `io.curfew.Trial`: a board on a desk, whose time can be skipped, for `curfew try`.
///
/// Skipped time is injected into the core, from one of its deadlines to the next, so that nothing is missed on the way.
/// While an app is busy with what came of one (a handler, a launch, an end) it has real time for it.
final class Trial {
    private struct OpenCall {
        let instance: InstanceID
        let call: CallID
        let app: String
        let handler: Handler
        let allowance: Nanoseconds
        let at: Int64
    }

    private unowned(unsafe) let supervisor: Supervisor
    private var open: [OpenCall] = []
    private var watchers: [Request] = []
    /// Calls of Skip, with the time at which each is over.
    private var skips: [(request: Request, until: Nanoseconds, seconds: Double)] = []
    private var isAdvancing = false
    private var power = PowerReading(isExternal: nil, level: nil)

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func handle(_ request: Request) {
        switch request.methodName {
        case "Skip": skip(request)
        case "WarnOfMemory": warn(request)
        case "SetCondition": setCondition(request)
        case "Watch":
            guard request.wantsMore else { return request.fail(.expectedMore) }
            watchers.append(request)
            request.onCancelled = { [unowned(unsafe) self, unowned(unsafe) request] in
                watchers.removeAll { $0 === request }
            }
        default: request.fail(.methodNotImplemented(method: request.method))
        }
    }

    private func warn(_ request: Request) {
        let level = request.parameters["level"]?.stringValue
        guard let level = MemoryLevel.allCases.first(where: { $0.name == level }) else {
            return request.fail(.invalidParameter(parameter: "level"))
        }
        guard let app = supervisor.core.id(of: request.parameters["app"]?.stringValue ?? "") else {
            return request.fail(.invalidParameter(parameter: "app"))
        }
        supervisor.answers.submit(request, .warnOfMemory(app, level)) { request, _ in request.reply() }
    }

    /// Plays the board, of which the daemon of a trial hears nothing else.
    private func setCondition(_ request: Request) {
        let given = request.parameters
        if let name = given["thermalState"]?.stringValue {
            guard let state = ThermalState.allCases.first(where: { $0.name == name }) else {
                return request.fail(.invalidParameter(parameter: "thermalState"))
            }
            // Limits far enough apart for each to be left at once.
            let temperature = Int(state.rawValue) * 10_000
            supervisor.dispatch(
                .board(
                    .temperatures([
                        ThermalReading(temperature: temperature, fair: 10_000, serious: 20_000, critical: 30_000)
                    ])))
        }
        if let locked = given["locked"]?.boolValue {
            supervisor.dispatch(.board(.session(SessionReading(users: 1, isLocked: locked, isIdle: false))))
        }
        if let closed = given["lidClosed"]?.boolValue { supervisor.dispatch(.board(.lid(closed: closed))) }
        if let level = given["batteryLevel"]?.doubleValue {
            guard level >= 0, level <= 1 else { return request.fail(.invalidParameter(parameter: "batteryLevel")) }
            power.level = Int(level * 100 + 0.5)
            power.isExternal = power.isExternal ?? false
        }
        if let external = given["externalPower"]?.boolValue { power.isExternal = external }
        supervisor.dispatch(.board(.power(power)))
        request.reply()
    }

    // MARK: Time

    private func skip(_ request: Request) {
        let seconds = request.parameters["seconds"]?.doubleValue ?? 0
        guard let time = ApplicationService.duration(seconds) else {
            return request.fail(.invalidParameter(parameter: "seconds"))
        }
        // One after the other: what is asked for meanwhile comes on top.
        let start = max(supervisor.now.monotonic, skips.last?.until ?? .zero)
        skips.append((request, start + time, seconds))
        request.onCancelled = { [unowned(unsafe) self, unowned(unsafe) request] in
            skips.removeAll { $0.request === request }
        }
        // Wakes the core, and begins the skip with that.
        supervisor.dispatch(.timePassed)
    }

    /// After each event: on to the next deadline, if no app is busy.
    func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while let end = skips.map({ $0.until }).min(), !supervisor.core.isBusy {
            let now = supervisor.now.monotonic
            if now >= end {
                finish(now)
                continue
            }
            var next = min(end, supervisor.core.nextDeadline?.at ?? .max)
            if let alarm = supervisor.core.wakeAlarm { next = min(next, now + (alarm - supervisor.now.boottime)) }
            supervisor.skipped += max((next - now).rawValue, 0)
            supervisor.dispatch(.timePassed)
        }
    }

    private func finish(_ now: Nanoseconds) {
        let over = skips.filter { $0.until <= now }
        skips.removeAll { $0.until <= now }
        for skip in over { skip.request.reply(["skipped": .number(skip.seconds)]) }
    }

    // MARK: Handlers

    func called(_ instance: InstanceID, _ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        let name = supervisor.processes[instance.rawValue]?.app.name ?? ""
        open.append(
            OpenCall(
                instance: instance, call: call, app: name, handler: handler.handler, allowance: allowance,
                at: Clocks.monotonic))
    }

    func hear(_ event: Event) {
        guard case .app(.handlerReturned(_, let call)) = event else { return }
        close("returned") { $0.call == call }
    }

    func ended(_ termination: Termination) {
        let handler = termination.handler
        let isOverrun = [.watchdog, .backgroundTask].contains(termination.reason.namespace)
        close("overran") { $0.instance == termination.instance && isOverrun && $0.handler == handler }
        close("ended") { $0.instance == termination.instance }
    }

    private func close(_ outcome: String, _ isOver: (OpenCall) -> Bool) {
        for call in open where isOver(call) {
            let handled: JSON = [
                "app": .string(call.app), "handler": .string(call.handler.method),
                "timeAllowance": .number(call.allowance.seconds),
                "seconds": .number(Double(Clocks.monotonic - call.at) / 1e9), "outcome": .string(outcome),
            ]
            for watcher in watchers { watcher.reply(continuing: ["handled": handled]) }
        }
        open.removeAll(where: isOver)
    }
}
