// Ending an app: asked first (willTerminate, then SIGTERM), killed when its time is over.

extension DeviceLifecycle {
    /// How long a killed process may take to be gone before it is named.
    static let killBound = Nanoseconds.seconds(5)
    /// How long what a main process left behind may take to be gone. It has been sent SIGKILL and never runs its own
    /// code again, so after that the app may be started anew.
    static let clearBound = Nanoseconds.seconds(10)

    /// Ends the present instance. What is to start it next is called off by an operator only: after a shutdown it waits
    /// for that to be cancelled. limit: MONOTONIC, for the end of a shutdown's wave.
    mutating func stop(_ index: Int, _ reason: TerminationReason, limit: Nanoseconds? = nil, force: Bool = false) {
        touch(index)
        touchNeighbours(index)
        let isOperators = reason.namespace == .user
        if isOperators { apps[index].launch.callOff() }
        // What ended it before is no loss any more.
        if isOperators, !isRunningOrEnding(index) { apps[index].launch.isMeantToRun = false }
        guard let instance = apps[index].instance else { return }
        switch instance.stage {
        case .spawning:
            if isOperators || instance.cause?.reason.namespace != .user {
                apps[index].instance?.cause = Cause(reason: reason)
            }
        case .running, .stopping:
            if force || instance.freezer != .thawed {
                kill(index, Cause(reason: reason))
            } else if instance.stop == nil {
                apps[index].instance?.stop = StopOrder(reason: reason, limit: limit)
            } else {
                tightenStop(index, reason, limit: limit)
            }
        // It is killed for another reason; an operator's word keeps it from coming back.
        case .killing: if isOperators { apps[index].instance?.stop = StopOrder(reason: reason) }
        case .clearing: break
        }
    }

    /// Its end is not written down yet.
    private func isRunningOrEnding(_ index: Int) -> Bool {
        guard let instance = apps[index].instance else { return false }
        return instance.stage != .clearing
    }

    /// A second order: the shorter limit counts, an operator's outlives a shutdown's, and an app that was ending by its
    /// own wish is now asked to.
    private mutating func tightenStop(_ index: Int, _ reason: TerminationReason, limit: Nanoseconds?) {
        guard let instance = apps[index].instance, let stop = instance.stop else { return }
        if let limit { apps[index].instance?.stop?.limit = min(limit, stop.limit ?? .max) }
        if stop.isOwnWish || reason.namespace == .user { apps[index].instance?.stop?.reason = reason }
        guard stop.isOwnWish else { return }
        apps[index].instance?.stop?.isOwnWish = false
        emit(.process(.terminate(instance.id)))
    }

    /// Carries out an order to stop as soon as no other handler runs.
    mutating func settleStop(_ index: Int) {
        guard let instance = apps[index].instance, instance.stage == .running, let stop = instance.stop else { return }
        if let call = instance.call {
            // Waiting for READY=1 alone is no handler that could overlap.
            if call.awaitsReply { return }
            apps[index].instance?.call = nil
        }
        if instance.freezer != .thawed { return kill(index, Cause(reason: stop.reason)) }
        var allowance = apps[index].policy.allowances[.willTerminate]
        // The order may be older than the shutdown.
        if let limit = stop.limit ?? shutdown.end {
            let left = min(limit, shutdown.end ?? .max) - now.monotonic
            if left < Self.leastAllowance { return kill(index, Cause(reason: stop.reason)) }
            allowance = min(allowance, left)
        }
        apps[index].instance?.stage = .stopping
        apps[index].instance?.livenessDue = nil
        touchNeighbours(index)
        let reading = instance.clock.reading(at: now.monotonic)
        apps[index].instance?.stop?.extensionLimit = reading + allowance + allowance + allowance
        apps[index].instance?.stop?.exitAllowance = allowance
        if instance.handlers.contains(.willTerminate) {
            begin(.willTerminate(stop.reason.namespace.name), index, allowance: allowance, awaitsReply: true)
        } else {
            apps[index].instance?.stop?.exitDue = reading + allowance
            emit(.process(.terminate(instance.id)))
        }
    }

    /// willTerminate has returned: SIGTERM, and what is left of its time.
    mutating func didAnswerTermination(_ index: Int) {
        guard let instance = apps[index].instance, let stop = instance.stop else { return }
        let due = stop.extensionLimit - stop.exitAllowance - stop.exitAllowance
        apps[index].instance?.stop?.exitDue = max(due, stop.extendedDue)
        emit(.process(.terminate(instance.id)))
    }

    /// STOPPING=1 of an app that ends by itself, whether or not it is to be asked to: it gets the time of willTerminate
    /// to be gone.
    mutating func isStopping(_ id: InstanceID) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.stage == .running,
            instance.freezer == .thawed
        else { return }
        var order = instance.stop ?? StopOrder(reason: .ended(.exited(0)), isOwnWish: true)
        var allowance = apps[index].policy.allowances[.willTerminate]
        if let limit = order.limit { allowance = min(allowance, max(limit - now.monotonic, .zero)) }
        let reading = instance.clock.reading(at: now.monotonic)
        order.exitDue = reading + allowance
        order.exitAllowance = allowance
        order.extensionLimit = reading + allowance + allowance + allowance
        apps[index].instance?.stop = order
        apps[index].instance?.stage = .stopping
        apps[index].instance?.call = nil
        leaveFront(index)
        apps[index].instance?.livenessDue = nil
        touch(index)
        touchNeighbours(index)
    }

    /// EXTEND_TIMEOUT_USEC: during launch and termination only, three times the allowance at most in all.
    mutating func extendTimeout(_ id: InstanceID, _ time: Nanoseconds) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.isAlive,
            !instance.clock.isStopped, time > .zero
        else { return }
        let wanted = instance.clock.reading(at: now.monotonic) + time
        if let call = instance.call {
            switch call.call.handler {
            case .didFinishLaunching, .willTerminate: break
            case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
                .backgroundTaskWillExpire:
                return
            }
            let limit = call.issued + call.told + call.told + call.told
            apps[index].instance?.call?.deadline = max(call.deadline, min(wanted, limit))
        }
        if let stop = instance.stop, instance.stage == .stopping {
            let extended = min(wanted, stop.extensionLimit)
            apps[index].instance?.stop?.extendedDue = max(stop.extendedDue, extended)
            if let due = stop.exitDue { apps[index].instance?.stop?.exitDue = max(due, extended) }
        }
        touch(index)
    }

    /// SIGKILL to everything in the control group. The first cause stays: it is what the end is recorded with.
    mutating func kill(_ index: Int, _ cause: Cause) {
        guard let instance = apps[index].instance else { return }
        switch instance.stage {
        case .spawning:
            if instance.cause == nil { apps[index].instance?.cause = cause }
        case .running, .stopping:
            // An operator's or the shutdown's order outlives the overrun that hastens it: it decides about the restart.
            apps[index].instance?.cause = cause
            stopPool(index)
            apps[index].instance?.stage = .killing
            apps[index].instance?.call = nil
            apps[index].instance?.livenessDue = nil
            apps[index].instance?.waitingSince = now.monotonic
            apps[index].instance?.isNamed = false
            emit(.process(.kill(instance.id)))
            leaveFront(index)
            touch(index)
            touchNeighbours(index)
        case .killing, .clearing: break
        }
    }
}
