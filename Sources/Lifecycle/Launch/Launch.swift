// Starting an app, and when that is allowed.

extension Instance {
    /// How long shell, keeper and child may take until a program runs; judged here.
    static let spawnBound = Nanoseconds.seconds(30)
    /// And the start of one that is to be ended anyway.
    static let unwantedSpawnBound = Nanoseconds.seconds(5)
}

extension DeviceLifecycle {
    /// Whether processes may be started at present.
    var canLaunch: Bool { isStarted && sleep.state == .awake && !shutdown.isRunning }

    mutating func launchAtBoot() {
        guard !isStarted else { return }
        isStarted = true
        for index in apps.indices where apps[index].policy.launch == .boot && !apps[index].isRetired {
            queueLaunch(index, .boot, phase: startPhase(index))
        }
        touchAll()
    }

    /// Where one app is in front at a time, those that start later find the place taken. A wish that may be denied yet
    /// takes it from them only for as long.
    func startPhase(_ index: Int) -> ScenePhase {
        let isTaken = apps.indices.contains { other in
            other != index && !apps[other].isRetired && apps[other].grantedPhase != .background
                && (apps[other].hasInstance || apps[other].isGrantedLaunchPlanned)
        }
        return policy.front == .one && isTaken ? .background : apps[index].policy.start
    }

    /// An app that is on its way out is launched when it is gone. phase: where it is to stand; nil: as before.
    mutating func queueLaunch(_ index: Int, _ reason: LaunchReason, phase: ScenePhase? = nil) {
        if isThere(index) { return }
        if let phase { grantPhase(index, phase) }
        if reason == .user {
            apps[index].launch.queue(reason)
        } else {
            apps[index].changeLaunch { $0.queue(reason) }
        }
        touch(index)
    }

    /// Starts an app that waits for it, once the apps it comes after are launched (or have ended trying).
    mutating func launchIfDue(_ index: Int) {
        guard let reason = apps[index].launch.queued, canLaunch, !apps[index].isRetired else { return }
        // A restart would need memory that is short.
        if reason == .restart, memory.pressure == .critical { return }
        for server in apps[index].servers where isLaunching(server) { return }
        lastInstance += 1
        let id = InstanceID(rawValue: lastInstance)
        let inBackground = goal(index) == .background
        apps[index].launch.queued = nil
        apps[index].launch.returnsWhenWell = false
        grantLaunches(index)
        apps[index].launches += 1
        // Neither a restart nor an update: what was spent before does not count against it.
        switch reason {
        case .user, .boot: apps[index].pool = nil
        case .restart, .backgroundFetch, .remoteNotification, .backgroundSession, .backgroundTask, .location,
            .accessory:
            break
        }
        apps[index].instance = Instance(
            id: id, reason: reason, startedAt: now.monotonic, phase: inBackground ? .background : .inactive,
            handlers: apps[index].policy.handlers, news: News(knowing: conditions),
            liveness: Liveness(apps[index].policy.liveness))
        indexOfInstance[id] = index
        emit(.process(.spawn(AppID(rawValue: index), id, reason, background: inBackground)))
    }

    /// On its way up: apps that come after it wait.
    private func isLaunching(_ index: Int) -> Bool {
        guard let instance = apps[index].instance else { return apps[index].launch.queued != nil }
        switch instance.stage {
        case .spawning: return true
        case .running: return !instance.isLaunched || apps[index].launch.queued != nil
        // It comes back when it is gone; who waits for that waits no longer than for its kill.
        case .stopping, .killing, .clearing: return apps[index].launch.queued != nil && !instance.isReportedStuck
        }
    }

    mutating func didSpawn(_ id: InstanceID) {
        guard let index = index(of: id), apps[index].instance?.stage == .spawning else {
            if isGivenUp(id) { emit(.process(.kill(id))) }
            return
        }
        let policy = apps[index].policy
        noteLongStart(index)
        apps[index].instance?.didStart(at: now.monotonic)
        emit(.note(.app(.launched(AppID(rawValue: index), id))))
        touch(index)
        if let cause = apps[index].instance?.cause { return kill(index, cause) }
        beginAdopted(index)
        begin(
            .didFinishLaunching(apps[index].instance?.reason ?? .user), index,
            allowance: policy.allowances[.didFinishLaunching],
            awaitsReply: apps[index].instance?.handlers.contains(.didFinishLaunching) == true,
            awaitsReady: policy.readiness == .notify)
        finishCall(index)
    }

    mutating func spawnDidFail(_ id: InstanceID, code: Int32, explanation: String) {
        guard let index = index(of: id), let instance = apps[index].instance else { return }
        // Its start was given up already; this only says that nothing of it is left.
        if instance.isGivenUp, instance.stage == .clearing { return forget(index) }
        guard instance.stage == .spawning else { return }
        noteLongStart(index)
        record(index, instance.cause?.reason ?? .launchFailed(errno: code, explanation))
        forget(index)
    }

    /// The shell does not say what became of it. Should it start after all, it is killed.
    mutating func giveUpSpawn(_ index: Int) {
        guard let instance = apps[index].instance else { return }
        let reason = instance.cause?.reason ?? .launchTimedOut(bound: Instance.spawnBound)
        record(index, reason)
        apps[index].instance?.giveUp(at: now.monotonic)
        emit(.process(.kill(instance.id)))
        emit(.process(.clear(instance.id)))
        touch(index)
        touchNeighbours(index)
    }

    /// Its start was given up, lately or so long ago that nothing is kept of it.
    func isGivenUp(_ id: InstanceID) -> Bool {
        if let index = index(of: id) { return apps[index].instance?.isGivenUp == true }
        return 1...max(lastInstance, 1) ~= id.rawValue
    }

    /// didFinishLaunching has returned, and READY=1 has come where it is awaited.
    mutating func didLaunch(_ index: Int) {
        apps[index].instance?.didLaunch()
        armLiveness(index)
        for client in apps[index].clients { touch(client) }
    }

    mutating func didBecomeReady(_ id: InstanceID) {
        guard let index = index(of: id), apps[index].instance?.heardReady() == true else { return }
        finishCall(index)
    }
}
