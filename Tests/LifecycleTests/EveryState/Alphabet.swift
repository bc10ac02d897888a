@testable import Lifecycle

/// One step of the search: an event, and what the clocks do before it.
struct Step {
    enum Clocks { case standStill, reachDeadline, stall, jump, reachAlarm }

    var event: Event
    var clocks = Clocks.standStill
}

/// Everything that can be heard in a state, sensible or not, with the identifiers of that state and stale ones.
struct Alphabet {
    var policies: [AppPolicy]
    var device: DevicePolicy
    /// Processes of others are taken over, too.
    var adopts = false
    /// The board has conditions, memory and watchdogs.
    var hasConditions = false

    func steps(in core: DeviceLifecycle, request: RequestID) -> [Step] {
        var events =
            boardEvents(core) + loginEvents(core) + requests(core).map { Event.client(.requested(request, $0)) }
        events += [.client(.abandoned(request)), .client(.abandoned(RequestID(rawValue: request.rawValue - 1)))]
        for app in core.apps { if let instance = app.instance { events += instanceEvents(instance.id, app) } }
        if hasConditions { events += conditionEvents(core, request) }
        events += staleEvents
        var steps = events.map { Step(event: $0) }
        steps.append(Step(event: .timePassed, clocks: .stall))
        steps.append(Step(event: .timePassed, clocks: .jump))
        if core.sleep.asleep?.alarm != nil { steps.append(Step(event: .timePassed, clocks: .reachAlarm)) }
        if core.nextDeadline != nil { steps.append(Step(event: .timePassed, clocks: .reachDeadline)) }
        return steps
    }

    private func boardEvents(_ core: DeviceLifecycle) -> [Event] {
        [
            .configured(policies, device), .configured(Array(policies.dropLast()), device), .started, .timePassed,
            .freezing(available: true), .freezing(available: false), .stopRequested,
        ]
    }

    private func loginEvents(_ core: DeviceLifecycle) -> [Event] {
        let max = Nanoseconds.seconds(5)
        let now = core.now.monotonic
        return [
            .login(.available(delayMax: max, preparingForSleep: false, preparingForShutdown: false)),
            .login(.available(delayMax: nil, preparingForSleep: true, preparingForShutdown: false)),
            .login(.available(delayMax: max, preparingForSleep: false, preparingForShutdown: true)),
            .login(.unavailable),
            .login(.lockTaken(.sleep)), .login(.lockTaken(.shutdown)), .login(.lockRefused(.sleep)),
            .login(.lockRefused(.shutdown)),
            .login(.lockTaken(.keepAwake)), .login(.lockRefused(.keepAwake)),
            .login(.prepareForSleep(true, delayMax: max, signalled: now)),
            .login(.prepareForSleep(false, delayMax: max, signalled: now)),
            .login(.prepareForSleep(true, delayMax: .milliseconds(500), signalled: now)),
            .login(.prepareForSleep(true, delayMax: nil, signalled: now - .seconds(60))),
            .login(.prepareForShutdown(true, delayMax: max, signalled: now)),
            .login(.prepareForShutdown(false, delayMax: nil, signalled: now)), .login(.preparingForSleep(true)),
            .login(.preparingForSleep(false)), .login(.preparingForSleep(nil)), .login(.suspendRefused),
            .login(.appHoldsLock(core.apps.first?.instance?.id ?? InstanceID(rawValue: 0))),
            .login(.appHoldsLock(core.apps.last?.instance?.id ?? InstanceID(rawValue: 0))),
            .login(.appReleasedLock(core.apps.last?.instance?.id ?? InstanceID(rawValue: 0))),
            .login(.appFillsLocks(core.apps.last?.instance?.id ?? InstanceID(rawValue: 0))),
            .sleep(.kernelSlept(true)),
            .sleep(.kernelSlept(false)),
        ]
    }

    private func conditionEvents(_ core: DeviceLifecycle, _ request: RequestID) -> [Event] {
        let hot = ThermalReading(temperature: 90_000, fair: nil, serious: nil, critical: 85_000)
        let cool = ThermalReading(temperature: 40_000, fair: nil, serious: nil, critical: 85_000)
        let uses = core.apps.compactMap { app in app.instance.map { MemoryUse(instance: $0.id, bytes: 5) } }
        var events: [Event] = [
            .board(.session(SessionReading(users: 1, isLocked: true, isIdle: false))),
            .board(.session(SessionReading(users: 1, isLocked: false, isIdle: false))), .board(.lid(closed: true)),
            .board(.lid(closed: false)),
            .board(.keyPressed(.power)), .board(.keyPressed(.wakeUp)),
            .board(.power(PowerReading(isExternal: false, level: 3))),
            .board(.power(PowerReading(isExternal: true, level: 90))), .login(.powerOffRefused),
            .board(.temperatures([hot])),
            .board(.temperatures([cool])), .memory(.pressure(.critical)),
            .memory(.read(available: 0, total: 100, uses)),
            .watchdog(.hardware(timeout: .seconds(15))), .watchdog(.hardware(timeout: nil)), .watchdog(.lost),
            .watchdog(.service),
            .client(.requested(request, .setLowPower(true))), .client(.requested(request, .setLowPower(nil))),
        ]
        for app in core.apps {
            if let id = app.instance?.id { events += [.memory(.killed(id)), .memory(.limitReached(id))] }
        }
        return events
    }

    private func requests(_ core: DeviceLifecycle) -> [ClientRequest] {
        var all: [ClientRequest] = [
            .sleep(start: true, logical: true), .sleep(start: true, logical: false),
            .sleep(start: false, logical: true), .sleep(start: false, logical: false),
            .launch(AppID(rawValue: 99), background: false), .terminate(AppID(rawValue: -1), force: true),
        ]
        for index in core.apps.indices {
            let app = AppID(rawValue: index)
            all += [
                .launch(app, background: false), .launch(app, background: true), .activate(app), .background(app),
                .terminate(app, force: false), .terminate(app, force: true), .warnOfMemory(app, .critical),
            ]
        }
        if adopts, core.apps.count < 3 || core.apps.contains(where: { $0.isAdopted && $0.isRetired }) {
            all += [
                .adopt(app: "task-x", TaskParameters(name: "x", timeAllowed: .seconds(20))),
                .adopt(app: "server", TaskParameters(name: "x")),
            ]
        }
        return all + core.apps.flatMap { app in app.instance.map { tasks($0) } ?? [] }
    }

    private func tasks(_ instance: Instance) -> [ClientRequest] {
        let stale = BackgroundTaskID(rawValue: 0)
        var all: [ClientRequest] = [
            .endBackgroundTask(instance.id, instance.tasks.all.last?.id ?? stale),
            .endBackgroundTask(instance.id, stale),
        ]
        if instance.tasks.all.count < 2 {
            all += [
                .beginBackgroundTask(instance.id, TaskParameters(name: "a", keepAwake: false)),
                .beginBackgroundTask(instance.id, TaskParameters(name: "b", keepAwake: true)),
                .beginBackgroundTask(instance.id, TaskParameters(name: "c", timeAllowed: .seconds(1))),
            ]
        }
        return all
    }

    private func instanceEvents(_ id: InstanceID, _ app: App) -> [Event] {
        var events: [Event] = [
            .process(.spawned(id)),
            .process(.spawnFailed(id, code: 2, explanation: "exec /usr/bin/x: No such file or directory")),
            .process(.exited(id, .exited(0))), .process(.exited(id, .signalled(11))), .process(.groupEmptied(id)),
            .process(.leftBehind(id)), .process(.frozen(id)), .process(.regained([id])), .app(.ready(id)),
            .app(.ping(id)), .app(.stopping(id)),
            .app(.extendTimeout(id, .seconds(3600))),
            .app(.handlerReturned(id, CallID(rawValue: 0))),
        ]
        if let call = app.instance?.call {
            events += [
                .app(.handlerReturned(id, call.id)), .app(.handlerStarting(id, call.id)),
                .app(.handlerStarted(id, call.id)),
            ]
        }
        return events
    }

    private var staleEvents: [Event] {
        let id = InstanceID(rawValue: 0)
        return [
            .process(.spawned(id)), .process(.spawnFailed(id, code: 2, explanation: "")),
            .process(.exited(id, .unknown)), .process(.leftBehind(id)), .process(.groupEmptied(id)),
            .process(.frozen(id)), .process(.regained([id])), .app(.ready(id)), .app(.ping(id)), .app(.stopping(id)),
            .app(.extendTimeout(id, .seconds(1))),
            .app(.handlerReturned(id, CallID(rawValue: 1))), .app(.handlerStarting(id, CallID(rawValue: 1))),
            .app(.handlerStarted(id, CallID(rawValue: 1))),
        ]
    }
}
