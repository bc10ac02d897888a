internal import Lifecycle

/// logind's part: delay locks, edges, and the sleep itself.
extension SimulatedBoard {
    func plan(_ act: LoginAct, after delay: Nanoseconds) { schedule(.login(act), after: delay) }

    /// A message from logind on its way to the daemon, after those sent before it.
    func sendFromLogin(_ event: Event, after delay: Nanoseconds) {
        guard login.isPresent, login.isHeard else { return }
        let at = Swift.max(monotonic + delay, login.lastDelivery)
        login.lastDelivery = at
        queue.add(.deliver(event), at: at)
    }

    func transport() -> Nanoseconds { transport(&random) }

    func transport(_ random: inout SeededGenerator) -> Nanoseconds {
        random.magnitude(.microseconds(30), .milliseconds(3))
    }

    private var saidDelayMax: Nanoseconds? {
        plan.strikes(.delayMaxUnknown, &random) ? nil : login.delayMax
    }

    // MARK: What the daemon asks

    func askForLock(_ kind: LockKind) {
        guard login.isPresent, login.isConnected else { return }
        login.asked[Int(kind.rawValue)] = true
        let delay =
            plan.strikes(.lockLate, &random) ? random.magnitude(.milliseconds(10), .seconds(8)) : transport()
        plan(
            .answersInhibit(kind, incarnation: login.incarnation, connection: login.connection), after: delay)
    }

    func closeLock(_ kind: LockKind) {
        login.isInHand[Int(kind.rawValue)] = false
        closeGrant(kind, of: login.connection)
    }

    private func closeGrant(_ kind: LockKind, of connection: Int) {
        guard let place = login.grants[Int(kind.rawValue)].firstIndex(of: connection) else { return }
        login.grants[Int(kind.rawValue)].remove(at: place)
        if !login.holds(kind) { lockIsGone(kind) }
    }

    /// With the daemon.
    func closeLocks() {
        let held = LockKind.allCases.filter { login.holds($0) }
        login.loseLocks()
        for kind in held { lockIsGone(kind) }
    }

    private func lockIsGone(_ kind: LockKind) {
        if let operation = kind.operation, login[operation] == .preparing { proceed(operation) }
    }

    func askPreparing() {
        let delay = transport()
        guard login.isPresent else { return schedule(.deliver(.login(.preparingForSleep(nil))), after: delay) }
        if plan.strikes(.preparingUnanswered, &hardRandom) { return say("PreparingForSleep is not answered") }
        plan(.answersPreparing(incarnation: login.incarnation), after: delay)
    }

    // MARK: What logind does

    func happen(_ act: LoginAct) {
        switch act {
        case .answersInhibit(let kind, let incarnation, let connection):
            if connection == login.connection { answerInhibit(kind, incarnation) }
        case .answersPreparing(let incarnation):
            let unknown = incarnation != login.incarnation || plan.strikes(.preparingUnknown, &random)
            let answer = unknown ? nil : login.sleep != .idle
            if login.isPresent, answersPreparingLate(answer) { return }
            if login.isPresent {
                sendFromLogin(.login(.preparingForSleep(answer)), after: transport())
            } else {
                schedule(.deliver(.login(.preparingForSleep(nil))), after: transport())
            }
        case .losesPatience(let kind, let handshake):
            guard handshake == login.handshake, login[kind] == .preparing else { return }
            say("logind has waited for \(kind) delay locks as long as it does")
            plan(.proceeds(kind, handshake: handshake), after: .zero)
        case .proceeds(let kind, let handshake):
            guard handshake == login.handshake, login[kind] == .preparing else { return }
            commit(kind)
        case .sleeps(let handshake): if handshake == login.handshake { fallAsleep() }
        case .wakes(let handshake): if handshake == login.handshake { wakeUp() }
        case .cancelsShutdown(let handshake): if handshake == login.handshake { cancelShutdown() }
        case .outage: loseLogin()
        case .returns: returnLogin()
        case .isFound(let connection): if connection == login.connection { findLogin() }
        }
    }

    private func answerInhibit(_ kind: LockKind, _ incarnation: Int) {
        guard incarnation == login.incarnation, login.isPresent else { return }
        login.asked[Int(kind.rawValue)] = false
        if plan.strikes(.lockUnanswered, &hardRandom) { return say("the question for a \(kind) lock is not answered") }
        login.answers[Int(kind.rawValue)].append(login.connection)
        let isIdle = !login.isPreparing(kind)
        login.refusedIdly[Int(kind.rawValue)] = isIdle && plan.strikes(.lockRefused, &random)
        if !isIdle || login.refusedIdly[Int(kind.rawValue)] {
            sendFromLogin(.login(.lockRefused(kind)), after: transport())
        } else {
            login.grant(kind)
            if kind == .sleep, happensLate(perMille: 30) {
                // logind waits longer for one that it has granted.
                return schedule(
                    .deliver(.login(.lockTaken(kind))), after: lateRandom.magnitude(.milliseconds(1), .milliseconds(90))
                )
            }
            sendFromLogin(.login(.lockTaken(kind)), after: transport())
        }
    }

    /// Whether an answer that is read now still has a core that waits for it; else its descriptor is closed.
    func isAwaited(_ kind: LockKind, granted: Bool) -> Bool {
        guard let connection = login.answers[Int(kind.rawValue)].first else { return true }
        login.answers[Int(kind.rawValue)].removeFirst()
        guard connection == login.connection else {
            if granted { closeGrant(kind, of: connection) }
            return false
        }
        guard granted else { return true }
        // There is never more than one: the new descriptor takes the place of the old.
        if login.isInHand[Int(kind.rawValue)] { closeGrant(kind, of: connection) }
        login.isInHand[Int(kind.rawValue)] = true
        return true
    }

    /// A user closes the lid, or systemctl suspend.
    func announceSleep() {
        guard login.isPresent, login.sleep == .idle, login.shutdown == .idle else { return }
        if login.holds(.keepAwake), !plan.strikes(.forcedSleep, &random) {
            return say("logind does not let the board sleep: a lock blocks it")
        }
        prepareSleep()
    }

    func prepareSleep() {
        claimFront()
        login.handshake += 1
        login.sleep = .preparing
        truth.hasSleptInHandshake = false
        say("logind announces a sleep (InhibitDelayMax \(login.delayMax.text))")
        announce(.sleep)
    }

    func announceShutdown() {
        guard login.isPresent, login.sleep == .idle, login.shutdown == .idle else { return }
        login.handshake += 1
        login.shutdown = .preparing
        say("logind announces a shutdown (InhibitDelayMax \(login.delayMax.text))")
        announce(.shutdown)
        reloadLate()
        if random.chance(perMille: 500) {
            plan(.cancelsShutdown(handshake: login.handshake), after: random.magnitude(.milliseconds(5), .seconds(6)))
        }
    }

    private func announce(_ kind: Operation) {
        sendEdge(kind, true)
        plan(.losesPatience(kind, handshake: login.handshake), after: login.delayMax)
        if !login.holds(kind.lock) { proceed(kind) }
    }

    /// Our lock is gone; another program's may not be.
    private func proceed(_ kind: Operation) {
        var delay = transport()
        if plan.strikes(.otherInhibitor, &random) {
            delay = random.span(.zero, Swift.min(login.delayMax, .seconds(60)))
        }
        plan(.proceeds(kind, handshake: login.handshake), after: delay)
    }

    private func sendEdge(_ kind: Operation, _ edge: Bool) {
        let message = transport()
        let signalled = monotonic + message
        let event: Event =
            switch kind {
            case .sleep: .login(.prepareForSleep(edge, delayMax: saidDelayMax, signalled: signalled))
            case .shutdown: .login(.prepareForShutdown(edge, delayMax: saidDelayMax, signalled: signalled))
            }
        // A cancelled shutdown is announced by nothing else; logind is known to lose edges of sleeps only.
        if kind == .sleep || edge, plan.strikes(.edgeLost, &random) {
            say("\(kind) \(edge): the signal is lost")
            return
        }
        let delay =
            plan.strikes(.edgeLate, &random) ? random.magnitude(.milliseconds(10), .seconds(30)) : message
        sendFromLogin(event, after: delay)
        if kind == .sleep, edge {
            sendLateEnd(after: delay)
            tellOfOwnLocks(after: delay)
        }
        if plan.strikes(.edgeDoubled, &random) {
            sendFromLogin(event, after: delay + random.magnitude(.microseconds(10), .seconds(3)))
        }
    }

    private func commit(_ kind: Operation) {
        login[kind] = .committed
        switch kind {
        case .shutdown:
            say("the board powers off")
            isPoweredOff = true
        case .sleep:
            let handshake = login.handshake
            // The hook's call is refused at once.
            if isDaemonDead { return plan(.sleeps(handshake: handshake), after: .milliseconds(80)) }
            guard plan.strikes(.hookSleep, &random) else {
                return plan(.sleeps(handshake: handshake), after: random.magnitude(.milliseconds(1), .milliseconds(80)))
            }
            login.hookRequest = RequestID(rawValue: nextRequest)
            request(.sleep(start: true, logical: false))
            plan(.sleeps(handshake: handshake), after: .seconds(10))
        }
    }

    /// The hook has its answer: systemd-sleep goes on without waiting for its time limit.
    func hookAnswered(_ request: RequestID) {
        guard login.hookRequest == request else { return }
        login.hookRequest = nil
        if login.sleep == .committed { plan(.sleeps(handshake: login.handshake), after: .milliseconds(1)) }
    }

    private func fallAsleep() {
        guard login.sleep == .committed else { return }
        login.handshake += 1
        if plan.strikes(.tasksEndAsleep, &hardRandom) { endTasks() }
        if plan.strikes(.sleepFails, &random) {
            refuseSleep()
        } else {
            sleep()
            truth.hasSleptInHandshake = true
        }
        var delay = random.magnitude(.milliseconds(1), .milliseconds(300))
        if plan.strikes(.lateResume, &hardRandom) {
            delay = hardRandom.magnitude(.seconds(1), .seconds(120))
            say("a hook holds logind's job for \(delay.text)")
        }
        plan(.wakes(handshake: login.handshake), after: delay)
    }

    /// It may have stopped every process before a device says no.
    private func refuseSleep() {
        truth.refusedSleeps += 1
        guard isRough, hardRandom.chance(perMille: 500) else { return say("the kernel refuses to sleep") }
        let time = hardRandom.magnitude(.milliseconds(100), .seconds(20))
        say("the kernel refuses to sleep after \(time.text)")
        stopBoard(for: time)
    }

    /// The shell looks at what the kernel has counted when it hears that the board is awake.
    func tellIfKernelSlept(before event: Event) {
        guard countsSleeps, core.device.sleepState == .asleep || core.device.sleepState == .preparing,
            let hasSlept = truth.hasSleptSince
        else { return }
        switch event {
        case .login(.prepareForSleep(false, _, _)), .login(.preparingForSleep(false)), .login(.preparingForSleep(nil)),
            .client(.requested(_, .sleep(false, false, _))):
            step(.sleep(.kernelSlept(hasSlept)))
        default: break
        }
    }

    /// Its second call may be late: a board has much to do when it wakes.
    private func tellHookEnd() {
        let end = ClientRequest.sleep(start: false, logical: false, about: hookSleep)
        hookSleep = nil
        guard plan.strikes(.lateHook, &lifeRandom) else { return _ = request(end) }
        plan(.asks(end), after: lifeRandom.magnitude(.milliseconds(100), .seconds(60)))
        guard lifeRandom.chance(perMille: 500) else { return }
        plan(.asks(.sleep(start: true, logical: true)), after: lifeRandom.magnitude(.milliseconds(50), .seconds(20)))
        logicalSleep = true
    }

    private func wakeUp() {
        guard login.sleep == .committed else { return }
        if login.hookRequest != nil || plan.strikes(.hookSleep, &random) {
            login.hookRequest = nil
            tellHookEnd()
        }
        login.sleep = .idle
        sendEdge(.sleep, false)
        tellLateOfWake()
    }

    private func cancelShutdown() {
        guard login.shutdown == .preparing else { return }
        say("the shutdown is cancelled")
        login.handshake += 1
        login.shutdown = .idle
        sendEdge(.shutdown, false)
    }

    /// The kernel's part of a sleep: nothing on the board runs.
    func sleep() {
        var time = timeUntilAlarm(within: random.magnitude(.milliseconds(200), .seconds(30_000)))
        if plan.strikes(.someoneAtWake, &hardRandom) { comeBy() }
        if plan.strikes(.monotonicRunsOn, &random) || plan.strikes(.idleSuspend, &hardRandom) {
            time = lengthOfIdleSuspend(Swift.min(time, .seconds(900)))
            say("s2idle for \(time.text); MONOTONIC runs on")
            truth.noteSleep(from: now, for: time, alarm: alarm, isHidden: true)
            stopBoard(for: time)
            return rearmAlarm()
        }
        truth.noteSleep(from: now, for: time, alarm: alarm, isHidden: false)
        say("the board sleeps for \(time.text)")
        slept += time
        rearmAlarm()
        if !plan.strikes(.wakeUnseen, &random) { schedule(.deliver(.timePassed), after: transport()) }
    }

    /// Nothing on the board runs, and its MONOTONIC clock does.
    func stopBoard(for time: Nanoseconds) {
        monotonic += time
        truth.stolen += time
        for process in processes { process.robbed(of: time, at: monotonic) }
        queue.putOffWork(by: time)
    }

    // MARK: logind goes and comes

    private func loseLogin() {
        guard login.isPresent else { return }
        say("logind is gone")
        sendFromLogin(.login(.unavailable), after: transport())
        login.isPresent = false
        login.incarnation += 1
        login.loseLocks()
        keepQuestions()
        login.asked = [false, false, false]
        plan(.returns, after: absence(random.magnitude(.milliseconds(5), .seconds(40))))
        // A sleep in progress is systemd's by now, or is forgotten with logind.
        if login.sleep == .preparing || login.shutdown == .preparing {
            login.handshake += 1
            login.sleep = .idle
            login.shutdown = .idle
        }
    }

    /// The end of a run: neither other programs nor absurd limits hold up what logind is at.
    func calmLogin() {
        login.delayMax = Swift.min(login.delayMax, .seconds(30))
        for kind in [Operation.sleep, .shutdown] where login[kind] == .preparing {
            plan(.losesPatience(kind, handshake: login.handshake), after: login.delayMax)
        }
        let held = queue.remove { if case .login(.wakes) = $0 { true } else { false } }
        for entry in held { queue.add(entry.what, at: Swift.min(entry.at, monotonic + .seconds(1))) }
    }

    func returnLogin() {
        guard !login.isPresent, !plan.has(.loginAbsent) else { return }
        login.isPresent = true
        login.isHeard = !isDaemonDead
        login.incarnation += 1
        if random.chance(perMille: 200) { login.delayMax = someDelayMax() }
        say("logind is there")
        grantStrays()
        sendFromLogin(
            .login(
                .available(
                    delayMax: saidDelayMax, preparingForSleep: login.sleep != .idle,
                    preparingForShutdown: login.shutdown != .idle)),
            after: transport())
    }

    func someDelayMax() -> Nanoseconds {
        guard plan.strikes(.shortDelayMax, &random) else {
            return random.pick([.seconds(5), .seconds(5), .seconds(30), .seconds(10)])
        }
        return random.pick([.milliseconds(100), .milliseconds(600), .seconds(1), .milliseconds(1700), .seconds(3)])
    }
}

extension Operation {
    fileprivate var lock: LockKind { self == .sleep ? .sleep : .shutdown }
}

extension LockKind {
    /// What a delay lock puts off; nil for a block lock.
    fileprivate var operation: Operation? {
        switch self {
        case .sleep: .sleep
        case .shutdown: .shutdown
        case .keepAwake: nil
        }
    }
}
