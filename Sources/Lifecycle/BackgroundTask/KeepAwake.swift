// Background tasks that keep the board awake: logind's block lock. Their time: TaskTime.swift.

extension DeviceLifecycle {
    /// What is left of an app's time to keep the board awake.
    func keepAwakeLeft(_ index: Int) -> Nanoseconds {
        apps[index].keepAwakeLeft(isLowPower: conditions.isLowPower, at: now.monotonic)
    }

    /// Keeps count of the apps for which the board is kept awake, and of their time. A sleep that comes all the same
    /// treats such tasks as any other.
    mutating func noteKeepAwake(_ index: Int) {
        let isLowPower = conditions.isLowPower
        let wants = sleep.state == .awake && apps[index].wantsAwake(isLowPower: isLowPower, at: now.monotonic)
        if wants != apps[index].wantsAwake {
            apps[index].wantsAwake = wants
            keepAwakeCount += wants ? 1 : -1
        }
        if wants, login.locks[.keepAwake] == .held {
            apps[index].startKeepAwake(isLowPower: isLowPower, at: now.monotonic)
        } else {
            apps[index].stopKeepAwake(isLowPower: isLowPower, at: now.monotonic)
        }
    }

    /// Takes the lock with the first task that wants it, and drops it with the last.
    mutating func advanceKeepAwake() {
        if keepAwakeCount > 0, !login.isKeepAwakeRefused {
            takeLock(.keepAwake)
        } else if keepAwakeCount == 0, login.locks[.keepAwake] == .held {
            releaseLock(.keepAwake)
            touchHolders()
            // Idle counts again, and a sleep that the lock forbade may be asked for.
            conditions.restWish.hasten(at: now.monotonic)
            settleConditions()
        }
    }

    /// Those whose time for the lock begins or ends with it.
    mutating func touchHolders() {
        for index in apps.indices where apps[index].wantsAwake || apps[index].instance?.tasks.keepAwakeEnd != nil {
            touch(index)
        }
    }

    /// The time is over: the task goes on, and the board may sleep.
    mutating func spendKeepAwake(_ index: Int) {
        let budget = apps[index].spendKeepAwake()
        emit(.note(.app(.keepAwakeSpent(AppID(rawValue: index), budget: budget))))
        touch(index)
    }

    /// The board has slept: the time to keep it awake is full again.
    mutating func refillKeepAwake() {
        for index in apps.indices where apps[index].refillKeepAwake() { touch(index) }
    }
}
