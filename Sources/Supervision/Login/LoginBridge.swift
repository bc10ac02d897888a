internal import Configuration
internal import DeviceMonitor
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import SystemCalls

// logind's words, as the core's events.

extension LockKind {
    var bus: Inhibitor {
        switch self {
        case .sleep: .sleep
        case .shutdown: .shutdown
        case .keepAwake: .idleAndSleep
        }
    }

    var mode: LockMode {
        switch self {
        case .sleep, .shutdown: .delay
        case .keepAwake: .weakBlock
        }
    }
}

extension Inhibitor {
    /// nil for those that the core knows nothing of.
    fileprivate var core: LockKind? {
        switch self {
        case .sleep: .sleep
        case .shutdown: .shutdown
        case .idleAndSleep: .keepAwake
        case .powerKey, .lidSwitch: nil
        }
    }
}

extension Supervisor {
    /// Follows a login manager from now on.
    func follow(_ manager: any LoginService) {
        login = manager
        manager.onEvent = { [unowned(unsafe) self] message in translate(message) }
        // Who goes on from a former state knows of its sleep.
        if !hasResumed { takeSleepNote() }
        manager.start()
    }

    /// It is asked for again and again, and the line is for people.
    private func sayRefusal(of kind: Inhibitor, _ reason: String) {
        let isKnown = refusedLocks.contains(kind) || kind == .sleep && core.expectsRefusal
        if !isKnown { refusedLocks.append(kind) }
        log.daemon(isKnown ? .debug : .warning, "logind refused a \(kind.name) lock: \(reason)", .lockRefused)
    }

    /// Not in a sleep: a word of logind's that it prepares one may begin it here.
    var isUp: Bool { core.device.sleepState == .awake || core.device.sleepState == .darkWake }

    /// What the shell does of itself at an edge of a sleep, before the core hears of it.
    private func prepareFor(edge start: Bool) {
        if start {
            appLocks.sleepBegins()
            // A logical sleep becomes the kernel's: what that has counted until now was none of this one.
            if core.device.sleepState == .asleep { suspendsBefore = SuspendStatistics(sysfs: sysfs) }
        } else {
            boardWatch?.lookAgain()
            tellIfKernelSlept()
        }
    }

    private func translate(_ message: LoginMessage) {
        switch message {
        case .available(let delayMax, let sleeping, let shuttingDown):
            if isLoginLost { log.daemon(.notice, "logind is back", .busBack) }
            isLoginLost = false
            if sleeping, isUp { appLocks.sleepBegins() }
            isBoardGoingDown = shuttingDown
            dispatch(
                .login(
                    .available(
                        delayMax: delayMax.map { Nanoseconds(rawValue: $0) }, preparingForSleep: sleeping,
                        preparingForShutdown: shuttingDown)))
            keyLocks.take()
        case .unavailable(let reason):
            isLoginLost = true
            keptLocks.releaseAll()
            log.daemon(
                .notice, "no logind: \(reason); sleep comes from the sleep hook, and from curfew sleep", .busLost)
            dispatch(.login(.unavailable))
        case .prepareForSleep(let start, let delayMax, let at):
            prepareFor(edge: start)
            dispatch(
                .login(
                    .prepareForSleep(
                        start, delayMax: delayMax.map { Nanoseconds(rawValue: $0) },
                        signalled: Nanoseconds(rawValue: at + skipped))))
        case .prepareForShutdown(let start, let delayMax, let at):
            isBoardGoingDown = start
            dispatch(
                .login(
                    .prepareForShutdown(
                        start, delayMax: delayMax.map { Nanoseconds(rawValue: $0) },
                        signalled: Nanoseconds(rawValue: at + skipped))))
        case .lockTaken(let kind, let descriptor):
            keptLocks.wasTaken(kind, descriptor)
            refusedLocks.removeAll { $0 == kind }
            if let kind = kind.core { dispatch(.login(.lockTaken(kind))) } else { keyLocks.wasTaken() }
        case .lockRefused(let kind, let reason):
            sayRefusal(of: kind, reason)
            if kind == .sleep, isUp, !core.expectsRefusal { appLocks.lookForCrowds() }
            if let kind = kind.core { dispatch(.login(.lockRefused(kind))) } else { keyLocks.wasRefused() }
        // `unavailable` comes with it, and says so of all of them.
        case .lockLost(let kind): keptLocks.release(kind)
        case .preparingForSleep(let value):
            if value != true { tellIfKernelSlept() } else if isUp { appLocks.sleepBegins() }
            dispatch(.login(.preparingForSleep(value)))
        case .foreignLocks(let locks): appLocks.hear(locks)
        case .lockCrowds(let locks): appLocks.hearCrowds(locks)
        case .suspendRefused(let reason):
            // A closed lid asks again and again.
            log.daemon(saidSuspendRefused ? .debug : .warning, "logind does not put the board to sleep: \(reason)")
            saidSuspendRefused = true
            dispatch(.login(.suspendRefused))
        case .sessionChanged(let reading):
            guard followsBoard else { break }
            dispatch(.board(.session(reading)))
        case .conditionsChanged(let conditions): boardWatch?.loginSays(conditions)
        case .powerOffRefused(let reason): powerOffFailed(reason)
        }
    }
}
