// The end of an instance: recorded once, then what comes of it.

extension Instance {
    /// How long a killed process may take to be gone before it is named.
    static let killBound = Nanoseconds.seconds(5)
    /// How long what a main process left behind may take to be gone. It has been sent SIGKILL and never runs its own
    /// code again, so after that the app may be started anew, once.
    static let clearBound = Nanoseconds.seconds(10)
    /// What is not gone so long after SIGKILL is beyond it for now: the kernel takes milliseconds.
    private static let promptDeath = Nanoseconds.seconds(1)

    private var isDying: Bool { stage == .killing || stage == .clearing }

    /// It may still be gone in time, and was not named.
    var isDyingUnnamed: Bool { isDying && !isReportedStuck }

    /// All of it has been sent SIGKILL, and should be gone by now.
    func outlivesKill(at now: Nanoseconds) -> Bool {
        isDying && (hasOutlivedKill || waitingSince + Self.promptDeath <= now)
    }
}

extension DeviceLifecycle {
    mutating func didExit(_ id: InstanceID, _ status: ExitStatus) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.stage != .clearing else {
            // It has been started and killed since.
            if isGivenUp(id) { emit(.process(.clear(id))) }
            return
        }
        noteLongEnd(index)
        noteLongLaunch(index)
        let own = apps[index].isAdopted ? adoptedEnd(index, status) : TerminationReason.ended(status)
        let ordered = instance.stop.map { $0.isOwnWish ? own : $0.reason }
        record(index, instance.cause?.reason ?? ordered ?? own)
        apps[index].instance?.didExit(at: now.monotonic)
        emit(.process(.clear(id)))
        freeFront(index)
        touch(index)
        touchNeighbours(index)
    }

    mutating func groupDidEmpty(_ id: InstanceID) {
        guard let index = index(of: id) else { return leftoverIsGone(id) }
        guard apps[index].instance?.stage == .clearing else { return }
        if sleep.state == .preparing { noteLateEnd(index) }
        if apps[index].instance?.cause?.reason == .lockTableFilled { retakeSleepLock() }
        forget(index)
    }

    /// Something of it is beyond killing. The app may be started anew beside it, but not again and again: each that is
    /// left may keep a processor busy.
    mutating func leaveBehind(_ index: Int) {
        guard let instance = apps[index].instance, instance.isGivenUp || apps[index].leftover == nil else { return }
        if !instance.isGivenUp { apps[index].leftover = instance.id }
        forget(index)
    }

    private mutating func leftoverIsGone(_ id: InstanceID) {
        guard let index = apps.firstIndex(where: { $0.leftover == id }) else { return }
        apps[index].leftover = nil
        if let instance = apps[index].instance, instance.stage == .clearing, instance.isReportedStuck {
            leaveBehind(index)
        }
    }

    /// Nothing of the instance is left that could run.
    mutating func forget(_ index: Int) {
        if let id = instanceID(index) { indexOfInstance[id] = nil }
        apps[index].instance = nil
        releaseAdopted(index)
        touch(index)
        touchNeighbours(index)
    }

    /// Writes the end down and decides about a restart. Exactly once for each instance.
    mutating func record(_ index: Int, _ reason: TerminationReason) {
        guard let instance = apps[index].instance else { return }
        let call = instance.call
        let termination = Termination(
            app: AppID(rawValue: index), name: apps[index].policy.name, instance: instance.id, reason: reason,
            handler: instance.cause?.handler ?? call?.call.handler,
            allowance: instance.cause?.allowance ?? call?.allowance,
            taken: instance.cause?.taken ?? call.map { instance.clock.reading(at: now.monotonic) - $0.issued },
            uptime: now.monotonic - instance.startedAt, phase: instance.phase,
            sleep: sleep.state == .awake ? nil : sleep.id)
        apps[index].lastTermination = termination
        emit(.report(termination))
        dropTasks(index, reason.namespace == .backgroundTask ? .expired : .died)
        answerEnd(index, termination)
        planRestart(
            index, termination, uptime: instance.runnableUptime(at: now.monotonic),
            wasOrdered: instance.stop.map { !$0.isOwnWish } ?? false)
        touch(index)
    }
}
