/// One run of an app's program, from the order to start it until nothing of it is left.
struct Instance: Equatable {
    enum Stage: UInt8, CaseIterable {
        /// The shell has been asked to start the process.
        case spawning
        case running
        /// Asked to end (or ending by its own word), and given time for it.
        case stopping
        /// Everything in its control group has been sent SIGKILL.
        case killing
        /// The main process is gone; what it left behind is being killed.
        case clearing
    }

    enum Freezer: UInt8, CaseIterable {
        case thawed
        case freezing
        case frozen
        /// Did not freeze in time, was named, and may still freeze late.
        case stuck
    }

    var id: InstanceID
    var stage = Stage.spawning
    var reason: LaunchReason
    /// MONOTONIC, of the order to start it and, from then on, of the start.
    var startedAt: Nanoseconds
    var phase: ScenePhase
    /// What its delegate implements: fixed at the launch, whatever a reload says of the next one.
    var handlers: HandlerSet
    /// willResignActive has returned since the launch: from then on it returns before every way to background.
    var hasResigned = false
    var isLaunched = false
    var isReady = false
    var clock = RunnableClock()
    var call: Call?

    /// Oldest first.
    var tasks: [HeldTask] = []
    /// The reading of `clock` at which the pool is empty; nil while it does not run.
    var poolEnd: Nanoseconds?
    /// The reading at which the time to keep the board awake is over; nil while the lock is not held for it.
    var lockEnd: Nanoseconds?
    /// Told when it can hear it.
    var memoryWarning: MemoryLevel?
    /// What it was told last: `Conditions.powerWord`, and the thermal state.
    var knownPower = 0
    /// MONOTONIC: until then nothing more is heard of its memory limit; nil: it is listened to.
    var limitQuietEnd: Nanoseconds?
    var knownHeat = ThermalState.nominal

    var freezer = Freezer.thawed
    var freezeReasons: FreezeReasons = []
    /// MONOTONIC of the last change of `freezer` or of the order to kill or clear: bounds are counted from it.
    var waitingSince = Nanoseconds.zero
    /// The culprits of the present wait have been named.
    var isNamed = false

    /// A reading of `clock`.
    var livenessDue: Nanoseconds?
    var stop: StopOrder?
    /// The shell never said that it was started.
    var isGivenUp = false
    /// Why it is being ended, where we end it.
    var cause: Cause?

    var taskState: TaskState {
        switch stage {
        case .stopping, .killing, .clearing: .terminating
        case .spawning, .running: freezer == .frozen ? .suspended : .running
        }
    }

    /// Its tasks have time again.
    mutating func forgetWarnings() {
        for place in tasks.indices where !tasks[place].isOver { tasks[place].isWarned = false }
    }

    /// How long it could run, since its start; what never came up did not.
    func runnableUptime(at now: Nanoseconds) -> Nanoseconds {
        stage == .spawning ? .zero : max(clock.reading(at: now) - startedAt, .zero)
    }

    /// It does nothing that a sleep would have to wait for, but for the grace of its background tasks.
    var isReadyInBackground: Bool {
        stage == .running && stop == nil && isLaunched && phase == .background
            && (call == nil || call?.call.handler == .backgroundTaskWillExpire)
    }

    /// Background tasks are under way, or their expiration handler is.
    var isHeldByTasks: Bool { !tasks.isEmpty || call != nil }

    /// The calls of its delegate, the freezer and the watchdog concern it only then.
    var isAlive: Bool { stage == .running || stage == .stopping }
}

/// Why an app is frozen; it thaws when the last reason goes.
struct FreezeReasons: OptionSet, Equatable {
    var rawValue: UInt8
    /// It is in background and nothing keeps it running.
    static let background = FreezeReasons(rawValue: 1)
    /// The board sleeps.
    static let sleep = FreezeReasons(rawValue: 2)
}

/// A call of the delegate that has not returned.
struct Call: Equatable {
    var id: CallID
    var call: HandlerCall
    /// What the app was told it has.
    var told: Nanoseconds
    /// Readings of the instance's clock.
    var issued: Nanoseconds
    var deadline: Nanoseconds
    /// The delegate's reply is awaited: otherwise only READY=1, at launch.
    var awaitsReply: Bool
    var awaitsReady: Bool
}

/// An order to end the instance.
struct StopOrder: Equatable {
    var reason: TerminationReason
    /// MONOTONIC: the end of a shutdown's wave.
    var limit: Nanoseconds?
    /// SIGTERM has been sent (or the app said STOPPING=1): the deadline for its exit, a reading of the clock.
    var exitDue: Nanoseconds?
    var exitAllowance = Nanoseconds.zero
    /// The latest reading EXTEND_TIMEOUT_USEC may move it to.
    var extensionLimit = Nanoseconds.zero
    /// The reading it was moved to.
    var extendedDue = Nanoseconds.zero
    /// The app began to end by itself: the way it exits is the reason.
    var isOwnWish = false
}

/// Why an instance was killed, with the handler that was running then.
struct Cause: Equatable {
    var reason: TerminationReason
    var handler: Handler?
    var allowance: Nanoseconds?
    var taken: Nanoseconds?
}
