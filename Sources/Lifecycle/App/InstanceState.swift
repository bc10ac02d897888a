// What can be said of an instance at a moment.

extension Instance {
    /// What becomes of an order to end it.
    enum Ordered {
        /// Carried out by `carryOutStop`, as soon as no other handler runs.
        case noted
        /// It cannot be asked, or is not to be.
        case kill
        /// It was ending by its own wish, and is now asked to.
        case terminate
    }

    var taskState: TaskState {
        switch stage {
        case .stopping, .killing, .clearing: .terminating
        case .spawning, .running: freezer == .frozen ? .suspended : .running
        }
    }

    /// The calls of its delegate, the freezer and the watchdog concern it only then.
    var isAlive: Bool { stage == .running || stage == .stopping }

    /// It is on its way out, or will be as soon as it can hear of it.
    var isLeaving: Bool {
        switch stage {
        case .spawning: cause != nil
        case .running: stop != nil
        case .stopping, .killing, .clearing: true
        }
    }

    /// Its process is there, and its launch is not over.
    var isLaunching: Bool { call?.call.handler == .didFinishLaunching }

    /// It has said STOPPING=1, unasked.
    var isEndingByItself: Bool { stage == .stopping && stop?.isOwnWish == true }

    /// Its process is there, and nothing has asked it to end.
    var isStaying: Bool { stage == .running && stop == nil }

    /// A handler may be called at present. One that waits for its clients to be frozen still runs.
    var canBeCalled: Bool { isStaying && isLaunched && call == nil && freezer == .thawed }

    /// It hears what is said to it without being called.
    var canBeInformed: Bool { stage == .running && isLaunched && freezer == .thawed && freezeReasons.isEmpty }

    /// It does nothing that a sleep would have to wait for, but for the grace of its background tasks.
    var isReadyInBackground: Bool {
        isStaying && isLaunched && phase == .background
            && (call == nil || call?.call.handler == .backgroundTaskWillExpire)
    }

    /// It is told that a task is about to end, not being in background: what a sleep has to tell it comes after that.
    var isExpiringInFront: Bool { call?.call.handler == .backgroundTaskWillExpire && phase != .background }

    /// The same, for so long already.
    func hasExpired(for time: Nanoseconds, at now: Nanoseconds) -> Bool {
        guard isExpiringInFront, let call else { return false }
        return clock.reading(at: now) - call.issued >= time
    }

    /// Background tasks are under way, or their expiration handler is.
    var isHeldByTasks: Bool { !tasks.isEmpty || call != nil }

    /// A handler or an exit is awaited, and its time is running.
    var isTimed: Bool { isAlive && !clock.isStopped && (call != nil || stop?.exitDue != nil) }

    /// How long it could run, since its start; what never came up did not.
    func runnableUptime(at now: Nanoseconds) -> Nanoseconds {
        stage == .spawning ? .zero : max(clock.reading(at: now) - startedAt, .zero)
    }

    /// It was killed for such a reason, and may still be gone in time.
    func isDyingUnreported(in namespace: TerminationNamespace) -> Bool {
        isDyingUnnamed && cause?.reason.namespace == namespace
    }
}
