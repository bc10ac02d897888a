internal import Journal
internal import Lifecycle
internal import MessageBus

// What the core asks of logind and of the board's sleeps.

extension Supervisor {
    func perform(_ effect: LoginEffect) {
        switch effect {
        case .takeLock(let kind): login?.takeLock(kind.bus, mode: kind.mode)
        case .releaseLock(let kind):
            login?.releaseLock(kind.bus)
            keptLocks.release(kind.bus)
        case .readPreparingForSleep: readPreparingForSleep()
        case .suspendDevice: suspendDevice()
        case .powerOff: powerOff()
        }
    }

    func perform(_ effect: SleepEffect) {
        switch effect {
        case .handled(let isHandled): markSleep(isHandled)
        case .setWakeAlarm(let moment): setWakeAlarm(moment)
        }
    }

    private func readPreparingForSleep() {
        if let login {
            login.readPreparingForSleep()
        } else {
            dispatch(.login(.preparingForSleep(nil)))
        }
    }

    private func suspendDevice() {
        if let login {
            login.suspend()
        } else {
            dispatch(.login(.suspendRefused))
        }
    }

    private func powerOff() {
        watchdog?.saysPowerOff(true)
        if let login {
            login.powerOff()
        } else {
            powerOffFailed("there is no logind")
        }
    }

    func powerOffFailed(_ reason: String) {
        log.daemon(.error, "the board cannot be switched off: " + reason + "; apps stay ended", .boardAtRisk)
        watchdog?.saysPowerOff(false)
        dispatch(.login(.powerOffRefused))
    }
}
