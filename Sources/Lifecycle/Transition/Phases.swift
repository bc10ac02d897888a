// An app's way between its scene phases: one delegate call at a time, towards its goal.

extension DeviceLifecycle {
    /// The most that anything on the board allows at present.
    var goalLimit: ScenePhase { sleep.state == .awake ? conditions.phaseLimit : .background }

    func goal(_ index: Int) -> ScenePhase { min(apps[index].requestedPhase, goalLimit) }

    /// Makes the next call, if one is due and the app can hear it. Handlers that it lacks have returned at once.
    mutating func settlePhase(_ index: Int) {
        while let call = apps[index].instance?.nextCall(towards: goal(index)) {
            if call == .didBecomeActive, policy.front == .one, isFrontTaken(index) { return }
            var allowance = apps[index].policy.allowances[call.handler]
            if sleep.state != .awake, !sleep.isDoubtful {
                guard let bounded = allowanceInSleep(call.handler, allowance, overruns: apps[index].sleepOverruns)
                else { return }
                allowance = bounded
            }
            if apps[index].instance?.handlers.contains(call.handler) == true {
                begin(call, index, allowance: allowance, awaitsReply: true)
            } else {
                didReturn(call.handler, index)
            }
        }
    }

    /// Issues a call; its time runs from here.
    @inline(never)
    mutating func begin(
        _ call: HandlerCall, _ index: Int, allowance: Nanoseconds, awaitsReply: Bool, awaitsReady: Bool = false
    ) {
        guard let instance = instanceID(index) else { return }
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        apps[index].instance?.begin(
            call, as: id, allowance: allowance, awaitsReply: awaitsReply, awaitsReady: awaitsReady, at: now.monotonic)
        if awaitsReply { emit(.app(.call(instance, id, call, allowance: allowance))) }
    }

    mutating func handlerDidReturn(_ id: InstanceID, _ call: CallID) {
        guard let index = index(of: id), apps[index].instance?.heardReply(to: call) == true else { return }
        // An order to stop waits for the reply only, not for READY=1.
        touch(index)
        finishCall(index)
    }

    /// The call is over once all that it waits for has come.
    mutating func finishCall(_ index: Int) {
        noteLongLaunch(index)
        noteLongExpiration(index)
        guard let call = apps[index].instance?.takeFinishedCall() else { return }
        touch(index)
        if case .backgroundTaskWillExpire(let task, _) = call { didExpire(index, task) }
        didReturn(call.handler, index)
    }

    /// What follows from the return of a handler.
    private mutating func didReturn(_ handler: Handler, _ index: Int) {
        switch handler {
        case .didFinishLaunching: didLaunch(index)
        case .didBecomeActive:
            apps[index].hasBeenActive = true
            enter(.active, index)
            apps[index].refillPool()
        case .willResignActive:
            apps[index].instance?.didResign()
            enter(.inactive, index)
        case .didEnterBackground: enter(.background, index)
        case .willEnterForeground: enter(.inactive, index)
        case .willTerminate: didAnswerTermination(index)
        case .backgroundTaskWillExpire: break
        }
    }

    /// Where one app is in front at a time: another one has not left it yet.
    private func isFrontTaken(_ index: Int) -> Bool {
        apps.indices.contains { other in
            guard other != index, let instance = apps[other].instance else { return false }
            return instance.isAlive && (instance.phase == .active || instance.call?.call == .didBecomeActive)
        }
    }

    /// The place in front may be free now: those that wait for it look again.
    mutating func freeFront(_ index: Int) {
        guard policy.front == .one else { return }
        for other in apps.indices where other != index && apps[other].instance?.phase == .inactive { touch(other) }
    }

    private mutating func enter(_ phase: ScenePhase, _ index: Int) {
        guard let before = apps[index].instance?.enter(phase) else { return }
        if before == .active { freeFront(index) }
        if phase == .background, apps[index].instance?.hasUnstartedCommand == false { apps[index].sleepOverruns = 0 }
        emit(.note(.app(.phaseChanged(AppID(rawValue: index), phase))))
    }

    private static let exitAfterGivingUp = Nanoseconds.seconds(1)

    mutating func noteStart(_ id: InstanceID, _ call: CallID, isUnderWay: Bool) {
        guard let index = index(of: id) else { return }
        apps[index].instance?.noteStart(of: call, isUnderWay: isUnderWay)
    }

    /// The time of a handler is over whose command does not run yet. Others can keep it from that (who may read a
    /// program can have each open of it take seconds), so this ends no app: it counts as handled.
    mutating func giveUpStart(_ index: Int, _ call: PendingCall) {
        guard let id = instanceID(index) else { return }
        emit(.note(.app(.handlerNotStarted(AppID(rawValue: index), call.call.handler))))
        emit(.app(.giveUp(id, call.id)))
        _ = apps[index].instance?.heardReply(to: call.id)
        // Its time to end is over with that of the command: it gets some for SIGTERM.
        if call.call.handler == .willTerminate { extendTimeout(id, Self.exitAfterGivingUp) }
        apps[index].instance?.hasUnstartedCommand = true
        if sleep.state == .preparing { noteOverrun(index) }
        touch(index)
        finishCall(index)
    }

    private mutating func noteOverrun(_ index: Int) {
        apps[index].sleepOverruns = min(apps[index].sleepOverruns + 1, Preparation.mostHalvings)
    }

    /// A handler ran into the deadline it was told: the app is killed.
    mutating func overrun(_ index: Int, _ call: PendingCall, taken: Nanoseconds) {
        guard let id = instanceID(index) else { return }
        let handler = call.call.handler
        let reason =
            call.awaitsReply
            ? TerminationReason.handlerOverrun(handler, allowance: call.allowance)
            : .readinessMissed(allowance: call.allowance)
        emit(.note(.app(.overrun(AppID(rawValue: index), id, reason))))
        if sleep.state == .preparing {
            sleep.killed.append(apps[index].policy.name)
            noteOverrun(index)
        }
        kill(index, Cause(reason: reason, handler: handler, allowance: call.allowance, taken: taken))
    }
}
