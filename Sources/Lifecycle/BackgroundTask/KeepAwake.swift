// Background tasks that keep the board awake: logind's block lock, and each app's time for it.

extension DeviceLifecycle {
    /// What is left of an app's time to keep the board awake.
    func lockTimeLeft(_ index: Int) -> Nanoseconds {
        if let instance = apps[index].instance, let end = instance.lockEnd {
            return max(end - instance.clock.reading(at: now.monotonic), .zero)
        }
        return apps[index].lockTimeLeft ?? limited(apps[index].policy.taskBudget)
    }

    /// A sleep that comes all the same treats such tasks as any other.
    private func wantsAwake(_ index: Int) -> Bool {
        guard let instance = apps[index].instance, instance.stage == .running, instance.stop == nil,
            sleep.state == .awake
        else { return false }
        return instance.tasks.contains { $0.keepsAwake } && lockTimeLeft(index) > .zero
    }

    /// Keeps count of the apps for which the board is kept awake, and of their time.
    mutating func noteKeepAwake(_ index: Int) {
        let wants = wantsAwake(index)
        if wants != apps[index].wantsAwake {
            apps[index].wantsAwake = wants
            keepAwakeCount += wants ? 1 : -1
        }
        guard wants, login.locks[.keepAwake] == .held else { return stopLockTime(index) }
        guard let instance = apps[index].instance, instance.lockEnd == nil else { return }
        let left = lockTimeLeft(index)
        apps[index].instance?.lockEnd = instance.clock.reading(at: now.monotonic) + left
    }

    mutating func stopLockTime(_ index: Int) {
        guard apps[index].instance?.lockEnd != nil else { return }
        let left = lockTimeLeft(index)
        apps[index].lockTimeLeft = left
        apps[index].instance?.lockEnd = nil
    }

    /// Takes the lock with the first task that wants it, and drops it with the last.
    mutating func advanceKeepAwake() {
        if keepAwakeCount > 0, !login.isKeepAwakeRefused {
            takeLock(.keepAwake)
        } else if keepAwakeCount == 0, login.locks[.keepAwake] == .held {
            releaseLock(.keepAwake)
            touchHolders()
            // Idle counts again, and a sleep that the lock forbade may be asked for.
            hastenRest()
            settleConditions()
        }
    }

    /// Those whose time for the lock begins or ends with it.
    mutating func touchHolders() {
        for index in apps.indices where apps[index].wantsAwake || apps[index].instance?.lockEnd != nil { touch(index) }
    }

    /// The time is over: the task goes on, and the board may sleep.
    mutating func spendLockTime(_ index: Int) {
        stopLockTime(index)
        apps[index].lockTimeLeft = .zero
        emit(.note(.app(.keepAwakeSpent(AppID(rawValue: index), budget: apps[index].policy.taskBudget))))
        touch(index)
    }

    /// The board has slept: the time to keep it awake is full again.
    mutating func refillLockTime() {
        for index in apps.indices where apps[index].lockTimeLeft != nil || apps[index].instance?.lockEnd != nil {
            apps[index].instance?.lockEnd = nil
            apps[index].lockTimeLeft = nil
            touch(index)
        }
    }
}
