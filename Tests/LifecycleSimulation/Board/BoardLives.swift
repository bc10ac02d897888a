internal import Lifecycle

/// The daemon's death, and the one that is started after it.
///
/// Mostly as the shell does it: nothing of the state is read back. What a predecessor left running is ended before
/// anything else, so that nothing runs twice; the new daemon is told what the first of a boot is told, what there is to
/// be read of the board by now, and the note of a sleep.
///
/// Or one takes its place and carries on (invariant 10): from the archive of the last moment, with the apps and what
/// they have said meanwhile, but without locks, operators and whatever logind has said. At times without the apps: they
/// have ended with it, and are started again.
extension SimulatedBoard {
    /// What is drawn for the hardships of later times.
    func rollLives() {
        guard isRough else { return }
        var commands = commandRandom(for: CallID(rawValue: -1))
        if commands.chance(perMille: 150) { plan.insist(on: .commandHeld) }
        if lifeRandom.chance(perMille: 100) { plan.insist(on: .lateHook) }
        guard lifeRandom.chance(perMille: 60) else { return }
        plan.insist(on: .headless)
        plan.insist(on: .longLife)
    }

    /// No app is ever in front, and for days no person is there.
    func makeHeadless() {
        for fault in [
            Fault.requests, .reload, .racingRequests, .absurdPolicies, .strangeRequests, .charger, .battery, .heat,
            .lowPowerMode, .shellDies, .hungryApp, .foreignHog,
        ] {
            plan.spare(fault)
        }
        for index in configuration.indices {
            configuration[index].start = .background
            configuration[index].launch = .boot
            configuration[index].taskBudget = lifeRandom.pick([.seconds(60), .seconds(200), .seconds(600)])
            configuration[index].restart = .always
            configuration[index].restartLimit = 1000
            guard let place = tempers.firstIndex(where: { $0.name == configuration[index].name }) else { continue }
            tempers[place].temper = .blameless
            tempers[place].habits.forgets = false
            tempers[place].habits.isIdle = false
        }
    }

    /// At any time, and often at a bad one.
    func loseDaemon() {
        guard !isDaemonDead else { return }
        func soon() -> Nanoseconds { lifeRandom.magnitude(.microseconds(10), .seconds(8)) }
        switch lifeRandom.below(4) {
        case 0:
            announceSleep()
            plan(.killsDaemon, after: soon())
        case 1:
            announceShutdown()
            plan(.killsDaemon, after: soon())
        case 2:
            killDaemon()
            plan(.announcesSleep, after: soon())
        default: killDaemon()
        }
    }

    func killDaemon() {
        guard !isDaemonDead, !daemonHasLeft else { return }
        trace.add(death: directory, at: monotonic)
        isDaemonDead = true
        leftArchive = lifeRandom.chance(perMille: 400) ? core.archived() : nil
        forgetConnections()
        var time = lifeRandom.magnitude(.milliseconds(50), .seconds(7200))
        // Longer, and the board resets.
        if let timeout = surroundings.watchdog { time = min(time, timeout / 4) }
        if time > .seconds(60) { disturbedUntil = disturbedUntil + time }
        schedule(.daemonReturns, after: time)
    }

    /// None of it is known to a daemon that begins anew.
    private func forgetClients() {
        inbox = []
        alarm = nil
        alarmGeneration += 1
        openRequests = []
        askers = []
        logicalSleep = false
    }

    /// Its descriptors are closed: locks, calls and clients are gone, and so is the alarm.
    private func forgetConnections() {
        stalledUntil = nil
        timerMissed = false
        armed = nil
        timerGeneration += 1
        if leftArchive == nil {
            forgetClients()
        } else {
            // The program that wanted it awake was not heard.
            if inbox.contains(where: {
                if case .client(.requested(_, .sleep(false, _, _))) = $0 { true } else { false }
            }) {
                logicalSleep = true
            }
            inbox = inbox.filter(isKept)
        }
        let hookWaits = login.hookRequest != nil
        login.hookRequest = nil
        if hookWaits, login.sleep == .committed {
            plan(.sleeps(handshake: login.handshake), after: .milliseconds(1))
        }
        login.connection += 1
        login.isConnected = false
        login.isHeard = false
        closeLocks()
        login.answers = [[], [], []]
        login.asked = [false, false, false]
        login.refusedIdly = [false, false, false]
        forgetMessages()
    }

    /// What lies in the apps' sockets, or is still to be seen of their processes, when another takes the daemon's
    /// place.
    private func isKept(_ event: Event) -> Bool {
        switch event {
        case .process, .app, .client(.requested(_, .beginBackgroundTask)), .client(.requested(_, .endBackgroundTask)),
            .memory(.killed):
            true
        default: false
        }
    }

    func keep(_ event: Event) { if leftArchive != nil, isKept(event) { inbox.append(event) } }

    /// What was on its way to a daemon that is not there.
    private func forgetMessages() {
        _ = queue.remove { happening in
            switch happening {
            case .answer(let event), .deliver(let event): leftArchive == nil || !isKept(event)
            case .alarm: leftArchive == nil
            case .timer, .loopResumes, .login(.answersPreparing),
                .login(.answersInhibit):
                true
            case .board(let move): move.isAnswer
            case .process, .login, .disturbance, .storm, .hardship, .daemonReturns: false
            }
        }
    }

    /// The end of a run: it is not waited for any longer.
    func hastenReturn() {
        guard isDaemonDead else { return }
        _ = queue.remove { if case .daemonReturns = $0 { true } else { false } }
        daemonReturns()
    }

    func daemonReturns() {
        guard isDaemonDead else { return }
        forgetMessages()
        truth.rebirths.append(monotonic)
        if let archive = leftArchive {
            leftArchive = nil
            if let core = reread(archive) { return carryOn(core) }
        }
        // Nor is it told what was kept for one that could not read the archive.
        forgetMessages()
        endLeftovers()
        say("the daemon is started again")
        isDaemonDead = false
        forgetClients()
        directory = AppDirectory()
        hasCarriedOn = false
        core.state = DeviceLifecycle()
        denials.forget()
        asked = nil
        quietSince = nil
        inspection = inspection.renewed()
        tellOfStart()
    }

    /// At times it is not what was written.
    private func reread(_ archive: [UInt8]) -> DeviceLifecycle? {
        guard lifeRandom.chance(perMille: 250) else { return DeviceLifecycle(archive: archive) }
        let damaged = ArchiveChecker.Damage(&lifeRandom).done(to: archive)
        say("the archive is damaged")
        if let problem = ArchiveChecker.revive(damaged, of: archive, at: now) { inspection.violate(.archive, problem) }
        return DeviceLifecycle(archive: damaged)
    }

    /// In the daemon's place, with all that it knew.
    private func carryOn(_ former: DeviceLifecycle) {
        say("another takes the daemon's place")
        hasCarriedOn = true
        isDaemonDead = false
        core.state = former
        denials.forget()
        asked = core.nextDeadline
        // By the moment: the streams of chance stay as they are.
        let moment = monotonic.rawValue / 1000 % 3
        let isAlone = moment == 0
        if isAlone { loseApps() }
        if moment == 1 { step(.process(.regained(former.instances))) }
        var messages: [Event] = isAlone ? former.instances.map { .process(.exited($0, .withLoop(signal: 9))) } : []
        messages.append(.login(.unavailable))
        messages += openRequests.filter { id in !askers.contains { $0.request == id } }.map { .client(.abandoned($0)) }
        if isAlone {
            messages += [.freezing(available: freezingAvailable), .configured(configuration, devicePolicy)]
            messages += former.instances.map { .process(.groupEmptied($0)) }
        }
        messages += inbox
        inbox = []
        for message in messages {
            monotonic += .microseconds(Int64(10 + lifeRandom.below(500)))
            // What is no answer is neither late nor doubled.
            if isAlone { step(message) } else { hear(message) }
        }
        for message in nowTrue { hear(message) }
        // The program that was to wake it found no daemon.
        if plan.isOver, logicalSleep || surroundings.hasSleptLogically {
            request(.sleep(start: false, logical: true))
        }
        planToFindLogin()
    }

    /// What is to be read of the board at any time.
    private var nowTrue: [Event] {
        guard limits.storms else { return [] }
        return [
            .board(.lid(closed: surroundings.isLidClosed)), .board(.power(readablePower)),
            .board(.temperatures(readableHeat)),
        ]
    }

    private func loseApps() {
        say("its apps have ended with the one before")
        inbox = []
        forgetMessages()
        endLeftovers()
    }

    private func endLeftovers() {
        processes = []
        _ = queue.remove { if case .process = $0 { true } else { false } }
    }

    /// In the order in which the shell does it.
    private func tellOfStart() {
        var messages: [Event] = [.freezing(available: freezingAvailable), .configured(configuration, devicePolicy)]
        messages += nowTrue
        messages.append(.started)
        if let timeout = surroundings.watchdog { messages.append(.watchdog(.hardware(timeout: timeout))) }
        messages.append(.watchdog(.service))
        if let note = sleepNote { messages.append(.sleep(.noted(timeAsleep: note))) }
        sleepNote = nil
        for message in messages {
            monotonic += .microseconds(Int64(10 + lifeRandom.below(500)))
            hear(message)
        }
        planToFindLogin()
    }

    private func planToFindLogin() {
        if login.isPresent {
            let isSlow = lifeRandom.chance(perMille: 500)
            let time = lifeRandom.magnitude(.microseconds(100), isSlow ? .seconds(8) : .milliseconds(5))
            plan(.isFound(connection: login.connection), after: time)
        } else {
            hear(.login(.unavailable))
        }
    }

    /// Its signals are listened to, and its properties read.
    func findLogin() {
        guard !isDaemonDead, !login.isHeard else { return }
        login.isHeard = true
        guard login.isPresent else { return hear(.login(.unavailable)) }
        login.lastDelivery = monotonic
        sendFromLogin(
            .login(
                .available(
                    delayMax: login.delayMax, preparingForSleep: login.sleep != .idle,
                    preparingForShutdown: login.shutdown != .idle)), after: transport())
        if limits.storms { sendFromLogin(.board(.session(surroundings.session)), after: transport()) }
    }
}
