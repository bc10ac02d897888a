internal import Lifecycle

/// The daemon's death, and the one that is started after it.
///
/// As the shell does it: nothing of the state is read back. What a predecessor left running is ended before anything
/// else, so that nothing runs twice; the new daemon is told what the first of a boot is told, what there is to be read
/// of the board by now, and the note of a sleep.
extension SimulatedBoard {
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
        forgetConnections()
        var time = lifeRandom.magnitude(.milliseconds(50), .seconds(7200))
        // Longer, and the board resets.
        if let timeout = surroundings.watchdog { time = min(time, timeout / 4) }
        if time > .seconds(60) { disturbedUntil = disturbedUntil + time }
        schedule(.daemonReturns, after: time)
    }

    /// Its descriptors are closed: locks, calls and clients are gone, and so is the alarm.
    private func forgetConnections() {
        inbox = []
        stalledUntil = nil
        timerMissed = false
        armed = nil
        timerGeneration += 1
        alarm = nil
        alarmGeneration += 1
        openRequests = []
        askers = []
        logicalSleep = false
        let hookWaits = login.hookRequest != nil
        login.hookRequest = nil
        if hookWaits, login.sleep == .committed {
            plan(.sleeps(handshake: login.handshake), after: .milliseconds(1))
        }
        login.connection += 1
        login.isConnected = false
        login.isHeard = false
        for kind in LockKind.allCases { closeLock(kind) }
        login.answers = [[], [], []]
        login.asked = [false, false, false]
        login.refusedIdly = [false, false, false]
        forgetMessages()
    }

    /// What was on its way to a daemon that is not there.
    private func forgetMessages() {
        _ = queue.remove { happening in
            switch happening {
            case .deliver, .answer, .timer, .alarm, .loopResumes, .login(.answersPreparing),
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
        schedule(.daemonReturns, after: .milliseconds(1))
    }

    func daemonReturns() {
        guard isDaemonDead else { return }
        forgetMessages()
        endLeftovers()
        say("the daemon is started again")
        truth.rebirths.append(monotonic)
        isDaemonDead = false
        directory = AppDirectory()
        core.state = DeviceLifecycle()
        asked = nil
        quietSince = nil
        inspection = inspection.renewed()
        tellOfStart()
    }

    private func endLeftovers() {
        processes = []
        _ = queue.remove { if case .process = $0 { true } else { false } }
    }

    /// In the order in which the shell does it.
    private func tellOfStart() {
        var messages: [Event] = [.freezing(available: freezingAvailable), .configured(configuration, devicePolicy)]
        if limits.storms {
            messages += [.lid(closed: surroundings.isLidClosed), .power(readablePower), .temperatures(readableHeat)]
        }
        messages.append(.started)
        if let timeout = surroundings.watchdog { messages.append(.hardwareWatchdog(timeout: timeout)) }
        messages.append(.serviceWatchdog)
        if let note = sleepNote { messages.append(.sleepNoted(timeAsleep: note)) }
        sleepNote = nil
        for message in messages {
            monotonic += .microseconds(Int64(10 + lifeRandom.below(500)))
            hear(message)
        }
        if login.isPresent {
            let isSlow = lifeRandom.chance(perMille: 500)
            let time = lifeRandom.magnitude(.microseconds(100), isSlow ? .seconds(8) : .milliseconds(5))
            plan(.isFound(connection: login.connection), after: time)
        } else {
            hear(.loginUnavailable)
        }
    }

    /// Its signals are listened to, and its properties read.
    func findLogin() {
        guard !isDaemonDead, !login.isHeard else { return }
        login.isHeard = true
        guard login.isPresent else { return hear(.loginUnavailable) }
        login.lastDelivery = monotonic
        sendFromLogin(
            .loginAvailable(
                delayMax: login.delayMax, preparingForSleep: login.sleep != .idle,
                preparingForShutdown: login.shutdown != .idle), after: transport())
        if limits.storms { sendFromLogin(.session(surroundings.session), after: transport()) }
    }
}
