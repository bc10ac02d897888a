// Ending an app: asked first (willTerminate, then SIGTERM), killed when its time is over. One that is not thawed is
// killed at once (`order` in App/Instance.swift).

extension DeviceLifecycle {
    /// Ends the present instance. What is to start it next is called off by an operator only: after a shutdown it waits
    /// for that to be cancelled. waveEnd: MONOTONIC, the end of a shutdown's wave.
    mutating func stop(_ index: Int, _ reason: TerminationReason, waveEnd: Nanoseconds? = nil, force: Bool = false) {
        touch(index)
        touchNeighbours(index)
        let isOperators = reason.namespace == .user
        if isOperators { apps[index].launch.callOff() }
        // What ended it before is no loss any more.
        if isOperators, !isRunningOrEnding(index) { apps[index].launch.isMeantToRun = false }
        guard let id = instanceID(index),
            let ordered = apps[index].instance?.order(reason, waveEnd: waveEnd, isForced: force, at: now.monotonic)
        else { return }
        switch ordered {
        case .noted: break
        case .kill: kill(index, Cause(reason: reason))
        case .terminate: emit(.process(.terminate(id)))
        }
    }

    /// Its end is not written down yet.
    private func isRunningOrEnding(_ index: Int) -> Bool {
        guard let stage = apps[index].instance?.stage else { return false }
        return stage != .clearing
    }

    /// Carries out an order to stop as soon as no other handler runs.
    mutating func settleStop(_ index: Int) {
        let own = apps[index].policy.allowances[.willTerminate]
        guard let id = instanceID(index),
            let step = apps[index].instance?.carryOutStop(own, before: shutdown.end, at: now.monotonic)
        else { return }
        switch step {
        case .kill(let reason): kill(index, Cause(reason: reason))
        case .call(let reason, let allowance):
            touchNeighbours(index)
            begin(.willTerminate(reason.namespace.name), index, allowance: allowance, awaitsReply: true)
        case .terminate:
            touchNeighbours(index)
            emit(.process(.terminate(id)))
        }
    }

    /// willTerminate has returned: SIGTERM, and what is left of its time.
    mutating func didAnswerTermination(_ index: Int) {
        guard let id = instanceID(index), apps[index].instance?.didAnswerTermination() == true else { return }
        emit(.process(.terminate(id)))
    }

    /// STOPPING=1 of an app that ends by itself. Of one that has been asked to end it says nothing new.
    mutating func appBeganToStop(_ id: InstanceID) {
        guard let index = index(of: id) else { return }
        let own = apps[index].policy.allowances[.willTerminate]
        guard apps[index].instance?.stopByItself(own, at: now.monotonic) == true else { return }
        freeFront(index)
        touch(index)
        touchNeighbours(index)
    }

    /// On the way to sleep an app that ends by itself has the time for it that is configured, and no more.
    mutating func extendTimeout(_ id: InstanceID, _ time: Nanoseconds) {
        guard let index = index(of: id), !isEndingInSleep(index),
            apps[index].instance?.extend(by: time, at: now.monotonic) == true
        else { return }
        touch(index)
    }

    private func isEndingInSleep(_ index: Int) -> Bool {
        sleep.state == .preparing && !sleep.isDoubtful && apps[index].instance?.isEndingByItself == true
    }

    mutating func mainIsGone(_ id: InstanceID) {
        guard let index = index(of: id), apps[index].instance?.mainIsGone() == true else { return }
        touch(index)
    }

    /// It has not exited in time: what ends by itself has cost the sleep that. One whose main process alone has exited
    /// has ended as it was to.
    mutating func overrunExit(_ index: Int, _ allowance: Nanoseconds) {
        if let order = apps[index].instance?.stop, order.isMainGone { return kill(index, Cause(reason: order.reason)) }
        if isEndingInSleep(index) {
            sleep.killed.append(apps[index].policy.name)
            if !apps[index].isNotAwaited(by: sleep) { remember(index) }
        }
        kill(index, Cause(reason: .exitOverrun(allowance: allowance)))
    }

    /// SIGKILL to everything in the control group.
    mutating func kill(_ index: Int, _ cause: Cause) {
        noteLongEnd(index)
        noteLongLaunch(index)
        guard let id = instanceID(index), apps[index].instance?.kill(cause, at: now.monotonic) == true else {
            // Of one that is still to start, its start is given up sooner.
            return touch(index)
        }
        apps[index].stopPool(at: now.monotonic)
        emit(.process(.kill(id)))
        freeFront(index)
        touch(index)
        touchNeighbours(index)
    }
}
