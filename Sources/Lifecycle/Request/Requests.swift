/// A call of the Control interface that is answered when its transition is complete.
struct PendingRequest: Equatable {
    enum Wish: UInt8, CaseIterable { case running, phase, ended }

    var id: RequestID
    var app: Int
    var wish: Wish
    /// For `phase`.
    var phase: ScenePhase
    /// The instance that was on its way out when the request came: its end is no answer.
    var leaving: InstanceID?
}

extension DeviceLifecycle {
    mutating func hear(_ request: Request, as id: RequestID) {
        switch request {
        case .launch(let app, let background): withApp(app, id) { $0.launch($1, background: background, id) }
        case .activate(let app): withApp(app, id) { $0.activate($1, id) }
        case .background(let app): withApp(app, id) { $0.background($1, id) }
        case .terminate(let app, let force): withApp(app, id) { $0.terminate($1, force: force, id) }
        case .sleep(let start, let logical): sleepEdge(start: start, logical: logical, id)
        case .beginTask(let instance, let wish): beginTask(instance, wish, id)
        case .endTask(let instance, let task): endTask(instance, task, id)
        case .adopt(let app, let wish): adopt(app, wish, id)
        case .warnOfMemory(let app, let level): withApp(app, id) { $0.warnOfMemory($1, level, id) }
        case .setLowPower(let enabled): setLowPower(enabled, id)
        }
    }

    @inline(never)
    private mutating func withApp(_ app: AppID, _ id: RequestID, _ act: (inout DeviceLifecycle, Int) -> Void) {
        guard apps.indices.contains(app.rawValue), !apps[app.rawValue].isRetired else {
            return emit(.reply(id, .denied("no such app")))
        }
        act(&self, app.rawValue)
    }

    /// Why nothing can be started or brought to the front; nil when it can.
    var launchDenial: String? {
        if shutdown.isRunning { return "shutting down" }
        return sleep.state == .awake ? nil : "sleeping"
    }

    private mutating func launch(_ index: Int, background: Bool, _ id: RequestID) {
        wakeFully()
        if apps[index].instance?.isAlive == true { return wait(id, index, .running) }
        if let launchDenial { return emit(.reply(id, .denied(launchDenial))) }
        forgive(index)
        if apps[index].instance?.stage != .spawning {
            supersede(index, background ? .background : .active)
            queueLaunch(index, .user, phase: background ? .background : .active)
            if !background { sendOthersBack(index) }
        }
        wait(id, index, .running)
    }

    private mutating func activate(_ index: Int, _ id: RequestID) {
        // In front its budget would not run.
        if apps[index].isAdopted { return emit(.reply(id, .denied("a task of its own does not come to the front"))) }
        wakeFully()
        if let denial = launchDenial ?? frontDenial { return emit(.reply(id, .denied(denial))) }
        supersede(index, .active)
        apps[index].requestedPhase = .active
        if apps[index].instance == nil || apps[index].instance?.isAlive == false,
            apps[index].instance?.stage != .spawning
        {
            forgive(index)
            queueLaunch(index, .user, phase: .active)
        }
        sendOthersBack(index)
        wait(id, index, .phase, .active)
    }

    /// Where one app is in front at a time, the others make way.
    mutating func sendOthersBack(_ index: Int) {
        guard policy.front == .one else { return }
        for other in apps.indices where other != index && apps[other].requestedPhase != .background {
            supersede(other, .background)
            apps[other].requestedPhase = .background
            touch(other)
        }
    }

    private mutating func background(_ index: Int, _ id: RequestID) {
        guard let stage = apps[index].instance?.stage, stage == .running || stage == .spawning else {
            return emit(.reply(id, .notRunning))
        }
        supersede(index, .background)
        apps[index].requestedPhase = .background
        wait(id, index, .phase, .background)
    }

    private mutating func terminate(_ index: Int, force: Bool, _ id: RequestID) {
        let wasScheduled =
            apps[index].queuedLaunch != nil || apps[index].restart.due != nil || apps[index].endedForShutdown
            || apps[index].returnsWhenWell
        guard apps[index].instance != nil || wasScheduled else { return emit(.reply(id, .notRunning)) }
        let reason = TerminationReason(
            namespace: .user, code: 0, explanation: force ? "ended by an operator, at once" : "ended by an operator")
        let leaving = apps[index].instance?.id
        stop(index, reason, force: force)
        apps[index].endedForShutdown = false
        // It waited to be taken over.
        if leaving == nil { releaseAdopted(index) }
        // Who waits for a launch that has not begun: it never will.
        deny("another request ended it") {
            $0.app == index && $0.wish != .ended && (leaving == nil || $0.leaving == leaving)
        }
        wait(id, index, .ended)
    }

    private mutating func sleepEdge(start: Bool, logical: Bool, _ id: RequestID) {
        if start {
            if shutdown.isRunning { return emit(.reply(id, .denied("shutting down"))) }
            announceSleep(since: now.monotonic, logical: logical, byLogin: false)
            if sleep.state == .preparing {
                sleep.waiting.append(id)
            } else {
                emit(.reply(id, .sleepReady(sleep: sleep.id, killed: sleep.killed)))
            }
        } else if sleep.state == .preparing, sleep.isAnnouncedByLogin, login.locks[.sleep] == .held {
            // It would wait for the lock in vain, for as long as it can.
            emit(.reply(id, .denied("logind prepares a sleep")))
        } else {
            // Who ends a logical sleep is at the board; the hook is told of any wake.
            switch sleep.state {
            case .asleep where !logical: wake(heardFromLogin: false)
            // The clocks have told first.
            case .darkWake where !logical: break
            case .awake, .preparing, .asleep, .darkWake: endSleep(cancelled: false, heardFromLogin: false)
            }
            emit(.reply(id, .sleepReady(sleep: sleep.id, killed: [])))
        }
    }

    // MARK: Waiting and answers

    private mutating func wait(
        _ id: RequestID, _ index: Int, _ wish: PendingRequest.Wish, _ phase: ScenePhase = .active
    ) {
        var request = PendingRequest(id: id, app: index, wish: wish, phase: phase)
        if let instance = apps[index].instance,
            wish == .ended || instance.stage == .killing || instance.stage == .clearing
        {
            request.leaving = instance.id
        }
        requests.append(request)
        touch(index)
    }

    mutating func abandon(_ id: RequestID) {
        requests.removeAll { $0.id == id }
        sleep.waiting.removeAll { $0 == id }
        for index in apps.indices where apps[index].adoption?.request == id { apps[index].adoption?.request = nil }
    }

    /// Requests for another phase of the same app will not come true any more.
    @inline(never)
    private mutating func supersede(_ index: Int, _ phase: ScenePhase) {
        deny("another request changed its phase") { $0.app == index && $0.wish == .phase && $0.phase != phase }
    }

    /// Nothing is launched from now on: who waits for it is told.
    mutating func denyLaunches(_ reason: String) {
        deny(reason) { $0.wish == .running || $0.wish == .phase && $0.phase == .active }
    }

    @inline(never)
    mutating func deny(_ reason: String, _ which: (PendingRequest) -> Bool) {
        answer(.denied(reason), which)
    }

    @inline(never)
    private mutating func answer(_ outcome: RequestOutcome, _ which: (PendingRequest) -> Bool) {
        guard !requests.isEmpty else { return }
        for request in requests where which(request) { emit(.reply(request.id, outcome)) }
        requests.removeAll(where: which)
    }

    /// The app ended while somebody waited for it to get anywhere.
    mutating func answerEnd(_ index: Int, _ termination: Termination) {
        answer(.appEnded(termination)) {
            $0.app == index && $0.wish != .ended && $0.leaving != termination.instance
        }
    }

    mutating func answerRequests() {
        guard !requests.isEmpty else { return }
        for request in requests where isFulfilled(request) { emit(.reply(request.id, .done)) }
        requests = requests.filter { !isFulfilled($0) }
    }

    private func isFulfilled(_ request: PendingRequest) -> Bool {
        let app = apps[request.app]
        // Another one may be up by then.
        if request.wish == .ended { return app.instance == nil || app.instance?.id != request.leaving }
        guard let instance = app.instance, instance.stage == .running else { return false }
        switch request.wish {
        case .running: return instance.isLaunched && instance.call == nil && instance.phase == goal(request.app)
        case .phase:
            guard instance.isLaunched, instance.call == nil, instance.phase == request.phase else { return false }
            // In background it is there when it is frozen, if it can be.
            return request.phase == .active || !instance.freezeReasons.contains(.background)
                || instance.freezer == .frozen || instance.freezer == .stuck
        case .ended: return false
        }
    }
}
