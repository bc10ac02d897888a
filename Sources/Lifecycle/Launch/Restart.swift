// Whether and when an app that has ended is started again.

extension DeviceLifecycle {
    /// uptime: in which it could run.
    mutating func planRestart(
        _ index: Int, _ termination: Termination, uptime: Nanoseconds, wasOrdered: Bool
    ) {
        let policy = apps[index].policy
        let reason = termination.reason
        let isOperators = apps[index].instance?.stop?.reason.namespace == .user
        let isOfShutdown = shutdown.isRunning && isOfShutdown(reason)
        if shutdown.isRunning, !wasOrdered { apps[index].endedForShutdown = isOfShutdown && !apps[index].isRetired }
        noteMeaning(index, reason, isOperators: isOperators)
        if reason.isOfTheBoard { apps[index].changeLaunch { $0.waitForTheBoard() } }
        guard !wasOrdered, !isOfShutdown, !apps[index].isRetired else { return }
        if reason.isOfDaemon { return goOn(index) }
        guard policy.restart != .never else { return }
        // In front it would come back if anywhere. A spent budget brings no app back by itself, but counts as an end.
        guard apps[index].isRestarted(after: reason, in: .active) || reason.namespace == .backgroundTask else { return }
        let (app, now) = (apps[index], now.monotonic)
        func plan(_ launch: inout LaunchState, _ phase: ScenePhase) {
            launch.plan(
                after: reason, policy, uptime: uptime, isRestarted: app.isRestarted(after: reason, in: phase), at: now)
        }
        if app.launch.queued == nil {
            plan(&apps[index].launch, app.nearestPhase)
            saySequel(index)
        }
        // A launch is wished in the middle of its end. Should that be denied, it comes back as it would have.
        if var denied = app.launchIfDenied, denied.queued == nil {
            plan(&denied, app.grantedPhase)
            denied.isEndUnsaid = true
            apps[index].launchIfDenied = denied
        }
    }

    /// What the daemon has ended by its own fault is started again at once, and no end is counted.
    private mutating func goOn(_ index: Int) {
        guard !apps[index].isAdopted else { return }
        apps[index].changeLaunch { if $0.queued == nil { $0.queued = .restart } }
    }

    /// Whether it is left down, or when it comes back.
    mutating func saySequel(_ index: Int) {
        let restart = apps[index].launch.restart
        let id = AppID(rawValue: index)
        if restart.isLeftDown {
            emit(.note(.app(.leftDown(id, ends: restart.endsInRow))))
        } else if let due = restart.due, !shutdown.isRunning {
            emit(.note(.app(.restartScheduled(id, delay: max(due - now.monotonic, .zero)))))
        }
    }

    /// The delay of its restart may be over.
    mutating func judgeRestart(_ index: Int) {
        let monotonic = now.monotonic
        guard canLaunch,
            apps[index].launch.isRestartDue(at: monotonic)
                || apps[index].launchIfDenied?.isRestartDue(at: monotonic) == true
        else { return }
        let reason = apps[index].lastTermination?.reason
        apps[index].changeLaunch { $0.judgeRestart(at: monotonic, after: reason) }
        touch(index)
    }

    /// Whether what ends in a shutdown is back should that be cancelled, at once. What ends by itself and in order may
    /// have heard of the shutdown; any other end counts and is followed as ever.
    func isOfShutdown(_ reason: TerminationReason) -> Bool {
        reason.isOfShutdown || reason.namespace == .exit && reason.code == 0
    }

    /// An operator's word, an exit of its own and a removal end more than the instance.
    mutating func noteMeaning(_ index: Int, _ reason: TerminationReason, isOperators: Bool) {
        let isOrderly = reason.namespace == .exit && reason.code == 0 && apps[index].policy.restart != .always
        guard isOperators || reason.namespace == .user || isOrderly else { return }
        apps[index].changeLaunch { $0.endForGood() }
    }

    /// An operator starts it: what happened before does not count against it.
    mutating func forgive(_ index: Int) { apps[index].launch.restart = RestartState() }
}

extension App {
    /// phase: what is wanted of it. In front it comes back by itself: there may be no person to bring it.
    func isRestarted(after reason: TerminationReason, in phase: ScenePhase) -> Bool {
        if reason.isOfTheBoard, phase != .background { return true }
        return policy.restart == .always ? reason.allowsRestart : reason.isFailure
    }
}

/// What is to happen to an app that ends again and again.
struct RestartState: Equatable {
    /// Ends without a stable uptime in between.
    var endsInRow = 0
    /// The delay of the next restart; nil: the policy's first.
    var nextDelay: Nanoseconds?
    /// When the app is started again, in MONOTONIC time.
    var due: Nanoseconds?
    var isLeftDown = false

    /// Whether it may be started again: each end counts, whatever it follows.
    mutating func countEnd(_ policy: AppPolicy, uptime: Nanoseconds) -> Bool {
        if uptime >= policy.restartReset {
            endsInRow = 0
            nextDelay = nil
        }
        endsInRow = endsInRow.saturatingAdd(1)
        guard endsInRow >= policy.restartLimit else { return true }
        isLeftDown = true
        return false
    }

    /// The delay of the restart that is due; the next one is twice as long.
    mutating func takeDelay(_ policy: AppPolicy) -> Nanoseconds {
        let delay = max(nextDelay ?? .zero, policy.restartDelay)
        nextDelay = delay.doubled(upTo: max(policy.restartDelayMax, delay))
        return delay
    }
}

extension LaunchState {
    /// What cannot be launched would else be tried again in the same event, without end.
    private static let leastDelayAfterLaunchFailure = Nanoseconds.milliseconds(100)

    /// The app has ended. uptime: in which it could run; isRestarted: such an end is one to come back from.
    mutating func plan(
        after reason: TerminationReason, _ policy: AppPolicy, uptime: Nanoseconds, isRestarted: Bool,
        at now: Nanoseconds
    ) {
        guard restart.countEnd(policy, uptime: uptime) else {
            returnsWhenWell = false
            return
        }
        guard isRestarted else { return }
        let least = reason.namespace == .launchFailure ? Self.leastDelayAfterLaunchFailure : .zero
        let delay = max(restart.takeDelay(policy), least)
        if delay <= .zero { return comeBack(after: reason) }
        restart.due = now + delay
    }

    func isRestartDue(at now: Nanoseconds) -> Bool { restart.due.map { $0 <= now } ?? false }

    mutating func judgeRestart(at now: Nanoseconds, after reason: TerminationReason?) {
        guard isRestartDue(at: now) else { return }
        restart.due = nil
        comeBack(after: reason)
    }

    /// Its delay is over.
    private mutating func comeBack(after reason: TerminationReason?) {
        if reason?.isOfTheBoard == true {
            returnsWhenWell = true
        } else {
            queued = .restart
        }
    }
}
