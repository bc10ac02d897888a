// An app is frozen for as long as any reason holds, and thawed when the last is gone.

extension Instance {
    /// It is still being frozen, and no sleep waits for that.
    var isLeftToFreeze: Bool { freezer == .freezing && isFreezeUnawaited }

    /// It is still being frozen, and that has taken long.
    func isFreezeLate(at now: Nanoseconds) -> Bool {
        isAlive && freezer == .freezing && waitingSince + Self.leastFreezeBound <= now
    }

    /// How long freezing may take before its culprits are named.
    static let freezeBound = Nanoseconds.seconds(2)
    /// And of an app that has not been frozen in time at sleep after sleep.
    static let leastFreezeBound = Nanoseconds.milliseconds(500)
}

extension DeviceLifecycle {
    /// Derives the reasons that hold, and brings the freezer in line with them.
    mutating func settleFreezer(_ index: Int) {
        guard let instance = apps[index].instance, instance.isAlive else { return }
        let reasons = freezeReasons(index, instance)
        let mayFreeze =
            !reasons.isEmpty && instance.freezer == .thawed && canFreeze && apps[index].policy.suspend
            && isItsTurn(index)
        guard let change = apps[index].instance?.moveFreezer(reasons, mayFreeze: mayFreeze, at: now.monotonic)
        else {
            return
        }
        switch change {
        case .freezing: emit(.process(.freeze(instance.id)))
        case .thawed:
            emit(.process(.thaw(instance.id)))
            armLiveness(index)
        }
    }

    private func freezeReasons(_ index: Int, _ instance: Instance) -> FreezeReasons {
        var reasons = instance.freezeReasons
        reasons.set(.background, isIdleInBackground(index, instance))
        // One that is not frozen yet is judged anew: it may have begun a task while it waited for its clients.
        if sleep.state == .preparing, instance.freezer == .thawed { reasons.remove(.sleep) }
        if sleep.state != .awake, mustFreezeForSleep(index, instance) {
            reasons.insert(.sleep)
        } else if sleep.state == .darkWake, worksInTheDark(instance) {
            // It pays for the tasks it holds: frozen with them, it could have the board woken for ever.
            reasons.remove(.sleep)
        }
        return reasons
    }

    /// Whether it is in background for good, with nothing to do there.
    private func isIdleInBackground(_ index: Int, _ instance: Instance) -> Bool {
        canFreeze && apps[index].policy.suspend && instance.isStaying && instance.isLaunched && instance.call == nil
            && instance.phase == .background && instance.tasks.isEmpty && goal(index) == .background
            && (!sleep.isDoubtful || isWantedInBackground(index))
    }

    /// Whatever the board is about to do.
    private func isWantedInBackground(_ index: Int) -> Bool {
        min(apps[index].requestedPhase, conditions.phaseLimit) == .background
    }

    /// At a sleep, clients freeze before the servers they may be waiting for: a frozen server would leave them stuck in
    /// the kernel. Outside of it an app freezes alone.
    private func isItsTurn(_ index: Int) -> Bool {
        guard sleep.preparation?.isOrderOver == false else { return true }
        return apps[index].clients.allSatisfy { client in
            guard let instance = apps[client].instance, instance.isAlive else { return true }
            return instance.freezer == .frozen || instance.freezer == .stuck || instance.isLeftToFreeze
                || !apps[client].policy.suspend
        }
    }

    mutating func didFreeze(_ id: InstanceID) {
        guard let index = index(of: id) else { return }
        let isLate = apps[index].instance?.isFreezeLate(at: now.monotonic) == true
        guard apps[index].instance?.didFreeze() == true else { return }
        if isLate { noteSlowFreeze(index) }
        touch(index)
        for server in apps[index].servers { touch(server) }
    }

    /// How long freezing it may take. What is taken over is a new app each time: all of it has one record.
    func freezeBound(_ index: Int) -> Nanoseconds {
        let own = apps[index].freezeRecord.bound(inSleep: sleep.age)
        return apps[index].isAdopted ? min(own, adoptedFreezeRecord.bound(inSleep: sleep.age)) : own
    }

    /// When its freezing is to be looked at.
    func nextFreezeBound(_ index: Int) -> Nanoseconds {
        let isWaitedForLess = hasFrozenSlowly(apps[index]) && apps[index].instance?.isFreezeUnawaited == false
        return isWaitedForLess ? Instance.leastFreezeBound : freezeBound(index)
    }

    /// A sleep is held up by what cannot be frozen, or goes on without it: once, but not time after time.
    mutating func endWhatIsStuckAgain(_ index: Int) {
        guard sleep.isYetToCome, apps[index].freezeRecord.last != sleep.age,
            let instance = apps[index].instance, instance.isAlive, instance.freezer == .stuck
        else { return }
        if apps[index].isAdopted { _ = adoptedFreezeRecord.count(sleep.age) }
        let isAgain = apps[index].freezeRecord.count(sleep.age)
        // What others keep from its exec is not the app's doing.
        if isAgain, !instance.hasUnstartedCommand { endForSleep(index, .unfreezable) }
    }

    mutating func endForSleep(_ index: Int, _ reason: TerminationReason) {
        sleep.killed.append(apps[index].policy.name)
        kill(index, Cause(reason: reason))
    }

    mutating func setFreezing(_ available: Bool) {
        canFreeze = available
        touchAll()
    }

    mutating func reportStuck(_ index: Int, _ stuck: Stuck) {
        guard let id = instanceID(index), apps[index].instance?.reportStuck() == true else { return }
        emit(.process(.reportStuck(id, stuck)))
        touch(index)
        touchNeighbours(index)
    }
}
