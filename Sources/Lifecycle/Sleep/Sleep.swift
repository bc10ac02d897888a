/// A sleep of the board, from its announcement until it is awake again.
///
///               announced                        all apps are ready, or their time is over: the lock is released
///     awake ---------------> preparing ---------------------------------------------> asleep
///       ^ ^                   |   ^                                                   |    |
///       | +-- called off -----+   |  announced again                                  |    |
///       |                         +------------------- darkWake <---- our own alarm --+    |
///       |                                                 |                                |
///       +---- a person, a wish, logind does not sleep ----+---- any other wake ------------+
///
/// A `true` edge while preparing or asleep joins the present sleep; in a dark wake it begins the next one. A `false`
/// edge ends it (but for an operator's until the kernel has slept where logind began it, and a hook's about another
/// sleep), and so does a clock jump after the release. After 30 s without a sign of sleep logind is asked.
struct Sleep: Equatable {
    /// An app that has made a sleep late is held to less for so many sleeps more.
    static let lateOnesRemembered = 10

    /// Whether the present sleep is one of the ten after that one (its `age`), or that one.
    func remembers(_ late: Int?) -> Bool { late.map { $0 >= age - Self.lateOnesRemembered } ?? false }
    var stage = SleepStage.awake

    // Of the present sleep, or of the last one.
    var id = 0
    /// The sleeps before it that were one: logind announced it, the kernel slept, or it was logical where the board's
    /// are. A dozen that an operator begins and ends in a second are not to be what is forgotten over.
    var age = 0
    /// Neither the kernel nor logind know of it: an operator ends it, a wake source, the end of the idleness that began
    /// it, or a shutdown.
    var isLogical = false
    var isAnnouncedByLogin = false
    /// MONOTONIC; nil where logind does not wait for us.
    var loginWaitsSince: Nanoseconds?
    /// MONOTONIC: what its allowance is measured from.
    var allowanceSince = Nanoseconds.zero
    /// Only a property that may be from before our time speaks of it: apps are told, but none is frozen or held to less
    /// than its own time.
    var isDoubtful = false
    /// The sleep hook has told of it, too.
    var isToldByHook = false
    /// A key or the lid has told of a person at the board since the sleep was announced.
    var isAttended = false
    /// Only that the board was idle began it.
    var isForIdleness = false
    /// The apps that had to be ended.
    var killed: [String] = []
    /// The clocks have told of a sleep of the kernel's since it was announced.
    var clocksShowSleep = false
    /// By the kernel's own count, whether it has slept since the sleep was announced; nil: it does not say.
    var kernelCountedSleep: Bool?
    /// The sleep hook has been told that the apps are ready.
    var isHandled = false

    // Of those before.
    /// BOOTTIME at which the last sleep ended; nil: there was none.
    var formerEnd: Nanoseconds?
    /// What logind has still to say of a sleep that is over for us.
    enum Echo: UInt8, CaseIterable {
        case none
        /// The clocks or the hook told of the end first. Until logind does it refuses locks and claims to prepare: that
        /// is still the old sleep.
        case end
        /// Called off while the lock was held. logind is asked whether it means that: the end of the sleep before,
        /// heard late (true, false, true, and only now the first false), would look the same.
        case cancellation
    }
    var echo = Echo.none
    /// MONOTONIC: when logind, which may still be at the old sleep, is asked for the lock or the property again.
    var echoDue: Nanoseconds?

    /// Apps that are neither dead nor frozen nor exempt.
    var unsettled = 0
}

extension DeviceLifecycle {
    /// Under this there is no time for handlers: all apps are frozen where they stand.
    static let leastSleepAllowance = Nanoseconds.seconds(1)

    // MARK: Edges

    mutating func hearSleepEdge(_ start: Bool, delayMax: Nanoseconds?, signalled: Nanoseconds) {
        login.hear(delayMax: delayMax)
        guard start else {
            switch sleep.state {
            case .awake, .darkWake:
                settleEcho()
                // Locks that were refused can be had now.
                login.forgetRefusal()
                return takeLock(.sleep)
            // `outcome` makes a cancellation of it, unless the board has slept.
            case .preparing: return endSleep(cancelled: false, heardFromLogin: true)
            case .asleep: return wake(heardFromLogin: true)
            }
        }
        announceSleep(since: min(signalled, now.monotonic), logical: false, byLogin: true)
    }

    mutating func hearPreparingAnswer(_ value: Bool?) {
        login.heardPreparing()
        switch (sleep.state, value) {
        case (.awake, true), (.darkWake, true):
            switch sleep.echo {
            // A lock that was granted was granted before this sleep, so logind waits for us.
            case .none:
                let isDoubtful = login.locks[.sleep] != .held
                announceSleep(since: now.monotonic, logical: false, byLogin: true, isDoubtful: isDoubtful)
            case .end: break
            // It was never called off; logind's clock has been running since it was announced.
            case .cancellation:
                announceSleep(since: sleep.loginWaitsSince ?? sleep.allowanceSince, logical: false, byLogin: true)
            }
        // The property alone makes no sleep certain.
        case (.preparing, true):
            announceSleep(since: now.monotonic, logical: false, byLogin: true, isDoubtful: sleep.isDoubtful)
        case (.asleep, true):
            announceSleep(
                since: now.monotonic, logical: false, byLogin: true, isDoubtful: sleep.isDoubtful, isAnswer: true)
            askLater()
        // An answer to a question from before the release says nothing of the time after it.
        case (.asleep, _):
            if sleep.asleep?.question == .asked { wake(heardFromLogin: value == false, isCancelled: true) }
        case (.awake, false), (.darkWake, false):
            let isAskedAgain = sleep.echoDue != nil
            settleEcho()
            askForLock(isLater: isAskedAgain)
        // An old sleep stays old until logind says that it is over.
        case (.awake, nil), (.darkWake, nil):
            if sleep.echo == .cancellation { sleep.echo = .none }
            if sleep.echoDue == nil { sleep.echoDue = now.monotonic + Login.recheckDelay }
        case (.preparing, _): break
        }
    }

    /// logind says too that the board is awake: now it grants locks again, and goes to sleep.
    private mutating func settleEcho() {
        let wasEnd = sleep.echo == .end
        sleep.echo = .none
        sleep.echoDue = nil
        if wasEnd { takeLock(.sleep) }
    }

    /// The lock was refused while logind prepared something that is over by now: once more at once, then later.
    private mutating func askForLock(isLater: Bool) {
        guard login.isAvailable, login.locks[.sleep] == .none else { return }
        sleep.echoDue = now.monotonic + Login.recheckDelay
        if !isLater { takeLock(.sleep) }
    }

    /// Asleep, without any sign of it: logind is asked whether it is still meant.
    private mutating func askLater() {
        let due = now.monotonic + Login.recheckDelay
        sleep.stage.change { (asleep: inout Asleep) in asleep.question = .due(due) }
    }

    /// A start edge from any source. isAnswer: logind only says that it is still at it.
    mutating func announceSleep(
        since: Nanoseconds, logical: Bool, byLogin: Bool, isDoubtful: Bool = false, isAnswer: Bool = false
    ) {
        if sleep.isDoubtful, !isDoubtful { makeCertain() }
        sleep.isForIdleness = false
        switch sleep.state {
        case .awake, .darkWake:
            beginSleep(since: since, logical: logical, byLogin: byLogin, isDoubtful: isDoubtful)
        case .preparing:
            sleep.isLogical = sleep.isLogical && logical
            // Its signal may have been sent before its property told us.
            guard byLogin else { return }
            sleep.isAnnouncedByLogin = true
            sleep.loginWaitsSince = min(sleep.loginWaitsSince ?? since, since)
            boundSleep(since: since)
        case .asleep:
            // This word is newer than any answer that is still to come: that one is not heeded (`askLater`).
            if !logical {
                let isNew = sleep.isLogical || !isAnswer
                if sleep.isLogical {
                    // Until now it was a sleep of its own.
                    settleAfterSleep(now.boottime - (sleep.asleep?.released ?? now).boottime)
                    let released = now
                    sleep.stage.change { (asleep: inout Asleep) in
                        asleep.released = released
                        asleep.timeStopped = .zero
                    }
                }
                sleep.isLogical = false
                if isNew { sleep.kernelCountedSleep = nil }
                restWatchdogs()
                if !sleep.isDoubtful { setSleepHandled(true) }
                askLater()
                // What was to wake the board may be due already, and is no reason to wake it from this sleep at once.
                if isNew, isAlarmDue(lead: Self.alarmLead) { setAlarm() }
            }
            if byLogin {
                sleep.isAnnouncedByLogin = true
                releaseForSleep()
            }
        }
    }

    /// A word that is no memory: the apps are held to it from now on.
    private mutating func makeCertain() {
        sleep.isDoubtful = false
        if sleep.state == .asleep { setSleepHandled(true) }
        touchAll()
    }

    /// The age of the sleep after the present or last one.
    private var nextAge: Int {
        let hasSlept = sleep.clocksShowSleep || sleep.kernelCountedSleep == true
        return hasSlept || sleep.isAnnouncedByLogin || sleep.isLogical && policy.sleepsLogically
            ? sleep.age + 1 : sleep.age
    }

    private mutating func beginSleep(since: Nanoseconds, logical: Bool, byLogin: Bool, isDoubtful: Bool) {
        var next = Sleep()
        next.id = sleep.id + 1
        next.age = nextAge
        next.stage = .preparing(Preparation(begun: now.monotonic))
        next.isLogical = logical
        next.isAnnouncedByLogin = byLogin
        next.loginWaitsSince = byLogin ? since : nil
        next.isDoubtful = isDoubtful
        next.unsettled = sleep.unsettled
        next.formerEnd = sleep.formerEnd
        // logind may still have to say that an earlier one is over.
        if !byLogin { next.echo = sleep.echo }
        sleep = next
        // After a dark wake: what logind said of the sleep before says nothing of this one.
        for index in apps.indices { apps[index].instance?.heldLock.release() }
        boundSleep(since: since)
        emit(.note(.sleep(.preparing(sleep: sleep.id, allowance: sleep.preparation?.allowance ?? .zero))))
        denyLaunches(.sleeping)
        // From here on background is as near to the front as an app may be (`goalLimit`): `settlePhase` takes each
        // there.
        touchAll()
    }

    /// Sets the sleep's moments, or brings them forward when logind announces a sleep that was begun by other means.
    mutating func boundSleep(since: Nanoseconds) {
        var delay = policy.sleepAllowanceWithoutLogind
        if sleep.isAnnouncedByLogin, login.locks[.sleep] == .held {
            delay = min(login.inhibitDelay, policy.sleepAllowanceMax)
        }
        let margin = min(policy.sleepMargin, delay / 2)
        var isNearer = false
        var isTooShort = false
        sleep.stage.change { (preparation: inout Preparation) in
            isNearer = preparation.bound(since: since, delay: delay, margin: margin)
            isTooShort = preparation.allowance < Self.leastSleepAllowance
            if isTooShort { preparation.overtime.isAllowanceOver = true }
        }
        if isNearer { sleep.allowanceSince = since }
        if isTooShort { touchAll() }
    }

    // MARK: What the apps have, and who is still awaited

    /// The time a handler gets on the way to sleep; nil: none, it is not called.
    func allowanceInSleep(_ handler: Handler, _ own: Nanoseconds, overruns: Int = 0) -> Nanoseconds? {
        sleep.preparation?.allowance(for: handler, own: own, overruns: overruns, at: now.monotonic)
    }

    /// Whether an app has to be frozen for the sleep now: it is ready, or its time is over.
    func mustFreezeForSleep(_ index: Int, _ instance: Instance) -> Bool {
        guard canFreeze, apps[index].policy.suspend, !sleep.isDoubtful else { return false }
        switch sleep.state {
        case .asleep: return true
        case .darkWake: return !worksInTheDark(instance)
        case .awake, .preparing: break
        }
        if sleep.overtime.isAllowanceOver || apps[index].isNotAwaited(by: sleep) { return true }
        if instance.isReadyInBackground { return sleep.overtime.isGraceOver || !instance.isHeldByTasks }
        guard instance.stage == .running, instance.call == nil, instance.isLaunched, instance.stop == nil else {
            return false
        }
        return allowanceInSleep(.didEnterBackground, .max) == nil
    }

    /// Keeps count of the apps for which the lock still has to be held.
    mutating func noteSettledForSleep(_ index: Int) {
        let settled = isSettledForSleep(apps[index])
        guard settled != apps[index].isSettledForSleep else { return }
        apps[index].isSettledForSleep = settled
        sleep.unsettled += settled ? -1 : 1
    }

    func isSettledForSleep(_ app: App) -> Bool {
        guard let instance = app.instance else { return true }
        switch instance.stage {
        case .spawning: return app.isNotAwaited(by: sleep)
        case .killing, .clearing: return instance.isReportedStuck || endsLate(app)
        case .running, .stopping:
            if instance.freezer == .frozen || instance.freezer == .stuck || instance.isLeftToFreeze { return true }
            if canFreeze, app.policy.suspend, !sleep.isDoubtful { return false }
            let overtime = sleep.overtime
            return overtime.isAllowanceOver || app.isNotAwaited(by: sleep)
                || instance.isReadyInBackground && (overtime.isGraceOver || !instance.isHeldByTasks)
        }
    }

    mutating func judgeSleep() {
        switch sleep.state {
        case .awake: recheckLogin()
        case .darkWake:
            recheckLogin()
            judgeDarkWake()
        case .preparing:
            let now = now.monotonic
            var isMoreOver = false
            sleep.stage.change { (preparation: inout Preparation) in isMoreOver = preparation.judge(at: now) }
            if isMoreOver { touchAll() }
        case .asleep:
            alarmDidPass()
            guard let due = sleep.asleep?.question.due, due <= now.monotonic else { return }
            guard login.isAvailable else { return endSleep(cancelled: true, heardFromLogin: false) }
            sleep.stage.change { (asleep: inout Asleep) in asleep.question = .asked }
            readPreparing()
        }
    }

    /// As long as logind has not said that the last sleep is over, a lock that it grants is the only sign that it is.
    private mutating func recheckLogin() {
        guard let due = sleep.echoDue, due <= now.monotonic else { return }
        let isHeld = login.locks[.sleep] == .held
        let isAskedAgain = login.isAvailable && (sleep.echo == .end || !isHeld)
        sleep.echoDue = isAskedAgain ? now.monotonic + Login.recheckDelay : nil
        if isHeld { readPreparing() } else { takeLock(.sleep) }
    }
}
