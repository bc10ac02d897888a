/// The board's watchdog, which resets the board unless it is fed.
///
/// It is fed as long as the daemon's loop and deadlines work (this code runs) and every essential app is alive.
struct HardwareWatchdog: Equatable {
    /// No watchdog is fed more often than this asks for.
    static let leastTimeout = Nanoseconds.milliseconds(300)
    /// Until one that was lost is tried again; twice as long after each time in vain.
    static let firstRetry = Nanoseconds.seconds(1)
    static let longestRetry = Nanoseconds.seconds(600)

    /// nil: none is armed.
    private(set) var timeout: Nanoseconds?
    /// MONOTONIC.
    private(set) var fedAt = Nanoseconds.zero
    /// Since the board was about to sleep it is as the sleep needs it.
    private(set) var isResting = false
    /// An essential app is gone: the board will be reset.
    private(set) var isStarving = false
    /// MONOTONIC: one that was lost is tried again; nil: none is.
    private(set) var retryDue: Nanoseconds?
    private(set) var retryDelay = firstRetry

    /// The shell has armed it, or changed its timeout; nil: there is none (any more).
    mutating func hear(timeout: Nanoseconds?, at now: Nanoseconds) {
        self.timeout = timeout.map { max($0, Self.leastTimeout) }
        isStarving = false
        retryDue = nil
        retryDelay = Self.firstRetry
        // Arming it feeds it.
        fedAt = now
    }

    /// It cannot be fed, or armed again, any more.
    mutating func lose(at now: Nanoseconds) {
        timeout = nil
        isStarving = false
        if retryDue == nil { planRetry(at: now) }
    }

    /// The next one is planned: that this one is answered is not counted on.
    mutating func takeRetry(at now: Nanoseconds) -> Bool {
        guard let due = retryDue, due <= now else { return false }
        planRetry(at: now)
        return true
    }

    private mutating func planRetry(at now: Nanoseconds) {
        retryDue = now + retryDelay
        retryDelay = min(retryDelay + retryDelay, Self.longestRetry)
    }

    /// Three times in its timeout: two may be missed.
    private var feedDue: Nanoseconds? { timeout.map { fedAt + $0 / 3 } }

    /// mayRetry: the kernel does not sleep, and is not about to.
    func nextDeadline(mayRetry: Bool) -> Deadline? {
        let due = isStarving ? nil : feedDue ?? (mayRetry ? retryDue : nil)
        return due.map { Deadline(at: $0, reason: .hardwareWatchdog) }
    }

    /// Whether it is to be fed, if nothing stands against it. One that starves is as soon as that is over.
    func isHungry(at now: Nanoseconds) -> Bool { feedDue.map { isStarving || $0 <= now } ?? false }

    mutating func feed(at now: Nanoseconds) {
        isStarving = false
        fedAt = now
    }

    /// It is fed no more. Returns in how long the board resets; nil: that was said.
    mutating func starve(at now: Nanoseconds) -> Nanoseconds? {
        guard let timeout, !isStarving else { return nil }
        isStarving = true
        return max(fedAt + timeout - now, .zero)
    }

    /// The kernel may sleep from now on. Returns whether it is to be made fit for that.
    mutating func rest() -> Bool {
        guard timeout != nil, !isResting else { return false }
        isResting = true
        return true
    }

    /// The kernel does not sleep. Returns whether it is to be armed again.
    mutating func wake() -> Bool {
        let wasResting = isResting
        isResting = false
        return wasResting
    }

    /// The kernel has slept: some are disarmed by that, and do not say so. The same.
    mutating func rearm() -> Bool {
        guard timeout != nil else { return false }
        isResting = false
        return true
    }

    var fault: Fault? { isStarving && timeout == nil || retryDue != nil && timeout != nil ? .watchdogOfNone : nil }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &timeout, .zero) { $0.value(1, &$1) }
        archive.value(2, &fedAt)
        archive.value(3, &isResting)
        archive.value(4, &isStarving)
        archive.optional(5, &retryDue, .zero) { $0.value(1, &$1) }
        archive.value(6, &retryDelay)
    }
}

extension DeviceLifecycle {
    /// Both watchdogs watch whenever the kernel does not sleep.
    mutating func settleHardwareWatchdog() {
        if !isKernelAsleep, watchdog.wake() { emit(.watchdog(.wake)) }
        if mayRetryWatchdog, watchdog.takeRetry(at: now.monotonic) { emit(.watchdog(.retry)) }
        guard watchdog.isHungry(at: now.monotonic) else { return }
        if let lost = lostEssentialApp {
            guard let reset = watchdog.starve(at: now.monotonic) else { return }
            emit(.note(.app(.essentialAppLost(lost, reset: reset))))
        } else {
            watchdog.feed(at: now.monotonic)
            emit(.watchdog(.feed))
        }
    }

    mutating func settleServiceWatchdog() {
        if !isKernelAsleep, serviceWatchdog.wake() { emit(.watchdog(.wakeService)) }
    }

    /// Or may be.
    private var isKernelAsleep: Bool { sleep.state == .asleep && !sleep.isLogical }

    /// One that was lost is not armed where the kernel may sleep next: in an operator's sleep it may.
    var mayRetryWatchdog: Bool {
        sleep.state == .awake || sleep.state == .asleep && sleep.isLogical && policy.sleepsLogically
    }

    /// The board's watchdog was armed, and is still wanted.
    public var expectsWatchdog: Bool { watchdog.timeout != nil || watchdog.retryDue != nil }

    /// Before the lock is released: the kernel may sleep from then on.
    mutating func restWatchdogs() {
        if sleep.isLogical { return }
        if watchdog.rest() { emit(.watchdog(.rest)) }
        if serviceWatchdog.rest() { emit(.watchdog(.restService)) }
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
            case .killing, .clearing: return instance.isReportedStuck
            }
        }
        if app.launch.queued != nil || app.launch.restart.due != nil { return false }
        return app.launch.restart.isLeftDown || app.lastTermination?.reason.isFailure == true
    }
}
