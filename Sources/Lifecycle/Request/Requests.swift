extension DeviceLifecycle {
    mutating func hear(_ request: ClientRequest, as id: RequestID) {
        switch request {
        case .launch(let app, let background): withApp(app, id) { $0.launch($1, background: background, id) }
        case .activate(let app): withApp(app, id) { $0.activate($1, id) }
        case .background(let app): withApp(app, id) { $0.background($1, id) }
        case .terminate(let app, let force): withApp(app, id) { $0.terminate($1, force: force, id) }
        case .sleep(let start, let logical, let about): sleepEdge(start: start, logical: logical, about: about, id)
        case .beginBackgroundTask(let instance, let wish): beginBackgroundTask(instance, wish, id)
        case .endBackgroundTask(let instance, let task): endBackgroundTask(instance, task, id)
        case .adopt(let app, let wish): adopt(app, wish, id)
        case .warnOfMemory(let app, let level): withApp(app, id) { $0.warnOfMemory($1, level, id) }
        case .setLowPower(let enabled):
            conditions.setLowPower(enabled)
            reply(id, .setLowPower)
        }
    }

    @inline(never)
    private mutating func withApp(_ app: AppID, _ id: RequestID, _ act: (inout DeviceLifecycle, Int) -> Void) {
        guard apps.indices.contains(app.rawValue), !apps[app.rawValue].isRetired else {
            return reply(id, .app(.denied(.noSuchApp)))
        }
        act(&self, app.rawValue)
    }

    /// Why nothing can be started or brought to the front; nil when it can.
    var launchDenial: Denial? {
        if shutdown.isRunning { return .shuttingDown }
        // What is granted makes a dark wake full.
        return sleep.isUp ? nil : .sleeping
    }

    /// It runs, or is about to, and is not on its way out.
    func isThere(_ index: Int) -> Bool { apps[index].instance?.isLeaving == false }

    private mutating func launch(_ index: Int, background: Bool, _ id: RequestID) {
        if !isThere(index), let launchDenial { return reply(id, .app(.denied(launchDenial))) }
        endDarkWake()
        // A task is started by who started it.
        if isThere(index) || apps[index].isAdopted { return wait(id, index, .running) }
        let phase = background ? ScenePhase.background : .active
        wait(id, index, .running, change: phase, isForLaunch: true)
        wishLaunch(index)
        denyOthers(index, phase)
        deriveWishes()
    }

    private mutating func activate(_ index: Int, _ id: RequestID) {
        // In front its budget would not run.
        if apps[index].isAdopted {
            return reply(id, .app(.denied(.taskHasNoFront)))
        }
        if let denial = launchDenial ?? frontDenial { return reply(id, .app(.denied(denial))) }
        endDarkWake()
        let isForLaunch = !isThere(index)
        wait(id, index, .phase, .active, change: .active, isForLaunch: isForLaunch)
        if isForLaunch { wishLaunch(index) }
        denyOthers(index, .active)
        deriveWishes()
    }

    private mutating func background(_ index: Int, _ id: RequestID) {
        guard isThere(index) || apps[index].launch.queued != nil else { return reply(id, .app(.notRunning)) }
        if !isThere(index), shutdown.isRunning { return reply(id, .app(.denied(.shuttingDown))) }
        // A launch that waits goes on, to background.
        let isForLaunch = apps[index].launchIfDenied != nil
        wait(id, index, .phase, .background, change: .background, isForLaunch: isForLaunch)
        denyOthers(index, .background)
        deriveWishes()
    }

    private mutating func terminate(_ index: Int, force: Bool, _ id: RequestID) {
        guard apps[index].hasInstance || apps[index].isLaunchPlanned else {
            // It is no loss any more that it is down.
            apps[index].launch.isMeantToRun = false
            return reply(id, .app(.notRunning))
        }
        let leaving = instanceID(index)
        denyBeforeEnd(index, .ended) { $0.app == index && $0.isUnbegun(leaving) }
        stop(index, .endedByOperator(isForced: force), force: force)
        apps[index].endedForShutdown = false
        // It waited to be taken over.
        if leaving == nil { releaseAdopted(index) }
        wait(id, index, .ended)
    }

    private mutating func sleepEdge(start: Bool, logical: Bool, about: Int?, _ id: RequestID) {
        if start {
            if shutdown.isRunning { return reply(id, .sleep(.denied(.shuttingDown))) }
            announceSleep(since: now.monotonic, logical: logical, byLogin: false)
            if !logical { sleep.isToldByHook = true }
            if sleep.state == .preparing {
                sleep.stage.change { (preparation: inout Preparation) in
                    preparation.waiting.append(WaitingClient(id: id, isHook: !logical))
                }
            } else {
                reply(id, .sleep(.ready(sleep: sleep.id, killed: sleep.killed)))
            }
        } else if isLoginsToEnd(logical: logical) {
            reply(id, .sleep(.denied(.loginPreparesSleep)))
        } else if !logical, !isHooksOwn(about) {
            // A late word on a sleep that is over.
            reply(id, .sleep(.ready(sleep: sleep.id, killed: [])))
        } else {
            // The hook speaks of any wake, and may be late: it ends no logical sleep.
            switch sleep.state {
            case .asleep where !logical: wake(heardFromLogin: false)
            // The clocks have told first.
            case .darkWake where !logical: break
            case .awake, .preparing, .asleep, .darkWake: endSleep(cancelled: false, heardFromLogin: false)
            }
            reply(id, .sleep(.ready(sleep: sleep.id, killed: [])))
        }
    }

    private func isLoginsToEnd(logical: Bool) -> Bool {
        guard sleep.isAnnouncedByLogin else { return false }
        return switch sleep.stage {
        // It would wait for the lock in vain, for as long as it can.
        case .preparing: login.locks[.sleep] == .held
        // The board would sleep with apps that run. That it does not sleep after all, logind says, or the hook.
        case .asleep:
            logical && login.isAvailable && !login.isGrantOld && sleep.isYetToCome && !sleep.isDoubtful
        case .awake, .darkWake: false
        }
    }

    /// After a wake the hook gives up long before this, so its word is about no sleep that ended earlier.
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
        change: ScenePhase? = nil, isForLaunch: Bool = false
    ) {
        var request = PendingRequest(
            id: id, app: index, wish: wish, phase: phase, change: change, isForLaunch: isForLaunch)
        if let instance = apps[index].instance, wish == .ended || instance.isLeaving {
            request.leaving = instance.id
        }
        requests.add(request)
        touch(index)
    }

    mutating func abandon(_ id: RequestID) {
        grant(id)
        requests.remove(id)
        sleep.stage.change { (preparation: inout Preparation) in preparation.waiting.removeAll { $0.id == id } }
        for index in apps.indices where apps[index].adoption?.request == id { apps[index].adoption?.request = nil }
    }

    /// The app ended while a client waited for it to reach a phase.
    mutating func answerEnd(_ index: Int, _ termination: Termination) {
        answer(
            .ended(termination),
            requests.filter {
                $0.app == index && $0.wish != .ended && $0.leaving != termination.instance
            })
    }

    mutating func answerRequests() {
        guard !requests.isEmpty else { return }
        answer(.done, requests.filter(isFulfilled))
        // What was to start it was called off.
        answer(.notRunning, requests.filter { $0.wish != .ended && isDown($0.app) })
    }

    /// What they have changed stands.
    private mutating func answer(_ outcome: AppAnswer, _ answered: [PendingRequest]) {
        for request in answered {
            reply(request.id, .app(outcome))
            grant(request.id)
        }
        requests.remove(answered)
    }

    private func isDown(_ index: Int) -> Bool { !apps[index].hasInstance && !apps[index].isLaunchPlanned }

    private func isFulfilled(_ request: PendingRequest) -> Bool {
        let present = instanceID(request.app)
        // Another one may be up by then.
        if request.wish == .ended { return present == nil || present != request.leaving }
        guard present != request.leaving else { return false }
        return request.wish == .running
            ? apps[request.app].stands(in: goal(request.app)) : apps[request.app].hasSettled(in: request.phase)
    }
}
