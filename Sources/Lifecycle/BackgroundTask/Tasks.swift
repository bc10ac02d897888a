// Background tasks: begun and ended at any time, paid for from the app's pool while it is in background.

extension DeviceLifecycle {
    /// For the expiration handler of a task whose own limit is over.
    static let expirationAllowance = Nanoseconds.seconds(5)

    // MARK: What the app asks

    mutating func beginBackgroundTask(_ id: InstanceID, _ parameters: TaskParameters, _ request: RequestID) {
        guard let index = index(of: id), apps[index].instance?.isStaying == true else {
            return reply(request, .beginBackgroundTask(.denied(.appEnding)))
        }
        if apps[index].instance?.tasks.isFull == true {
            return reply(request, .beginBackgroundTask(.tooMany(limit: HeldTasks.limit)))
        }
        if let left = timeRemaining(index), left <= lead(index) {
            let refill = apps[index].hasBeenActive ? BudgetRefill.activation : .time
            return reply(request, .beginBackgroundTask(.denied(.budgetSpent(refill: refill))))
        }
        var keepsAwake = parameters.keepAwake ?? false
        if parameters.keepAwake == true {
            if !apps[index].policy.keepsAwake {
                return reply(request, .beginBackgroundTask(.denied(.keepAwakeNotConfigured)))
            }
            if keepAwakeLeft(index) == .zero {
                return reply(request, .beginBackgroundTask(.denied(.keepAwakeSpent)))
            }
        } else if parameters.keepAwake == nil {
            keepsAwake = apps[index].policy.keepsAwake && keepAwakeLeft(index) > .zero
        }
        let task = addTask(index, parameters, keepsAwake: keepsAwake)
        let left = apps[index].timeRemaining(task, isLowPower: conditions.isLowPower, at: now.monotonic)
        reply(request, .beginBackgroundTask(.begun(task, timeRemaining: left)))
    }

    @discardableResult
    mutating func addTask(_ index: Int, _ parameters: TaskParameters, keepsAwake: Bool) -> BackgroundTaskID {
        guard let reading = reading(index) else {
            return BackgroundTaskID(rawValue: 0)
        }
        lastTask += 1
        let id = BackgroundTaskID(rawValue: lastTask)
        apps[index].instance?.tasks.begin(
            HeldTask(
                id: id, name: parameters.name, keepsAwake: keepsAwake, begun: reading,
                allowedUntil: parameters.timeAllowed.map { reading + $0 }))
        if keepsAwake { login.forgetRefusal() }
        tell(index, id, .began)
        touch(index)
        return id
    }

    mutating func endBackgroundTask(_ id: InstanceID, _ task: BackgroundTaskID, _ request: RequestID) {
        guard let index = index(of: id), apps[index].instance?.tasks.task(task) != nil else {
            return reply(request, .endBackgroundTask(.noSuchTask))
        }
        drop(index, task, .ended)
        reply(request, .endBackgroundTask(.ended))
    }

    private mutating func drop(_ index: Int, _ task: BackgroundTaskID, _ end: TaskChange) {
        tell(index, task, end)
        apps[index].instance?.tasks.end(task)
        // No app is judged for what is over by now.
        if apps[index].instance?.tasks.isEmpty == true { apps[index].stopPool(at: now.monotonic) }
        touch(index)
    }

    /// The instance is over: what it still held ends with it.
    mutating func dropTasks(_ index: Int, _ end: TaskChange) {
        apps[index].stopPool(at: now.monotonic)
        apps[index].stopKeepAwake(isLowPower: conditions.isLowPower, at: now.monotonic)
        for task in apps[index].instance?.tasks.all ?? [] { tell(index, task.id, end) }
        apps[index].instance?.tasks.endAll()
    }

    private mutating func tell(_ index: Int, _ task: BackgroundTaskID, _ change: TaskChange) {
        guard let id = instanceID(index), let held = apps[index].instance?.tasks.task(task) else { return }
        let view = view(index, held, at: now.monotonic)
        emit(.client(.taskChanged(AppID(rawValue: index), id, view, change)))
    }

    // MARK: The pool

    mutating func settlePool(_ index: Int) {
        apps[index].settlePool(
            isGoalBackground: goal(index) == .background, isLowPower: conditions.isLowPower, at: now.monotonic)
    }

    private func timeRemaining(_ index: Int) -> Nanoseconds? {
        apps[index].timeRemaining(isLowPower: conditions.isLowPower, at: now.monotonic)
    }

    /// Low power mode has begun.
    mutating func cutBudgets() {
        for index in apps.indices where apps[index].cutBudgets(at: now.monotonic) { touch(index) }
    }

    // MARK: Expiration

    /// Calls the expiration handlers that are due, newest task first, one at a time.
    mutating func settleExpirations(_ index: Int) {
        while apps[index].instance?.canBeCalled == true,
            let reading = reading(index),
            let due = apps[index].instance?.tasks.dueTask(lead: lead(index), at: reading),
            let isWarned = apps[index].instance.map({ $0.tasks.isPoolWarningGiven }),
            let task = apps[index].instance?.tasks.markWarned(due.id, at: reading)
        {
            tell(index, task.id, .expiring)
            let left = timeRemaining(index) ?? .max
            let allowance = task.isOver ? min(left, Self.expirationAllowance) : left
            // None is called without time: an app that holds a task then is about to be killed.
            if apps[index].instance?.handlers.contains(.backgroundTaskWillExpire) == true, allowance > .zero {
                begin(
                    .backgroundTaskWillExpire(task.id, name: task.name), index, allowance: allowance, awaitsReply: true)
            } else {
                // A command that was adopted knows SIGTERM: of its budget, not of what it has begun itself. Once: to
                // many programs a second one means that they are to drop everything.
                if apps[index].isAdopted, !isWarned, let instance = apps[index].instance,
                    instance.tasks.isLow(lead: lead(index), at: reading)
                {
                    emit(.process(.terminate(instance.id)))
                }
                if task.isOver { drop(index, task.id, .expired) }
            }
        }
    }

    /// The expiration handler has returned: a task whose own limit was over has ended.
    mutating func didExpire(_ index: Int, _ task: BackgroundTaskID) {
        if apps[index].instance?.tasks.task(task)?.isOver == true { drop(index, task, .expired) }
    }

    /// The pool is empty and a task is still held.
    mutating func killForBudget(_ index: Int) {
        guard let instance = apps[index].instance else { return }
        let pool = apps[index].pool ?? TaskPool(.zero)
        let isCalled = instance.call?.call.handler == .backgroundTaskWillExpire
        let held = instance.tasks.all.prefix(3).map { $0.name }
        let reason = TerminationReason.taskBudgetSpent(
            budget: pool.spent, held: held, more: instance.tasks.all.count - held.count)
        emit(.note(.app(.overrun(AppID(rawValue: index), instance.id, reason))))
        kill(
            index,
            Cause(
                reason: reason, handler: isCalled ? .backgroundTaskWillExpire : nil, allowance: pool.spent,
                taken: pool.spent))
    }
}
