// Processes that others have started (`curfew run`): each an app of its own for as long as it runs.

/// What was asked with a process that is to be taken over.
struct Adoption: Equatable {
    var parameters: TaskParameters
    /// nil: no client waits for the answer any more.
    var request: RequestID?
}

extension DeviceLifecycle {
    mutating func adopt(_ name: String, _ parameters: TaskParameters, _ request: RequestID) {
        if let launchDenial { return reply(request, .adopt(.denied(launchDenial))) }
        if let index = indexOfName[name], !apps[index].isRetired || apps[index].hasInstance {
            return reply(request, .adopt(.denied(.nameTaken(name))))
        }
        endDarkWake()
        let index = placeForAdopted(name)
        apps[index].adoption = Adoption(parameters: parameters, request: request)
        queueLaunch(index, .backgroundTask, phase: .background)
    }

    /// Places are taken again, or a board that runs tasks by the thousand would never forget one.
    private mutating func placeForAdopted(_ name: String) -> Int {
        var policy = AppPolicy(name: name)
        policy.restart = .never
        var app = App(policy: policy)
        app.isAdopted = true
        // A new app each time: all of it has one memory.
        app.heldUpSleep = adoptedHeldUpSleep
        let free =
            indexOfName[name]
            ?? apps.indices.first { apps[$0].isRetired && apps[$0].isAdopted && !apps[$0].hasInstance }
        guard let index = free else {
            indexOfName[name] = apps.count
            apps.append(app)
            deadlineOfApp.append(.never)
            checkOfApp.append(.max)
            return apps.count - 1
        }
        indexOfName[apps[index].policy.name] = nil
        indexOfName[name] = index
        app.isTouched = apps[index].isTouched
        app.isChanged = apps[index].isChanged
        apps[index] = app
        return index
    }

    /// It is in our hands: its task begins, with a pool of its own.
    mutating func beginAdopted(_ index: Int) {
        guard let adoption = apps[index].adoption else { return }
        apps[index].adoption = nil
        var parameters = adoption.parameters
        // What a reload has configured meanwhile has its own budget.
        if apps[index].isAdopted, let budget = parameters.timeAllowed {
            apps[index].policy.taskBudget = budget
            parameters.timeAllowed = nil
        }
        apps[index].fillPool(isLowPower: conditions.isLowPower)
        let task = addTask(index, parameters, keepsAwake: parameters.keepAwake ?? false)
        if let request = adoption.request {
            reply(request, .adopt(.begun(task, timeRemaining: apps[index].pool?.left)))
        }
    }

    /// A command that was warned of the end of its budget ended because of it.
    func adoptedEnd(_ index: Int, _ status: ExitStatus) -> TerminationReason {
        if case .withLoop = status { return .ended(status) }
        guard let pool = apps[index].pool, apps[index].instance?.tasks.isAnyWarned == true else {
            return .adoptedEnded(status)
        }
        return .taskBudgetRanOut(budget: pool.spent)
    }

    /// Nothing of it is left, and it is not configured: it is forgotten.
    mutating func releaseAdopted(_ index: Int) {
        dropAdoption(index)
        guard apps[index].isAdopted else { return }
        apps[index].launch = LaunchState()
        apps[index].pool = nil
        apps[index].keepAwakePool = nil
        apps[index].endedForShutdown = false
        deny(.taskEnded) { $0.app == index && $0.wish != .ended }
        // Another may take its place.
        for client in apps[index].clients {
            apps[client].servers.removeAll { $0 == index }
            touch(client)
        }
        apps[index].clients = []
        apps[index].isRetired = true
    }

    /// It has not come into our hands, and will not: it may be configured by now, and launched as any app.
    mutating func dropAdoption(_ index: Int) {
        guard let adoption = apps[index].adoption else { return }
        apps[index].adoption = nil
        guard let request = adoption.request else { return }
        if let end = apps[index].lastTermination {
            reply(request, .adopt(.ended(end)))
        } else {
            reply(request, .adopt(.denied(.endedBeforeItBegan)))
        }
    }
}
