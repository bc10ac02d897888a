/// The board's watchdog, which resets the board unless it is fed.
///
/// It is fed as long as the daemon's loop and deadlines work (this code runs) and every essential app is alive.
struct HardwareWatchdog: Equatable {
    /// nil: none is armed.
    var timeout: Nanoseconds?
    /// MONOTONIC.
    var fedAt = Nanoseconds.zero
    /// Since the board was about to sleep it is as the sleep needs it.
    var isResting = false
    /// An essential app is gone: the board will be reset.
    var isStarving = false
}

extension DeviceLifecycle {
    /// The shell has armed it, or changed its timeout; nil: there is none (any more).
    mutating func hearHardwareWatchdog(timeout: Nanoseconds?) {
        watchdog.timeout = timeout.map { max($0, .milliseconds(300)) }
        watchdog.isStarving = false
        // Arming it feeds it.
        watchdog.fedAt = now.monotonic
    }

    /// Three times in its timeout: two may be missed.
    var hardwareWatchdogDue: Nanoseconds? {
        guard let timeout = watchdog.timeout, !watchdog.isStarving else { return nil }
        return watchdog.fedAt + timeout / 3
    }

    mutating func settleHardwareWatchdog() {
        if watchdog.isResting, sleep.state != .asleep || sleep.isLogical {
            watchdog.isResting = false
            emit(.watchdog(.wake))
        }
        guard let timeout = watchdog.timeout,
            watchdog.isStarving || watchdog.fedAt + timeout / 3 <= now.monotonic
        else { return }
        if let lost = lostEssentialApp {
            guard !watchdog.isStarving else { return }
            watchdog.isStarving = true
            emit(.note(.app(.essentialAppLost(lost, reset: max(watchdog.fedAt + timeout - now.monotonic, .zero)))))
            return
        }
        watchdog.isStarving = false
        watchdog.fedAt = now.monotonic
        emit(.watchdog(.feed))
    }

    /// Before the lock is released: the kernel may sleep from then on.
    mutating func restWatchdogs() {
        restHardwareWatchdog()
        restServiceWatchdog()
    }

    private mutating func restHardwareWatchdog() {
        guard watchdog.timeout != nil, !watchdog.isResting, !sleep.isLogical else { return }
        watchdog.isResting = true
        emit(.watchdog(.rest))
    }

    /// The first essential app that is meant to run, ended by its own fault and will not be started again, or that
    /// cannot be killed.
    private var lostEssentialApp: AppID? {
        guard !shutdown.isRunning else { return nil }
        for index in apps.indices
        where apps[index].policy.isEssential && apps[index].launch.isMeantToRun && !apps[index].isRetired {
            if isLost(apps[index]) { return AppID(rawValue: index) }
        }
        return nil
    }

    private func isLost(_ app: App) -> Bool {
        if let instance = app.instance {
            switch instance.stage {
            case .spawning, .running, .stopping: return false
            case .killing, .clearing: return instance.isNamed
            }
        }
        if app.launch.queued != nil || app.launch.restart.due != nil { return false }
        return app.launch.restart.isLeftDown || app.lastTermination?.reason.isFailure == true
    }
}
