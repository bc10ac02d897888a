internal import DeviceMonitor
internal import Journal
internal import Lifecycle

// The core's notices, as lines for people.

extension Supervisor {
    func name(_ app: AppID) -> String { apps[app.rawValue]?.name ?? "app \(app.rawValue)" }

    func say(_ notice: Notice) {
        switch notice {
        case .app(let notice): say(notice)
        case .sleep(let notice): say(notice)
        case .shutdown(let notice): say(notice)
        case .board(let notice): say(notice)
        case .fault(let fault, let app): say(fault, of: app)
        }
    }

    /// At the 1st, 2nd, 4th, 8th … time: a fault at every event does not flood the journal.
    private func say(_ fault: Fault, of app: AppID?) {
        let count = (faults[fault] ?? 0) + 1
        faults[fault] = count
        guard count & (count - 1) == 0 else { return }
        let times = count == 1 ? "" : ", \(count) times by now"
        log.daemon(
            .error,
            "a fault of curfewd's own (\(fault.name)\(app.map { " of " + name($0) } ?? "")\(times)); it goes on; "
                + "please report it with this log")
    }

    private func say(_ notice: AppNotice) {
        switch notice {
        case .launched(let app, let instance):
            let pid = processes[instance.rawValue]?.mainPID ?? 0
            log.ordered(
                name(app), .info, "launched, pid \(pid)", .appLaunched, takenOverFor: apps[app.rawValue]?.adopter)
        case .restartScheduled(let app, let delay):
            log.ended(name(app), .info, "restarts in \(delay.text)", .appRestartScheduled)
        case .leftDown(let app, let ends):
            log.app(
                name(app), .error,
                "ended \(ends) times in a row and is left down; start it with: curfew launch \(name(app))", .appLeftDown
            )
        // Its end says the same with all that is known of it, once it is gone.
        case .overrun(let app, _, let reason): log.ended(name(app), .info, "is to be killed: \(reason.explanation)")
        case .heldUpSleep(let app):
            log.app(
                name(app), .warning,
                "its launch, its end or a task that expired in front held a sleep up for too long; at the next ten it "
                    + "is frozen at once in any of these")
        case .keepsLock(let app, let instance):
            let lock =
                processes[instance.rawValue].flatMap { appLocks.stopAsking(for: $0) } ?? "which it has let go of by now"
            log.app(
                name(app), .warning, "keeps a lock of its own on sleep at logind, which waits for it: \(lock)",
                .unfreezable)
        case .phaseChanged(let app, let phase): log.phase(of: name(app), "is \(phase.name)")
        // Its delegate says it, as of other hooks that fail.
        case .handlerNotStarted: break
        case .keepAwakeSpent(let app, let budget):
            log.app(
                name(app), .warning,
                "its background tasks have kept the board awake for \(budget.text), and do so no more before it has "
                    + "slept",
                .keepAwakeSpent)
        case .essentialAppLost(let app, let time):
            // journald writes what is critical at once: after the reset its reader wants to know why.
            reports.sync()
            log.app(
                name(app), .critical,
                "is essential and gone for good: the hardware watchdog is not fed any more, the board resets in "
                    + time.text,
                .boardAtRisk)
        }
    }

    private func say(_ notice: ShutdownNotice) {
        switch notice {
        case .preparing(let allowance):
            let limit = allowance.map { $0 > .zero ? " within \($0.text)" : " at once" } ?? ""
            log.daemon(.notice, "ending all apps\(limit)", .shutdownPreparing)
        case .cancelled: log.daemon(.notice, "the shutdown was cancelled", .shutdownPreparing)
        case .criticalBattery(let level):
            log.daemon(
                .error, "the battery is critical\(percent(level)): apps are ended and the board is switched off",
                .boardAtRisk)
        }
    }

    private func sayEnd(of sleep: Int, _ outcome: SleepOutcome) {
        switch outcome {
        case .slept: self.sleep(sleep, .info, "awake", .sleepEnded)
        case .cancelled: self.sleep(sleep, .info, "cancelled", .sleepEnded)
        case .failed:
            var text = "the board did not sleep"
            if let refusal = kernelsRefusal {
                text += "; the kernel refused" + (refusal.isEmpty ? "" : " (\(refusal))")
            }
            self.sleep(sleep, .warning, text, .sleepEnded)
        }
    }

    private func sleep(_ sleep: Int, _ priority: Journal.Priority, _ text: String, _ id: MessageID) {
        log.sleep(sleep, isLogins: core.device.sleep == sleep && core.isSleepLogins, priority, text, id)
    }

    private func say(_ notice: SleepNotice) {
        switch notice {
        case .preparing(let sleep, let allowance):
            self.sleep(sleep, .info, "apps have \(allowance.text) to get ready", .sleepPreparing)
        case .released(let sleep, let elapsed, let killed):
            let toll = killed == 0 ? "" : ", \(killed) killed"
            self.sleep(sleep, .info, "ready after \(elapsed.text)\(toll)", .sleepReleased)
        case .ended(let sleep, let outcome):
            sayEnd(of: sleep, outcome)
        case .darkWake(let sleep, let allowance):
            self.sleep(sleep, .info, "woken for background tasks, for \(allowance.text) at most", .darkWake)
        case .unannounced(let time):
            log.daemon(.notice, "the board slept for \(time.text) unannounced", .clockJumped)
        }
    }
}
