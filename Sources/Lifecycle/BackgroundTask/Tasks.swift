// Background tasks: begun and ended at any time, paid for from the app's pool while it is in background.

extension DeviceLifecycle {
    /// Tasks an app may hold at a time.
    static let taskLimit = 64
    /// The pool of an app that holds no task as it enters background.
    static let shortTaskBudget = Nanoseconds.seconds(30)
    /// For the expiration handler of a task whose own limit is over.
    static let expirationAllowance = Nanoseconds.seconds(5)

    // MARK: What the app asks

    mutating func beginTask(_ id: InstanceID, _ wish: TaskWish, _ request: RequestID) {
        guard let index = index(of: id), let instance = apps[index].instance, instance.stage == .running,
            instance.stop == nil
        else { return reply(request, .beginTask(.denied(.appEnding))) }
        if instance.tasks.count >= Self.taskLimit {
            return reply(request, .beginTask(.tooMany(limit: Self.taskLimit)))
        }
        if let left = timeRemaining(index, at: now.monotonic), left <= lead(index) {
            let refill = apps[index].hasBeenActive ? BudgetRefill.activation : .time
            return reply(request, .beginTask(.denied(.budgetSpent(refill: refill))))
        }
        var keepsAwake = wish.keepAwake ?? false
        if wish.keepAwake == true {
            if !apps[index].policy.keepsAwake {
                return reply(request, .beginTask(.denied(.keepAwakeNotConfigured)))
            }
            if lockTimeLeft(index) == .zero {
                return reply(request, .beginTask(.denied(.keepAwakeSpent)))
            }
        } else if wish.keepAwake == nil {
            keepsAwake = apps[index].policy.keepsAwake && lockTimeLeft(index) > .zero
        }
        let task = addTask(index, wish, keepsAwake: keepsAwake)
        reply(request, .beginTask(.begun(task, timeRemaining: timeRemaining(index, task, at: now.monotonic))))
    }

    @discardableResult
    mutating func addTask(_ index: Int, _ wish: TaskWish, keepsAwake: Bool) -> BackgroundTaskID {
        guard let instance = apps[index].instance else { return BackgroundTaskID(rawValue: 0) }
        lastTask += 1
        let id = BackgroundTaskID(rawValue: lastTask)
        let reading = instance.clock.reading(at: now.monotonic)
        apps[index].instance?.tasks.append(
            HeldTask(
                id: id, name: wish.name, keepsAwake: keepsAwake, begun: reading,
                limit: wish.timeAllowed.map { reading + $0 }))
        if keepsAwake { login.isKeepAwakeRefused = false }
        tell(index, id, .began)
        touch(index)
        return id
    }

    mutating func endTask(_ id: InstanceID, _ task: BackgroundTaskID, _ request: RequestID) {
        guard let index = index(of: id), apps[index].instance?.tasks.contains(where: { $0.id == task }) == true else {
            return reply(request, .endTask(.noSuchTask))
        }
        endTask(index, task, .ended)
        reply(request, .endTask(.ended))
    }

    private mutating func endTask(_ index: Int, _ task: BackgroundTaskID, _ end: TaskChange) {
        tell(index, task, end)
        apps[index].instance?.tasks.removeAll { $0.id == task }
        // Nobody is judged for what is over by now.
        if apps[index].instance?.tasks.isEmpty == true { stopPool(index) }
        touch(index)
    }

    /// The instance is over: what it still held ends with it.
    mutating func dropTasks(_ index: Int, _ end: TaskChange) {
        stopPool(index)
        stopLockTime(index)
        for task in apps[index].instance?.tasks ?? [] { tell(index, task.id, end) }
        apps[index].instance?.tasks = []
    }

    private mutating func tell(_ index: Int, _ task: BackgroundTaskID, _ change: TaskChange) {
        guard let instance = apps[index].instance, let held = instance.tasks.first(where: { $0.id == task }) else {
            return
        }
        emit(
            .client(
                .taskChanged(
                    AppID(rawValue: index), instance.id, view(index, instance, held, at: now.monotonic), change)))
    }

    // MARK: The pool

    /// The app is active: its pool is full again when it leaves the front.
    mutating func refillPool(_ index: Int) {
        apps[index].pool = nil
        apps[index].instance?.poolEnd = nil
        guard let count = apps[index].instance?.tasks.count else { return }
        for task in 0..<count { apps[index].instance?.tasks[task].isWarned = false }
    }

    /// It runs while a task is held in background; freezing stops the clock it is read on.
    mutating func settlePool(_ index: Int) {
        guard let instance = apps[index].instance else { return }
        if instance.stage == .running, instance.phase == .background, apps[index].pool == nil {
            // It has just entered background; only becoming active empties the account again.
            apps[index].pool = TaskPool(poolBudget(index, instance))
        }
        let runs =
            instance.stage == .running && instance.stop == nil && instance.phase == .background
            && goal(index) == .background && !instance.tasks.isEmpty
        if runs, instance.poolEnd == nil, let pool = apps[index].pool {
            apps[index].instance?.poolEnd = instance.clock.reading(at: now.monotonic) + pool.left
        } else if !runs {
            stopPool(index)
        }
    }

    /// What an app is given when it enters background.
    func poolBudget(_ index: Int, _ instance: Instance) -> Nanoseconds {
        instance.tasks.isEmpty ? limited(Self.shortTaskBudget) : limited(apps[index].policy.taskBudget)
    }

    /// In low power mode nobody has more than the short budget.
    func limited(_ budget: Nanoseconds) -> Nanoseconds {
        conditions.isLowPower ? min(budget, Self.shortTaskBudget) : budget
    }

    /// Low power mode has begun: nobody has more than the short budget from here.
    mutating func cutBudgets(_ index: Int) {
        let wasRunning = apps[index].instance?.poolEnd != nil
        stopPool(index)
        if let left = apps[index].pool?.left { apps[index].pool?.left = min(left, Self.shortTaskBudget) }
        if wasRunning { touch(index) }
        // A reload may have taken the right from those that still use it.
        let app = apps[index]
        guard app.policy.keepsAwake || app.lockTimeLeft != nil || app.instance?.lockEnd != nil else { return }
        stopLockTime(index)
        apps[index].lockTimeLeft = min(lockTimeLeft(index), Self.shortTaskBudget)
        touch(index)
    }

    mutating func stopPool(_ index: Int) {
        guard let instance = apps[index].instance, let end = instance.poolEnd else { return }
        apps[index].pool?.left = max(end - instance.clock.reading(at: now.monotonic), .zero)
        apps[index].instance?.poolEnd = nil
    }

    func lead(_ index: Int) -> Nanoseconds { apps[index].pool?.lead ?? .zero }

    // MARK: Expiration

    /// Calls the expiration handlers that are due, newest task first, one at a time.
    mutating func settleExpirations(_ index: Int) {
        while let instance = apps[index].instance, canCall(instance), let task = dueTask(index, instance) {
            mark(index, task)
            guard let pending = apps[index].instance?.tasks.first(where: { $0.id == task.id }) else { return }
            tell(index, task.id, .expiring)
            let left = timeRemaining(index, at: now.monotonic) ?? .max
            let allowance = pending.isOver ? min(left, Self.expirationAllowance) : left
            // Nobody is called without time: whoever holds a task then is about to be killed.
            if instance.handlers.contains(.backgroundTaskWillExpire), allowance > .zero {
                begin(
                    .backgroundTaskWillExpire(task.id, name: task.name), index, allowance: allowance, awaitsReply: true)
            } else {
                // A command that was adopted knows SIGTERM: of its budget, not of what it has begun itself.
                if apps[index].isAdopted, isLow(index, instance) { emit(.process(.terminate(instance.id))) }
                if pending.isOver { endTask(index, task.id, .expired) }
            }
        }
    }

    /// Whether an expiration handler may be called at present. One that waits for its clients to be frozen still runs.
    func canCall(_ instance: Instance) -> Bool {
        instance.stage == .running && instance.stop == nil && instance.isLaunched && instance.call == nil
            && instance.freezer == .thawed
    }

    /// The newest task whose expiration handler is due.
    private func dueTask(_ index: Int, _ instance: Instance) -> HeldTask? {
        let reading = instance.clock.reading(at: now.monotonic)
        let isLow = isLow(index, instance)
        return instance.tasks.last { isOver($0, at: reading) && !$0.isOver || isLow && !$0.isWarned }
    }

    /// Whether the pool is about to be empty.
    private func isLow(_ index: Int, _ instance: Instance) -> Bool {
        instance.poolEnd.map { $0 - instance.clock.reading(at: now.monotonic) <= lead(index) } ?? false
    }

    private func isOver(_ task: HeldTask, at reading: Nanoseconds) -> Bool {
        task.limit.map { $0 <= reading } ?? false
    }

    private mutating func mark(_ index: Int, _ task: HeldTask) {
        guard let instance = apps[index].instance,
            let place = instance.tasks.firstIndex(where: { $0.id == task.id })
        else { return }
        apps[index].instance?.tasks[place].isWarned = true
        if isOver(task, at: instance.clock.reading(at: now.monotonic)) {
            apps[index].instance?.tasks[place].isOver = true
        }
    }

    /// The expiration handler has returned: a task whose own limit was over has ended.
    mutating func didExpire(_ index: Int, _ task: BackgroundTaskID) {
        if apps[index].instance?.tasks.contains(where: { $0.id == task && $0.isOver }) == true {
            endTask(index, task, .expired)
        }
    }

    /// The reading at which the next expiration handler is due; nil: none is, or none can be called.
    func expirationDue(_ index: Int, _ instance: Instance) -> Nanoseconds? {
        guard !instance.tasks.isEmpty, canCall(instance) else { return nil }
        let warning = instance.poolEnd.map { $0 - lead(index) } ?? .max
        var due = Nanoseconds.max
        for task in instance.tasks {
            if !task.isOver, let limit = task.limit { due = min(due, limit) }
            if !task.isWarned { due = min(due, warning) }
        }
        return due == .max ? nil : due
    }

    /// The pool is empty and a task is still held.
    mutating func spendBudget(_ index: Int, _ instance: Instance) {
        let pool = apps[index].pool ?? TaskPool(.zero)
        let isCalled = instance.call?.call.handler == .backgroundTaskWillExpire
        let held = instance.tasks.prefix(3).map { $0.name }
        let reason = TerminationReason.taskBudgetSpent(
            budget: pool.size, held: held, more: instance.tasks.count - held.count)
        emit(.note(.app(.overrun(AppID(rawValue: index), instance.id, reason))))
        kill(
            index,
            Cause(
                reason: reason, handler: isCalled ? .backgroundTaskWillExpire : nil, allowance: pool.size,
                taken: pool.size))
    }
}
