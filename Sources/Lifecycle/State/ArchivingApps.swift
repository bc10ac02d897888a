// The part of the state that belongs to the apps, and the policies.

extension App {
    @inline(never)
    mutating func archive(_ archive: inout StateArchive, hasPolicy: Bool = true) {
        if hasPolicy { archive.group(1) { policy.archive(&$0) } }
        archive.value(2, &isRetired)
        archive.list(3, &servers, 0) { $0.value(1, &$1) }
        archive.list(4, &clients, 0) { $0.value(1, &$1) }
        archive.value(5, &level)
        archive.raw(6, &requestedPhase)
        archive.raw(7, &grantedPhase)
        archive.group(8) { launch.archive(&$0) }
        archive.optional(9, &launchIfDenied, LaunchState()) { $1.archive(&$0) }
        let blank = Instance(
            id: InstanceID(rawValue: 0), reason: .user, startedAt: .zero, phase: .background, handlers: [])
        archive.optional(10, &instance, blank) { $1.archive(&$0) }
        archive.value(11, &hasBeenActive)
        archive.value(12, &launches)
        archive.optional(13, &lastTermination, .blank) { $1.archive(&$0) }
        archive.value(14, &endedForShutdown)
        archive.optional(15, &heldUpSleep, 0) { $0.value(1, &$1) }
        archive.value(16, &sleepOverruns)
        archive.group(17) { freezeRecord.archive(&$0) }
        archive.group(18) { lockRecord.archive(&$0) }
        archive.group(19) { late.archive(&$0) }
        archive.optional(20, &leftover, InstanceID(rawValue: 0)) { $0.raw(1, &$1) }
        archive.optional(21, &pool, TaskPool(.zero)) { $1.archive(&$0) }
        archive.optional(22, &keepAwakePool, TaskPool(.zero)) { $1.archive(&$0) }
        archive.value(23, &isAdopted)
        archive.optional(24, &adoption, Adoption(parameters: TaskParameters(name: ""))) {
            (archive: inout StateArchive, adoption: inout Adoption) in
            archive.group(1) { adoption.parameters.archive(&$0) }
            archive.optional(2, &adoption.request, RequestID(rawValue: 0)) { $0.raw(1, &$1) }
        }
    }
}

extension RestartState {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &endsInRow)
        archive.optional(2, &nextDelay, .zero) { $0.value(1, &$1) }
        archive.optional(3, &due, .zero) { $0.value(1, &$1) }
        archive.value(4, &isLeftDown)
    }
}

extension LaunchState {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &queued, .user) { $0.raw(1, &$1) }
        archive.group(2) { restart.archive(&$0) }
        archive.value(3, &returnsWhenWell)
        archive.value(4, &isMeantToRun)
        archive.value(5, &isEndUnsaid)
    }
}

extension TaskParameters {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &name)
        archive.optional(2, &keepAwake, false) { $0.value(1, &$1) }
        archive.optional(3, &timeAllowed, .zero) { $0.value(1, &$1) }
    }
}

extension Termination {
    fileprivate static let blank = Termination(
        app: AppID(rawValue: 0), name: "", instance: InstanceID(rawValue: 0), reason: .unknown, uptime: .zero,
        phase: .background)

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(1, &app)
        archive.value(2, &name)
        archive.raw(3, &instance)
        archive.group(4) { reason.archive(&$0) }
        archive.optional(5, &handler, .didFinishLaunching) { $0.raw(1, &$1) }
        archive.optional(6, &allowance, .zero) { $0.value(1, &$1) }
        archive.optional(7, &taken, .zero) { $0.value(1, &$1) }
        archive.value(8, &uptime)
        archive.raw(9, &phase)
        archive.optional(10, &sleep, 0) { $0.value(1, &$1) }
    }
}

extension AppPolicy {
    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &name)
        archive.raw(2, &launch)
        archive.raw(3, &start)
        archive.raw(4, &readiness)
        archive.raw(5, &handlers)
        archive.group(6) {
            for index in allowances.values.indices { $0.value(index + 1, &allowances.values[index]) }
        }
        archive.raw(7, &restart)
        archive.value(8, &restartDelay)
        archive.value(9, &restartDelayMax)
        archive.value(10, &restartReset)
        archive.value(11, &restartLimit)
        archive.value(12, &suspend)
        archive.list(13, &after, "") { $0.value(1, &$1) }
        archive.optional(14, &liveness, .zero) { $0.value(1, &$1) }
        archive.value(15, &taskBudget)
        archive.value(16, &keepsAwake)
        archive.value(17, &priorityBand)
        archive.value(18, &isEssential)
    }
}

extension DevicePolicy {
    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(1, &front)
        archive.value(2, &sleepMargin)
        archive.value(3, &sleepAllowanceMax)
        archive.value(4, &sleepAllowanceWithoutLogind)
        archive.value(5, &taskGrace)
        archive.optional(6, &darkWakeInterval, .zero) { $0.value(1, &$1) }
        archive.value(7, &darkWakeAllowance)
        archive.group(8) {
            for index in responses.values.indices { $0.raw(index + 1, &responses.values[index]) }
        }
        archive.value(9, &debounce)
        archive.value(10, &batteryLow)
        archive.value(11, &batteryCritical)
        archive.value(12, &protectedBand)
        archive.optional(13, &memoryReserve, 0) { $0.value(1, &$1) }
        archive.value(14, &sleepsLogically)
        archive.raw(15, &wakeSources)
    }
}
