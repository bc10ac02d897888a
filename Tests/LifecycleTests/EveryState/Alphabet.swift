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
        var events = boardEvents(core) + loginEvents(core) + requests(core).map { Event.requested(request, $0) }
        events += [.requestAbandoned(request), .requestAbandoned(RequestID(rawValue: request.rawValue - 1))]
        for app in core.apps { if let instance = app.instance { events += instanceEvents(instance.id, app) } }
        if hasConditions { events += conditionEvents(core, request) }
        events += staleEvents
        var steps = events.map { Step(event: $0) }
        steps.append(Step(event: .woke, clocks: .stall))
        steps.append(Step(event: .woke, clocks: .jump))
        if core.sleep.alarm != nil { steps.append(Step(event: .woke, clocks: .reachAlarm)) }
        if core.nextDeadline != nil { steps.append(Step(event: .woke, clocks: .reachDeadline)) }
        return steps
    }

    private func boardEvents(_ core: DeviceLifecycle) -> [Event] {
        [
            .configured(policies, device), .configured(Array(policies.dropLast()), device), .started, .woke,
            .freezing(available: true), .freezing(available: false), .stopRequested,
        ]
    }

    private func loginEvents(_ core: DeviceLifecycle) -> [Event] {
        let max = Nanoseconds.seconds(5)
        let now = core.now.monotonic
        return [
            .loginAvailable(delayMax: max, preparingForSleep: false, preparingForShutdown: false),
            .loginAvailable(delayMax: nil, preparingForSleep: true, preparingForShutdown: false),
            .loginAvailable(delayMax: max, preparingForSleep: false, preparingForShutdown: true), .loginUnavailable,
            .lockTaken(.sleep), .lockTaken(.shutdown), .lockRefused(.sleep), .lockRefused(.shutdown),
            .lockTaken(.keepAwake), .lockRefused(.keepAwake),
            .prepareForSleep(true, delayMax: max, signalled: now),
            .prepareForSleep(false, delayMax: max, signalled: now),
            .prepareForSleep(true, delayMax: .milliseconds(500), signalled: now),
            .prepareForSleep(true, delayMax: nil, signalled: now - .seconds(60)),
            .prepareForShutdown(true, delayMax: max, signalled: now),
            .prepareForShutdown(false, delayMax: nil, signalled: now), .preparingForSleep(true),
            .preparingForSleep(false), .preparingForSleep(nil), .suspendRefused, .kernelSlept(true),
            .kernelSlept(false),
        ]
    }

    private func conditionEvents(_ core: DeviceLifecycle, _ request: RequestID) -> [Event] {
        let hot = ThermalReading(temperature: 90_000, fair: nil, serious: nil, critical: 85_000)
        let cool = ThermalReading(temperature: 40_000, fair: nil, serious: nil, critical: 85_000)
        let uses = core.apps.compactMap { app in app.instance.map { MemoryUse(instance: $0.id, bytes: 5) } }
        var events: [Event] = [
            .session(SessionReading(users: 1, isLocked: true, isIdle: false)),
            .session(SessionReading(users: 1, isLocked: false, isIdle: false)), .lid(closed: true), .lid(closed: false),
            .powerKeyPressed, .power(PowerReading(isExternal: false, level: 3)),
            .power(PowerReading(isExternal: true, level: 90)), .powerOffRefused, .temperatures([hot]),
            .temperatures([cool]), .memoryPressure(.critical), .memoryRead(available: 0, total: 100, uses),
            .hardwareWatchdog(timeout: .seconds(15)), .hardwareWatchdog(timeout: nil), .serviceWatchdog,
            .requested(request, .setLowPower(true)), .requested(request, .setLowPower(nil)),
        ]
        for app in core.apps {
            if let id = app.instance?.id { events += [.killedForMemory(id), .memoryLimitReached(id)] }
        }
        return events
    }

    private func requests(_ core: DeviceLifecycle) -> [Request] {
        var all: [Request] = [
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
                .adopt(app: "task-x", TaskWish(name: "x", timeAllowed: .seconds(20))),
                .adopt(app: "server", TaskWish(name: "x")),
            ]
        }
        return all + core.apps.flatMap { app in app.instance.map { tasks($0) } ?? [] }
    }

    private func tasks(_ instance: Instance) -> [Request] {
        let stale = BackgroundTaskID(rawValue: 0)
        var all: [Request] = [.endTask(instance.id, instance.tasks.last?.id ?? stale), .endTask(instance.id, stale)]
        if instance.tasks.count < 2 {
            all += [
                .beginTask(instance.id, TaskWish(name: "a", keepAwake: false)),
                .beginTask(instance.id, TaskWish(name: "b", keepAwake: true)),
                .beginTask(instance.id, TaskWish(name: "c", timeAllowed: .seconds(1))),
            ]
        }
        return all
    }

    private func instanceEvents(_ id: InstanceID, _ app: App) -> [Event] {
        var events: [Event] = [
            .spawned(id), .spawnFailed(id, code: 2, explanation: "exec /usr/bin/x: No such file or directory"),
            .exited(id, .exited(0)), .exited(id, .signalled(11)), .groupEmptied(id), .frozen(id), .ready(id),
            .ping(id), .stopping(id), .extendTimeout(id, .seconds(3600)),
            .handlerReturned(id, CallID(rawValue: 0)),
        ]
        if let call = app.instance?.call { events.append(.handlerReturned(id, call.id)) }
        return events
    }

    private var staleEvents: [Event] {
        let id = InstanceID(rawValue: 0)
        return [
            .spawned(id), .spawnFailed(id, code: 2, explanation: ""), .exited(id, .unknown), .groupEmptied(id),
            .frozen(id), .ready(id), .ping(id), .stopping(id), .extendTimeout(id, .seconds(1)),
            .handlerReturned(id, CallID(rawValue: 1)),
        ]
    }
}
