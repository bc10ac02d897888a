// The part of the state that belongs to the apps, and the policies.

extension App {
    mutating func archive(_ archive: inout StateArchive) {
        policy.archive(&archive)
        archive.value(&isRetired)
        archive.list(&servers, 0) { $0.value(&$1) }
        archive.list(&clients, 0) { $0.value(&$1) }
        archive.value(&level)
        archive.raw(&requestedPhase)
        archive.raw(&grantedPhase)
        launch.archive(&archive)
        archive.optional(&launchIfDenied, LaunchState()) { $1.archive(&$0) }
        let blank = Instance(
            id: InstanceID(rawValue: 0), reason: .user, startedAt: .zero, phase: .background, handlers: [])
        archive.optional(&instance, blank) { $1.archive(&$0) }
        archive.value(&hasBeenActive)
        archive.value(&launches)
        archive.optional(&lastTermination, .blank) { $1.archive(&$0) }
        archive.value(&endedForShutdown)
        archive.optional(&heldUpSleep, 0) { $0.value(&$1) }
        archive.value(&sleepOverruns)
        freezeRecord.archive(&archive)
        lockRecord.archive(&archive)
        late.archive(&archive)
        archive.optional(&leftover, InstanceID(rawValue: 0)) { $0.raw(&$1) }
        archive.optional(&pool, TaskPool(.zero)) { $1.archive(&$0) }
        archive.optional(&keepAwakePool, TaskPool(.zero)) { $1.archive(&$0) }
        archive.value(&isAdopted)
        archive.optional(&adoption, Adoption(parameters: TaskParameters(name: ""))) {
            $1.parameters.archive(&$0)
            $0.optional(&$1.request, RequestID(rawValue: 0)) { $0.raw(&$1) }
        }
    }
}

extension RestartState {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(&endsInRow)
        archive.optional(&nextDelay, .zero) { $0.value(&$1) }
        archive.optional(&due, .zero) { $0.value(&$1) }
        archive.value(&isLeftDown)
    }
}

extension LaunchState {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.optional(&queued, .user) { $0.raw(&$1) }
        restart.archive(&archive)
        archive.value(&returnsWhenWell)
        archive.value(&isMeantToRun)
        archive.value(&isEndUnsaid)
    }
}

extension TaskParameters {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(&name)
        archive.optional(&keepAwake, false) { $0.value(&$1) }
        archive.optional(&timeAllowed, .zero) { $0.value(&$1) }
    }
}

extension Termination {
    fileprivate static let blank = Termination(
        app: AppID(rawValue: 0), name: "", instance: InstanceID(rawValue: 0), reason: .unknown, uptime: .zero,
        phase: .background)

    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(&app)
        archive.value(&name)
        archive.raw(&instance)
        reason.archive(&archive)
        archive.optional(&handler, .didFinishLaunching) { $0.raw(&$1) }
        archive.optional(&allowance, .zero) { $0.value(&$1) }
        archive.optional(&taken, .zero) { $0.value(&$1) }
        archive.value(&uptime)
        archive.raw(&phase)
        archive.optional(&sleep, 0) { $0.value(&$1) }
    }
}

extension AppPolicy {
    mutating func archive(_ archive: inout StateArchive) {
        archive.value(&name)
        archive.raw(&launch)
        archive.raw(&start)
        archive.raw(&readiness)
        archive.raw(&handlers)
        for index in allowances.values.indices { archive.value(&allowances.values[index]) }
        archive.raw(&restart)
        archive.value(&restartDelay)
        archive.value(&restartDelayMax)
        archive.value(&restartReset)
        archive.value(&restartLimit)
        archive.value(&suspend)
        archive.list(&after, "") { $0.value(&$1) }
        archive.optional(&liveness, .zero) { $0.value(&$1) }
        archive.value(&taskBudget)
        archive.value(&keepsAwake)
        archive.value(&priorityBand)
        archive.value(&isEssential)
    }
}

extension DevicePolicy {
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(&front)
        archive.value(&sleepMargin)
        archive.value(&sleepAllowanceMax)
        archive.value(&sleepAllowanceWithoutLogind)
        archive.value(&taskGrace)
        archive.optional(&darkWakeInterval, .zero) { $0.value(&$1) }
        archive.value(&darkWakeAllowance)
        for index in responses.values.indices { archive.raw(&responses.values[index]) }
        archive.value(&debounce)
        archive.value(&batteryLow)
        archive.value(&batteryCritical)
        archive.value(&protectedBand)
        archive.optional(&memoryReserve, 0) { $0.value(&$1) }
        archive.value(&sleepsLogically)
        archive.raw(&wakeSources)
    }
}
