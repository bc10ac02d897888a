/// One run of an app's program, from the order to start it until nothing of it is left.
///
/// It is told what it has to know of the board, and returns what has become of it: its methods change nothing else.
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

    private(set) var id: InstanceID
    private(set) var stage = Stage.spawning
    private(set) var reason: LaunchReason
    /// MONOTONIC, of the order to start it and, from then on, of the start.
    private(set) var startedAt: Nanoseconds
    private(set) var phase: ScenePhase
    /// What its delegate implements: fixed at the launch, whatever a reload says of the next one.
    private(set) var handlers: HandlerSet
    /// willResignActive has returned since the launch. Then an inactive app goes straight to didEnterBackground.
    private(set) var hasResigned = false
    private(set) var isLaunched = false
    private(set) var clock = RunnableClock()
    private(set) var call: PendingCall?
    /// The command of its last call did not get to run in time: it may be what cannot be frozen now.
    var hasUnstartedCommand = false

    var tasks = HeldTasks()
    var news = News()
    var heldLock = HeldLock()

    private(set) var freezer = Freezer.thawed
    private(set) var freezeReasons: FreezeReasons = []
    /// MONOTONIC of the last order to freeze, kill or clear: bounds are counted from it.
    private(set) var waitingSince = Nanoseconds.zero
    /// No sleep waits for its freezing any more.
    private(set) var isFreezeUnawaited = false
    /// It was reported that this wait takes too long.
    private(set) var isReportedStuck = false

    private(set) var liveness = Liveness()
    private(set) var stop: StopOrder?
    /// The shell never said that it was started.
    private(set) var isGivenUp = false
    /// Its main process has taken too long to be gone once it was killed.
    private(set) var hasOutlivedKill = false
    /// Why it is being ended, where we end it.
    private(set) var cause: Cause?

    private mutating func wait(since now: Nanoseconds) {
        waitingSince = now
        isFreezeUnawaited = false
        isReportedStuck = false
    }

    // MARK: Its start

    mutating func didStart(at now: Nanoseconds) {
        stage = .running
        startedAt = now
        clock = RunnableClock()
    }

    /// The shell does not say what became of it.
    mutating func giveUp(at now: Nanoseconds) {
        stage = .clearing
        isGivenUp = true
        wait(since: now)
    }

    mutating func didLaunch() { isLaunched = true }

    /// Returns whether it is watched.
    mutating func armLiveness(at now: Nanoseconds) -> Bool {
        liveness.arm(isLaunched && stage == .running, at: clock.reading(at: now))
        return liveness.due != nil
    }

    // MARK: Calls of its delegate

    mutating func begin(
        _ handler: HandlerCall, as id: CallID, allowance: Nanoseconds, awaitsReply: Bool, awaitsReady: Bool,
        at now: Nanoseconds
    ) {
        let reading = clock.reading(at: now)
        call = PendingCall(
            id: id, call: handler, allowance: allowance, issued: reading, deadline: reading + allowance,
            awaitsReply: awaitsReply, awaitsReady: awaitsReady)
    }

    /// Returns whether the reply was awaited.
    mutating func heardReply(to id: CallID) -> Bool {
        guard call?.hearReply(to: id) == true else { return false }
        hasUnstartedCommand = false
        return true
    }

    mutating func noteStart(of id: CallID, isUnderWay: Bool) { call?.noteStart(of: id, isUnderWay: isUnderWay) }

    /// READY=1. Returns whether it was awaited.
    mutating func heardReady() -> Bool {
        guard isAlive, call?.awaitsReady == true else { return false }
        call?.awaitsReady = false
        return true
    }

    /// The call that is over, as all that it waits for has come; nil: none is.
    mutating func takeFinishedCall() -> HandlerCall? {
        guard let call, !call.awaitsReply, !call.awaitsReady else { return nil }
        self.call = nil
        return call.call
    }

    /// The call that leads one step towards its goal; nil where it is there, or cannot hear it.
    func nextCall(towards goal: ScenePhase) -> HandlerCall? {
        guard canBeCalled, freezeReasons.isEmpty else { return nil }
        return switch phase {
        case .active: goal < .active ? .willResignActive : nil
        case .inactive:
            switch goal {
            case .active: .didBecomeActive
            case .inactive: nil
            // An app that was never active hears willResignActive all the same: didEnterBackground never comes without.
            case .background: hasResigned ? .didEnterBackground : .willResignActive
            }
        case .background: goal > .background ? .willEnterForeground : nil
        }
    }

    mutating func didResign() { hasResigned = true }

    /// Returns where it stood; nil: there.
    mutating func enter(_ next: ScenePhase) -> ScenePhase? {
        guard phase != next else { return nil }
        let before = phase
        phase = next
        return before
    }

    // MARK: Freezing

    enum FreezerChange { case freezing, thawed }

    /// mayFreeze: now, if it is not frozen and has a reason to be.
    mutating func moveFreezer(_ reasons: FreezeReasons, mayFreeze: Bool, at now: Nanoseconds) -> FreezerChange? {
        freezeReasons = reasons
        if reasons.isEmpty {
            guard freezer != .thawed else { return nil }
            clock.resume(at: now)
            freezer = .thawed
            return .thawed
        }
        guard freezer == .thawed, mayFreeze else { return nil }
        clock.stop(at: now)
        freezer = .freezing
        wait(since: now)
        return .freezing
    }

    /// It is thawed for a moment, in which its clock stands still. Returns whether it was frozen.
    mutating func refreeze(at now: Nanoseconds) -> Bool {
        guard isAlive, freezer == .frozen else { return false }
        freezer = .freezing
        wait(since: now)
        return true
    }

    /// The board is awake.
    mutating func forgetSleep() {
        freezeReasons.remove(.sleep)
        heldLock.release()
    }

    /// Returns whether that was waited for.
    mutating func didFreeze() -> Bool {
        guard isAlive, freezer == .freezing || freezer == .stuck else { return false }
        freezer = .frozen
        return true
    }

    /// The board gave no time, or we did not look: the kernel's word may lie there unread. That the sleep does not wait
    /// for it longer than it may is the sleep's to see.
    mutating func creditFreezing(_ time: Nanoseconds, at now: Nanoseconds) {
        if isAlive, freezer == .freezing { waitingSince = min(waitingSince + time, now) }
    }

    /// Returns whether it has not been frozen in time.
    mutating func judgeFreezing(at now: Nanoseconds, bound: Nanoseconds) -> Bool {
        guard isAlive, freezer == .freezing, waitingSince + bound <= now else { return false }
        freezer = .stuck
        return true
    }

    /// Returns whether a sleep waits for its freezing no more from now on.
    mutating func stopAwaitingFreeze(at now: Nanoseconds) -> Bool {
        guard isAlive, freezer == .freezing, !isFreezeUnawaited, waitingSince + Self.leastFreezeBound <= now else {
            return false
        }
        isFreezeUnawaited = true
        return true
    }

    /// Says once of the present wait who does not let go. Returns whether it is said now.
    mutating func reportStuck() -> Bool {
        if isReportedStuck { return false }
        isReportedStuck = true
        return true
    }

    /// It may be reported anew.
    mutating func forgetReport() { isReportedStuck = false }

    /// The board gave no time for so long.
    mutating func credit(_ time: Nanoseconds) { clock.credit(time) }

    // MARK: Its end

    /// An order to end it. A second one: see `StopOrder.tighten`.
    mutating func order(_ reason: TerminationReason, waveEnd: Nanoseconds?, isForced: Bool, at now: Nanoseconds)
        -> Ordered
    {
        let isOperators = reason.namespace == .user
        switch stage {
        case .spawning:
            if cause == nil { wait(since: now) }
            if isOperators || cause?.reason.namespace != .user { cause = Cause(reason: reason) }
        case .running, .stopping:
            if isForced || freezer != .thawed { return .kill }
            if stop == nil {
                stop = StopOrder(reason: reason, waveEnd: waveEnd)
            } else if stop?.tighten(reason, waveEnd: waveEnd) == true {
                return .terminate
            }
        // It is killed for another reason; an operator's word keeps it from coming back.
        case .killing: if isOperators { stop = StopOrder(reason: reason) }
        case .clearing: break
        }
        return .noted
    }

    enum StopStep {
        case call(TerminationReason, allowance: Nanoseconds)
        case terminate
        case kill(TerminationReason)
    }

    /// Carries out an order to stop as soon as no other handler runs; nil: it waits, or there is none. end: MONOTONIC,
    /// of a shutdown; the order may be older.
    mutating func carryOutStop(_ own: Nanoseconds, before end: Nanoseconds?, at now: Nanoseconds) -> StopStep? {
        guard stage == .running, let order = stop else { return nil }
        // Waiting for READY=1 alone is no handler that could overlap.
        if call?.awaitsReply == true { return nil }
        call = nil
        if freezer != .thawed { return .kill(order.reason) }
        var allowance = own
        if let limit = order.waveEnd ?? end {
            let left = min(limit, end ?? .max) - now
            if left < Allowances.least { return .kill(order.reason) }
            allowance = min(allowance, left)
        }
        stage = .stopping
        liveness.stop()
        let isCalled = handlers.contains(.willTerminate)
        stop?.begin(allowance, isAsked: !isCalled, at: clock.reading(at: now))
        return isCalled ? .call(order.reason, allowance: allowance) : .terminate
    }

    /// willTerminate has returned. Returns whether SIGTERM follows.
    mutating func didAnswerTermination() -> Bool { stop?.didAnswer() != nil }

    /// STOPPING=1. It gets the time of willTerminate to be gone. Returns whether it was not ending yet.
    mutating func stopByItself(_ own: Nanoseconds, at now: Nanoseconds) -> Bool {
        guard stage == .running, freezer == .thawed else { return false }
        var order = stop ?? StopOrder(reason: .ended(.exited(0)), isOwnWish: true)
        let allowance = order.waveEnd.map { min(own, max($0 - now, .zero)) } ?? own
        order.begin(allowance, isAsked: true, at: clock.reading(at: now))
        stop = order
        stage = .stopping
        call = nil
        liveness.stop()
        return true
    }

    /// EXTEND_TIMEOUT_USEC: during launch and termination only. Returns whether it may.
    mutating func extend(by time: Nanoseconds, at now: Nanoseconds) -> Bool {
        guard isAlive, !clock.isStopped, time > .zero else { return false }
        let wanted = clock.reading(at: now) + time
        if call?.isExtensible == false { return false }
        call?.extend(to: wanted)
        if stage == .stopping { stop?.extend(to: wanted) }
        return true
    }

    /// cause: what the end is recorded with, unless it is being killed already. Returns whether it is to be killed now.
    mutating func kill(_ cause: Cause, at now: Nanoseconds) -> Bool {
        switch stage {
        case .spawning:
            if self.cause == nil {
                self.cause = cause
                wait(since: now)
            }
            return false
        case .running, .stopping:
            // An operator's or the shutdown's order outlives the overrun that hastens it: it decides about the restart.
            self.cause = cause
            stage = .killing
            call = nil
            liveness.stop()
            wait(since: now)
            return true
        case .killing, .clearing: return false
        }
    }

    /// Another than we has killed its main process: said before its exit is.
    mutating func wasKilled(by killer: MemoryKiller) {
        if isAlive, cause == nil { cause = Cause(reason: .killedForMemory(by: killer)) }
    }

    /// It answers no call any more. Returns whether it was asked to end.
    mutating func mainIsGone() -> Bool {
        guard stage == .stopping else { return false }
        call = nil
        return stop?.mainIsGone() != nil
    }

    mutating func didExit(at now: Nanoseconds) {
        hasOutlivedKill = outlivesKill(at: now)
        stage = .clearing
        call = nil
        liveness.stop()
        wait(since: now)
    }

    /// The shutdown is cancelled. Returns whether it stays: it was to end for that alone, and was not asked to yet.
    mutating func spare() -> Bool {
        if stage == .running, stop?.reason.isOfShutdown == true {
            stop = nil
        } else if stage == .spawning, cause?.reason.isOfShutdown == true {
            cause = nil
        } else {
            return false
        }
        return true
    }

    /// The same: what is to end for another reason has all its time again.
    mutating func forgetShutdownLimit() {
        stop?.waveEnd = nil
        // That the shutdown did not wait for its end does not mean that it is beyond killing.
        if !isAlive { isReportedStuck = false }
    }

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(1, &id)
        archive.raw(2, &stage)
        archive.raw(3, &reason)
        archive.value(4, &startedAt)
        archive.raw(5, &phase)
        archive.raw(6, &handlers)
        archive.value(7, &hasResigned)
        archive.value(8, &isLaunched)
        archive.group(9) { clock.archive(&$0) }
        archive.optional(10, &call, .blank) { $1.archive(&$0) }
        archive.group(11) { tasks.archive(&$0) }
        archive.group(12) { news.archive(&$0) }
        archive.group(13) { heldLock.archive(&$0) }
        archive.raw(14, &freezer)
        archive.group(15) { freezeReasons.archive(&$0) }
        archive.value(16, &waitingSince)
        archive.value(17, &isFreezeUnawaited)
        archive.value(18, &isReportedStuck)
        archive.group(19) { liveness.archive(&$0) }
        archive.value(20, &isGivenUp)
        archive.value(21, &hasOutlivedKill)
        archive.optional(22, &stop, StopOrder(reason: .unknown)) { $1.archive(&$0) }
        archive.optional(23, &cause, Cause(reason: .unknown)) { $1.archive(&$0) }
        archive.value(24, &hasUnstartedCommand)
    }
}
