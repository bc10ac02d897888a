// What can be seen of the core from outside, between two events.

/// What can be seen of an app.
public struct AppView: Equatable, Sendable {
    public var name: String
    /// nil while it does not run.
    public var phase: ScenePhase?
    public var taskState: TaskState
    public var instance: InstanceID?
    /// Processes started since the daemon was.
    public var launches: Int
    /// A restart or launch is due, or waits for another app or for the board to wake. For tests: no interface says it.
    public var restartPending: Bool
    /// `restart-limit` ends in a row: only an operator starts it again.
    public var isLeftDown: Bool
    public var lastTermination: Termination?
}

/// What can be seen of the device.
public struct DeviceView: Equatable, Sendable {
    public var sleepState: SleepState
    /// The number of the current or last sleep, counted from 1 since the daemon's start.
    public var sleep: Int
    public var isShuttingDown: Bool
    /// InhibitDelayMaxUSec as last heard; nil without logind.
    public var inhibitDelayMax: Nanoseconds?
    /// nil: nothing says so.
    public var externalPower: Bool?
    /// Percent; nil without a battery.
    public var batteryLevel: Int?
    public var isLowPower = false
    public var thermalState = ThermalState.nominal
    public var memoryPressure = MemoryPressure.normal
    public var isUnderVoltage = false
    /// The most that the conditions of the board allow, and why it is not more.
    public var phaseLimit = ScenePhase.active
    public var frontDenial: Denial?
}

extension DeviceLifecycle {
    /// BOOTTIME at which the board is woken for background tasks; nil: it is not.
    public var wakeAlarm: Nanoseconds? { sleep.asleep?.alarm }

    /// logind has announced the current or last sleep.
    public var isSleepLogins: Bool { sleep.isAnnouncedByLogin }

    /// How many sleeps there were before it that the board or logind know of: what is remembered of sleeps is counted
    /// by them, not by those that an operator plays.
    public var sleepAge: Int { sleep.age }

    /// All that runs, is about to, or could not be ended yet.
    public var instances: [InstanceID] { apps.flatMap { [$0.instance?.id, $0.leftover].compactMap { $0 } } }

    /// Whose it is; nil: it is not known any more.
    public func app(of instance: InstanceID) -> AppID? {
        apps.firstIndex { $0.instance?.id == instance || $0.leftover == instance }.map { AppID(rawValue: $0) }
    }

    /// Whether it is configured or not.
    public func name(of app: AppID) -> String? {
        apps.indices.contains(app.rawValue) ? apps[app.rawValue].policy.name : nil
    }

    /// It has not been left behind for another.
    public func isPresent(_ instance: InstanceID) -> Bool { index(of: instance) != nil }

    /// Its program was started, as far as was told.
    public func isSpawned(_ instance: InstanceID) -> Bool {
        index(of: instance).flatMap { apps[$0].instance }.map { $0.stage != .spawning } ?? false
    }

    /// It was to be sent SIGTERM.
    public func isAsked(toEnd instance: InstanceID) -> Bool {
        guard let instance = index(of: instance).flatMap({ apps[$0].instance }) else { return false }
        return instance.stage == .stopping && instance.stop?.exitDue != nil && instance.stop?.isOwnWish == false
    }

    /// The call whose reply is awaited.
    public func awaitedCall(of instance: InstanceID) -> (id: CallID, call: HandlerCall)? {
        guard let call = index(of: instance).flatMap({ apps[$0].instance?.call }), call.awaitsReply else { return nil }
        return (call.id, call.call)
    }

    /// The last end of each app, whether it is still configured or not; not of what was taken over and is forgotten.
    public var lastTerminations: [Termination] {
        apps.compactMap { $0.isAdopted && $0.isRetired ? nil : $0.lastTermination }
    }

    /// What clients wait for.
    public var openRequests: [RequestID] {
        requests.all.map { $0.id } + (sleep.preparation?.waiting.map { $0.id } ?? [])
            + apps.compactMap { $0.adoption?.request }
    }

    /// What is left of the time of a call, with all that it was given since; nil: it is not awaited any more.
    public func timeLeft(of call: CallID, _ instance: InstanceID, at now: Nanoseconds) -> Nanoseconds? {
        guard let index = index(of: instance), let instance = apps[index].instance, let pending = instance.call,
            pending.id == call
        else { return nil }
        return max(pending.deadline - instance.clock.reading(at: now), .zero)
    }

    /// Whether an app is at something that takes real time: a handler, a launch, an end, a freeze, or finishing the
    /// tasks that it was told about.
    public var isBusy: Bool {
        apps.contains { app in
            guard let instance = app.instance else { return false }
            switch instance.stage {
            case .spawning, .stopping, .killing, .clearing: return true
            case .running:
                if instance.call != nil || instance.freezer == .freezing { return true }
                // Told that its time runs out, it has real time to come to an end.
                return instance.tasks.poolEnd != nil && !instance.clock.isStopped && instance.tasks.isAnyWarned
            }
        }
    }
}
