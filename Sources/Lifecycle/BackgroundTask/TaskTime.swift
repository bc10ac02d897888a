// What an app's background tasks have left, while it runs and between two of its runs.

extension App {
    /// The pool of an app that holds no task as it enters background, and the most that there is in low power mode.
    static let shortTaskBudget = Nanoseconds.seconds(30)

    /// In low power mode no app has more than the short budget.
    static func limited(_ budget: Nanoseconds, isLowPower: Bool) -> Nanoseconds {
        isLowPower ? min(budget, shortTaskBudget) : budget
    }

    func taskBudget(isLowPower: Bool) -> Nanoseconds { Self.limited(policy.taskBudget, isLowPower: isLowPower) }

    /// What it is given when it enters background.
    private func poolBudget(_ instance: Instance, isLowPower: Bool) -> Nanoseconds {
        instance.tasks.isEmpty ? Self.shortTaskBudget : taskBudget(isLowPower: isLowPower)
    }

    /// How long before the pool's end the expiration handlers are called.
    var lead: Nanoseconds { pool?.lead ?? .zero }

    // MARK: The pool

    /// The whole budget, of what it begins or could not choose the moment for.
    mutating func fillPool(isLowPower: Bool) { pool = TaskPool(taskBudget(isLowPower: isLowPower)) }

    /// It is active: its pool is full again when it leaves the front.
    mutating func refillPool() {
        pool = nil
        instance?.tasks.forgetPoolEnd()
        instance?.tasks.forgetWarnings()
    }

    /// It runs while a task is held in background and the app is to stay there; freezing stops the clock it is read on.
    mutating func settlePool(isGoalBackground: Bool, isLowPower: Bool, at now: Nanoseconds) {
        guard let instance else { return }
        let isInBackground = instance.stage == .running && instance.phase == .background
        // It has just entered background: its time is counted until becoming active makes the pool full again (nil).
        if isInBackground, pool == nil { pool = TaskPool(poolBudget(instance, isLowPower: isLowPower)) }
        if isInBackground, instance.stop == nil, isGoalBackground, !instance.tasks.isEmpty {
            if let pool { self.instance?.tasks.startPool(pool.left, at: instance.clock.reading(at: now)) }
        } else {
            stopPool(at: now)
        }
    }

    mutating func stopPool(at now: Nanoseconds) {
        guard let reading = instance?.clock.reading(at: now), let left = instance?.tasks.stopPool(at: reading) else {
            return
        }
        pool?.stop(left)
    }

    /// nil: no limit, as it is in front, or does not run.
    func timeRemaining(isLowPower: Bool, at now: Nanoseconds) -> Nanoseconds? {
        guard let instance else { return nil }
        if let end = instance.tasks.poolEnd { return max(end - instance.clock.reading(at: now), .zero) }
        if instance.phase == .background { return pool?.left }
        guard instance.call?.call.handler == .didEnterBackground else { return nil }
        // What it will have once that has returned.
        return pool?.left ?? poolBudget(instance, isLowPower: isLowPower)
    }

    /// Of one task: the pool's, or less where it has a limit of its own.
    func timeRemaining(_ task: BackgroundTaskID, isLowPower: Bool, at now: Nanoseconds) -> Nanoseconds? {
        let left = timeRemaining(isLowPower: isLowPower, at: now)
        guard let instance, let end = instance.tasks.task(task)?.allowedUntil else { return left }
        return min(max(end - instance.clock.reading(at: now), .zero), left ?? .max)
    }

    // MARK: Keeping the board awake

    /// What is left of its time for it.
    func keepAwakeLeft(isLowPower: Bool, at now: Nanoseconds) -> Nanoseconds {
        if let instance, let left = instance.tasks.keepAwakeLeft(at: instance.clock.reading(at: now)) { return left }
        return keepAwakePool?.left ?? taskBudget(isLowPower: isLowPower)
    }

    /// A task wants it, and has time for it. The board is awake.
    func wantsAwake(isLowPower: Bool, at now: Nanoseconds) -> Bool {
        guard let instance, instance.isStaying, instance.tasks.keepAwake else { return false }
        return keepAwakeLeft(isLowPower: isLowPower, at: now) > .zero
    }

    /// The lock is held for it.
    mutating func startKeepAwake(isLowPower: Bool, at now: Nanoseconds) {
        guard instance?.tasks.keepAwakeEnd == nil, let reading = instance?.clock.reading(at: now) else { return }
        let pool = keepAwakePool ?? TaskPool(taskBudget(isLowPower: isLowPower))
        keepAwakePool = pool
        instance?.tasks.startKeepAwake(pool.left, at: reading)
    }

    mutating func stopKeepAwake(isLowPower: Bool, at now: Nanoseconds) {
        guard instance?.tasks.keepAwakeEnd != nil else { return }
        let left = keepAwakeLeft(isLowPower: isLowPower, at: now)
        keepAwakePool?.stop(left)
        instance?.tasks.stopKeepAwake()
    }

    /// Nothing is left of it. Returns how much it was.
    mutating func spendKeepAwake() -> Nanoseconds {
        instance?.tasks.stopKeepAwake()
        keepAwakePool?.stop(.zero)
        return keepAwakePool?.spent ?? .zero
    }

    /// All of it is there again. Returns whether less was.
    mutating func refillKeepAwake() -> Bool {
        guard keepAwakePool != nil else { return false }
        instance?.tasks.stopKeepAwake()
        keepAwakePool = nil
        return true
    }

    // MARK: Low power mode

    /// It has begun: no more than the short budget is left from here. Returns whether that changes what is due.
    mutating func cutBudgets(at now: Nanoseconds) -> Bool {
        let wasRunning = instance?.tasks.poolEnd != nil
        stopPool(at: now)
        pool?.cut(to: Self.shortTaskBudget)
        // A reload may have taken the right from those that still use it.
        guard policy.keepsAwake || keepAwakePool != nil else { return wasRunning }
        stopKeepAwake(isLowPower: true, at: now)
        if keepAwakePool == nil { keepAwakePool = TaskPool(policy.taskBudget) }
        keepAwakePool?.cut(to: Self.shortTaskBudget)
        return true
    }
}
