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
    /// What is done if it is denied; nil: nothing was changed by it.
    var undo: Undo?

    /// What was wished before.
    struct Undo: Equatable {
        var phase: ScenePhase
        /// It asked for a launch; in place of `launch`.
        var launches = false
        var launch = LaunchState()
        /// The app has ended since, after so long in which it could run: what follows from that if this is denied.
        var endedAfter: Nanoseconds?
        /// The apps that made way, and where they stood.
        var displaced: [Displaced] = []
    }

    struct Displaced: Equatable {
        var app: Int
        var phase: ScenePhase
    }
}

extension DeviceLifecycle {
    mutating func hear(_ request: Request, as id: RequestID) {
        switch request {
        case .launch(let app, let background): withApp(app, id) { $0.launch($1, background: background, id) }
        case .activate(let app): withApp(app, id) { $0.activate($1, id) }
        case .background(let app): withApp(app, id) { $0.background($1, id) }
        case .terminate(let app, let force): withApp(app, id) { $0.terminate($1, force: force, id) }
        case .sleep(let start, let logical, let about): sleepEdge(start: start, logical: logical, about: about, id)
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
        // What is granted makes a dark wake full.
        return sleep.state == .awake || sleep.state == .darkWake ? nil : "sleeping"
    }

    /// It is on its way out, or will be as soon as it can hear of it.
    func isLeaving(_ index: Int) -> Bool {
        guard let instance = apps[index].instance else { return false }
        switch instance.stage {
        case .spawning: return instance.cause != nil
        case .running: return instance.stop != nil
        case .stopping, .killing, .clearing: return true
        }
    }

    private mutating func launch(_ index: Int, background: Bool, _ id: RequestID) {
        let isThere = apps[index].instance != nil && !isLeaving(index)
        if !isThere, let launchDenial { return emit(.reply(id, .denied(launchDenial))) }
        wakeFully()
        if isThere { return wait(id, index, .running) }
        var undo = undo(of: index)
        undo.launches = true
        forgive(index)
        supersede(index, background ? .background : .active)
        queueLaunch(index, .user, phase: background ? .background : .active)
        if !background { undo.displaced = sendOthersBack(index) }
        wait(id, index, .running, undo: undo)
    }

    private mutating func activate(_ index: Int, _ id: RequestID) {
        // In front its budget would not run.
        if apps[index].isAdopted { return emit(.reply(id, .denied("a task of its own does not come to the front"))) }
        if let denial = launchDenial ?? frontDenial { return emit(.reply(id, .denied(denial))) }
        wakeFully()
        supersede(index, .active)
        var undo = undo(of: index)
        apps[index].requestedPhase = .active
        if apps[index].instance == nil || isLeaving(index) {
            undo.launches = true
            forgive(index)
            queueLaunch(index, .user, phase: .active)
        }
        undo.displaced = sendOthersBack(index)
        wait(id, index, .phase, .active, undo: undo)
    }

    /// Where one app is in front at a time, the others make way.
    @discardableResult
    mutating func sendOthersBack(_ index: Int) -> [PendingRequest.Displaced] {
        guard policy.front == .one else { return [] }
        var displaced: [PendingRequest.Displaced] = []
        for other in apps.indices where other != index && apps[other].requestedPhase != .background {
            // One that is still on its way to the front is denied that: it goes back to where it was, and so do those
            // that made way for it.
            let wish = requests.first { $0.app == other && $0.wish == .phase && $0.phase == .active }?.undo
            displaced += wish?.displaced ?? []
            displaced.append(PendingRequest.Displaced(app: other, phase: wish?.phase ?? apps[other].requestedPhase))
            giveWay(other, .background)
            apps[other].requestedPhase = .background
            touch(other)
        }
        return displaced
    }

    private mutating func background(_ index: Int, _ id: RequestID) {
        let isThere = apps[index].instance != nil && !isLeaving(index)
        guard isThere || apps[index].queuedLaunch != nil else {
            return emit(.reply(id, .notRunning))
        }
        supersede(index, .background)
        apps[index].requestedPhase = .background
        letStand(index, requests.endIndex)
        wait(id, index, .phase, .background)
    }

    private mutating func terminate(_ index: Int, force: Bool, _ id: RequestID) {
        let wasScheduled =
            apps[index].queuedLaunch != nil || apps[index].restart.due != nil || apps[index].endedForShutdown
            || apps[index].returnsWhenWell
        guard apps[index].instance != nil || wasScheduled else {
            // It is no loss any more that it is down.
            apps[index].isMeantToRun = false
            return emit(.reply(id, .notRunning))
        }
        let reason = TerminationReason(
            namespace: .user, code: 0, explanation: force ? "ended by an operator, at once" : "ended by an operator")
        let leaving = apps[index].instance?.id
        stop(index, reason, force: force)
        apps[index].endedForShutdown = false
        // A wish from before that is denied later does not bring back the start that was due then.
        for place in requests.indices where requests[place].app == index {
            requests[place].undo?.launch = apps[index].launchState
            requests[place].undo?.endedAfter = nil
        }
        // It waited to be taken over.
        if leaving == nil { releaseAdopted(index) }
        // Who waits for a launch that has not begun: it never will.
        deny("another request ended it") {
            $0.app == index && $0.wish != .ended && (leaving == nil || $0.leaving == leaving)
        }
        wait(id, index, .ended)
    }

    private mutating func sleepEdge(start: Bool, logical: Bool, about: Int?, _ id: RequestID) {
        if start {
            if shutdown.isRunning { return emit(.reply(id, .denied("shutting down"))) }
            announceSleep(since: now.monotonic, logical: logical, byLogin: false)
            if !logical { sleep.isToldByHook = true }
            if sleep.state == .preparing {
                sleep.waiting.append(id)
            } else {
                emit(.reply(id, .sleepReady(sleep: sleep.id, killed: sleep.killed)))
            }
        } else if sleep.state == .preparing, sleep.isAnnouncedByLogin, login.locks[.sleep] == .held {
            // It would wait for the lock in vain, for as long as it can.
            emit(.reply(id, .denied("logind prepares a sleep")))
        } else if !logical, !isHooksOwn(about) {
            // A late word on a sleep that is over.
            emit(.reply(id, .sleepReady(sleep: sleep.id, killed: [])))
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

    /// The hook gives up long before this, so its word is about no sleep that ended earlier.
    private static let latestHook = Nanoseconds.seconds(30)

    /// Whether the hook's word that a sleep is over is about the present one. One that does not say which it is about
    /// is taken for a late one where it may be.
    private func isHooksOwn(_ about: Int?) -> Bool {
        if let about { return about == sleep.id }
        if sleep.isLogical { return false }
        return sleep.isToldByHook || sleep.formerEnd.map { now.boottime - $0 > Self.latestHook } ?? true
    }

    // MARK: Waiting and answers

    private mutating func wait(
        _ id: RequestID, _ index: Int, _ wish: PendingRequest.Wish, _ phase: ScenePhase = .active,
        undo: PendingRequest.Undo? = nil
    ) {
        var request = PendingRequest(id: id, app: index, wish: wish, phase: phase)
        request.undo = undo
        if let instance = apps[index].instance, wish == .ended || isLeaving(index) {
            request.leaving = instance.id
        }
        requests.append(request)
        touch(index)
    }

    mutating func abandon(_ id: RequestID) {
        if let place = requests.firstIndex(where: { $0.id == id }), requests[place].undo != nil {
            letStand(requests[place].app, place)
        }
        requests.removeAll { $0.id == id }
        sleep.waiting.removeAll { $0 == id }
        for index in apps.indices where apps[index].adoption?.request == id { apps[index].adoption?.request = nil }
    }

    /// What came after the requests before `end` is wished and cannot be denied: they are not undone any more.
    private mutating func letStand(_ index: Int, _ end: Int) {
        for place in 0..<end where requests[place].app == index { requests[place].undo = nil }
    }

    /// Requests for another phase of the same app will not come true any more.
    @inline(never)
    private mutating func supersede(_ index: Int, _ phase: ScenePhase) {
        // Where it stood before another app took its place is of no interest any more.
        for place in requests.indices { requests[place].undo?.displaced.removeAll { $0.app == index } }
        giveWay(index, phase)
    }

    @inline(never)
    private mutating func giveWay(_ index: Int, _ phase: ScenePhase) {
        deny("another request changed its phase") { $0.app == index && $0.wish == .phase && $0.phase != phase }
    }

    /// Nothing is launched from now on: the clients that wait for it are told, and it does not happen later either.
    mutating func denyLaunches(_ reason: String) {
        revoke(reason) { $0.wish == .running || $0.wish == .phase && $0.phase == .active }
    }

    /// Denies requests and undoes what they had changed, the last one first.
    mutating func revoke(_ reason: String, _ which: (PendingRequest) -> Bool) {
        for place in requests.indices.reversed() where which(requests[place]) {
            let request = requests[place]
            let later = requests.indices.first {
                $0 > place && requests[$0].app == request.app && requests[$0].undo != nil && !which(requests[$0])
            }
            guard let later else {
                undo(request)
                continue
            }
            // What came later is still wished. Should that be denied as well, this one is undone with it.
            requests[later].undo = request.undo ?? requests[later].undo
        }
        deny(reason, which)
    }

    private mutating func undo(_ request: PendingRequest) {
        guard let undo = request.undo else { return }
        // What has been started comes up: the launch itself was not denied.
        if undo.launches, apps[request.app].queuedLaunch != .user { return }
        for displaced in undo.displaced {
            apps[displaced.app].requestedPhase = displaced.phase
            touch(displaced.app)
        }
        touch(request.app)
        apps[request.app].requestedPhase = undo.phase
        guard undo.launches else { return }
        apps[request.app].launchState = undo.launch
        if let uptime = undo.endedAfter { delayRestart(request.app, uptime: uptime) }
    }

    private func undo(of index: Int) -> PendingRequest.Undo {
        PendingRequest.Undo(phase: apps[index].requestedPhase, launch: apps[index].launchState)
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
        // What was to start it was called off.
        let stranded = requests.filter { $0.wish != .ended && isDown($0.app) }
        for request in stranded { emit(.reply(request.id, .notRunning)) }
        requests.removeAll { stranded.contains($0) }
    }

    private func isDown(_ index: Int) -> Bool { apps[index].instance == nil && !apps[index].isLaunchDue }

    private func isFulfilled(_ request: PendingRequest) -> Bool {
        let app = apps[request.app]
        // Another one may be up by then.
        if request.wish == .ended { return app.instance == nil || app.instance?.id != request.leaving }
        guard let instance = app.instance, instance.stage == .running, instance.id != request.leaving else {
            return false
        }
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
