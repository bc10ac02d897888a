// Freezing and thawing, with counted reasons.

extension DeviceLifecycle {
    /// How long freezing may take before its culprits are named.
    static let freezeBound = Nanoseconds.seconds(2)

    /// Derives the reasons that hold, and brings the freezer in line with them.
    mutating func settleFreezer(_ index: Int) {
        guard let instance = apps[index].instance, instance.isAlive else { return }
        var reasons = instance.freezeReasons
        setReason(.background, in: &reasons, isIdleInBackground(index, instance))
        // Who still waits for its clients to be frozen may have begun a task.
        if sleep.state == .preparing, instance.freezer == .thawed { reasons.remove(.sleep) }
        if sleep.state != .awake, mustFreezeForSleep(index, instance) {
            reasons.insert(.sleep)
        } else if sleep.state == .darkWake, worksInTheDark(instance) {
            // It pays for the tasks it holds: frozen with them, it could have the board woken for ever.
            reasons.remove(.sleep)
        }
        apps[index].instance?.freezeReasons = reasons
        if reasons.isEmpty {
            thaw(index)
        } else if instance.freezer == .thawed, canFreeze, apps[index].policy.suspend, mayFreeze(index) {
            freeze(index)
        }
    }

    private func setReason(_ reason: FreezeReasons, in reasons: inout FreezeReasons, _ holds: Bool) {
        if holds { reasons.insert(reason) } else { reasons.remove(reason) }
    }

    /// Whether it is in background for good, with nothing to do there.
    private func isIdleInBackground(_ index: Int, _ instance: Instance) -> Bool {
        canFreeze && apps[index].policy.suspend && instance.stage == .running && instance.stop == nil
            && instance.isLaunched && instance.call == nil && instance.phase == .background && instance.tasks.isEmpty
            && goal(index) == .background && (!sleep.isDoubtful || isWantedInBackground(index))
    }

    /// Whatever the board is about to do.
    private func isWantedInBackground(_ index: Int) -> Bool {
        min(apps[index].requestedPhase, conditionLimit) == .background
    }

    /// At a sleep, clients freeze before the servers they may be waiting for: a frozen server would leave them stuck in
    /// the kernel. Outside of it an app freezes alone.
    private func mayFreeze(_ index: Int) -> Bool {
        guard sleep.preparation?.isForced == false else { return true }
        return apps[index].clients.allSatisfy { client in
            guard let instance = apps[client].instance, instance.isAlive else { return true }
            return instance.freezer == .frozen || instance.freezer == .stuck || !apps[client].policy.suspend
        }
    }

    private mutating func freeze(_ index: Int) {
        guard let id = apps[index].instance?.id else { return }
        apps[index].instance?.clock.stop(at: now.monotonic)
        apps[index].instance?.freezer = .freezing
        apps[index].instance?.waitingSince = now.monotonic
        apps[index].instance?.isNamed = false
        emit(.process(.freeze(id)))
    }

    private mutating func thaw(_ index: Int) {
        guard let instance = apps[index].instance, instance.freezer != .thawed else { return }
        apps[index].instance?.clock.resume(at: now.monotonic)
        apps[index].instance?.freezer = .thawed
        emit(.process(.thaw(instance.id)))
        armLiveness(index)
    }

    mutating func didFreeze(_ id: InstanceID) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.isAlive,
            instance.freezer == .freezing || instance.freezer == .stuck
        else { return }
        apps[index].instance?.freezer = .frozen
        touch(index)
        for server in apps[index].servers { touch(server) }
    }

    mutating func setFreezing(_ available: Bool) {
        canFreeze = available
        touchAll()
    }

    mutating func nameCulprits(_ index: Int, _ stuck: Stuck) {
        guard let instance = apps[index].instance, !instance.isNamed else { return }
        apps[index].instance?.isNamed = true
        emit(.process(.nameCulprits(instance.id, stuck)))
        touch(index)
        touchNeighbours(index)
    }
}
