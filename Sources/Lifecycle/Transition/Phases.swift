// An app's way between its scene phases: one delegate call at a time, towards its goal.

extension DeviceLifecycle {
    /// The most that anything on the board allows at present.
    var phaseLimit: ScenePhase { sleep.state == .awake ? conditionLimit : .background }

    func goal(_ index: Int) -> ScenePhase { min(apps[index].requestedPhase, phaseLimit) }

    /// The call that leads one step from where an app stands towards its goal; nil when it is there.
    private func step(_ instance: Instance, towards goal: ScenePhase) -> HandlerCall? {
        switch instance.phase {
        case .active: goal < .active ? .willResignActive : nil
        case .inactive:
            switch goal {
            case .active: .didBecomeActive
            case .inactive: nil
            // An app that was never active hears willResignActive all the same: didEnterBackground never comes without.
            case .background: instance.hasResigned ? .didEnterBackground : .willResignActive
            }
        case .background: goal > .background ? .willEnterForeground : nil
        }
    }

    /// Makes the next call, if one is due and the app can hear it. Handlers that it lacks have returned at once.
    mutating func settlePhase(_ index: Int) {
        while let instance = apps[index].instance, instance.stage == .running, instance.stop == nil,
            instance.isLaunched,
            instance.call == nil, instance.freezer == .thawed, instance.freezeReasons.isEmpty,
            let call = step(instance, towards: goal(index))
        {
            if call == .didBecomeActive, policy.front == .one, isFrontTaken(index) { return }
            var allowance = apps[index].policy.allowances[call.handler]
            if sleep.state != .awake, !sleep.isDoubtful {
                guard let bounded = sleepAllowance(call.handler, allowance) else { return }
                allowance = bounded
            }
            if instance.handlers.contains(call.handler) {
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
        guard let instance = apps[index].instance else { return }
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        let reading = instance.clock.reading(at: now.monotonic)
        apps[index].instance?.call = Call(
            id: id, call: call, told: allowance, issued: reading, deadline: reading + allowance,
            awaitsReply: awaitsReply, awaitsReady: awaitsReady)
        if awaitsReply { emit(.app(.call(instance.id, id, call, deadline: allowance))) }
    }

    mutating func handlerDidReturn(_ id: InstanceID, _ call: CallID) {
        guard let index = index(of: id), let outstanding = apps[index].instance?.call, outstanding.id == call,
            outstanding.awaitsReply
        else { return }
        apps[index].instance?.call?.awaitsReply = false
        // An order to stop waits for the reply only, not for READY=1.
        touch(index)
        finishCall(index)
    }

    /// The call is over once all that it waits for has come.
    mutating func finishCall(_ index: Int) {
        guard let call = apps[index].instance?.call, !call.awaitsReply, !call.awaitsReady else { return }
        apps[index].instance?.call = nil
        touch(index)
        if case .backgroundTaskWillExpire(let task, _) = call.call { didExpire(index, task) }
        didReturn(call.call.handler, index)
    }

    /// What follows from the return of a handler.
    private mutating func didReturn(_ handler: Handler, _ index: Int) {
        switch handler {
        case .didFinishLaunching: didLaunch(index)
        case .didBecomeActive:
            apps[index].hasBeenActive = true
            enter(.active, index)
            refillPool(index)
        case .willResignActive:
            apps[index].instance?.hasResigned = true
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

    /// Its place may be taken.
    mutating func leaveFront(_ index: Int) {
        guard policy.front == .one else { return }
        for other in apps.indices where other != index && apps[other].instance?.phase == .inactive { touch(other) }
    }

    private mutating func enter(_ phase: ScenePhase, _ index: Int) {
        guard let before = apps[index].instance?.phase, before != phase else { return }
        if before == .active { leaveFront(index) }
        apps[index].instance?.phase = phase
        emit(.note(.app(.phaseChanged(AppID(rawValue: index), phase))))
    }

    /// A handler ran into the deadline it was told: the app is killed.
    mutating func overrun(_ index: Int, _ call: Call, taken: Nanoseconds) {
        guard let id = apps[index].instance?.id else { return }
        let handler = call.call.handler
        let reason =
            call.awaitsReply
            ? TerminationReason.handlerOverrun(handler, allowance: call.told) : .readinessMissed(allowance: call.told)
        emit(.note(.app(.overrun(AppID(rawValue: index), id, reason))))
        if sleep.state == .preparing { sleep.killed.append(apps[index].policy.name) }
        kill(index, Cause(reason: reason, handler: handler, allowance: call.told, taken: taken))
    }
}
