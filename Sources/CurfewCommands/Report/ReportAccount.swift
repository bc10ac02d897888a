internal import Lifecycle

/// One end of an app, told so that a stranger understands it.
struct ReportAccount {
    let report: TerminationRecord
    let root: String
    let now: LocalTime

    func lines(_ style: Style, width: Int?) -> [String] {
        let title = report.report.map { "Report \($0): " } ?? ""
        var lines = [style.paint(title, .dim) + style.paint(headline.printable, report.isOrderly ? .bold : .bad), ""]
        lines += facts.lines(style, width: width)
        if let output = report.output, !output.isEmpty {
            lines += ["", style.paint("The last lines it wrote:", .bold)]
            lines += output.suffix(20).map { "  " + $0.printable }
        }
        let advice = adviceLines(width: width)
        if !advice.isEmpty { lines += ["", style.paint("What to do:", .bold)] + advice }
        return lines
    }

    /// What can be done about it, point by point.
    func adviceLines(width: Int?) -> [String] {
        Advice(report: report, root: root).points.flatMap { point in
            let parts = point.printable.wrapped(min(width ?? 100, 100) - 4)
            return parts.enumerated().map { ($0 == 0 ? "  - " : "    ") + $1 }
        }
    }

    /// What happened, in one sentence.
    var headline: String {
        let app = report.app
        if report.isBoard { return "the board did not go down in good order" }
        switch report.namespace {
        case "jetsam":
            return report.isByOthers
                ? "\(app) was killed by others than Curfew: memory was used up"
                : "\(app) was killed to give its memory back: the board ran out of it"
        case "thermal": return "\(app) was killed: the board was too hot (\(report.code))"
        case "lowBattery": return "\(app) was ended: the battery was critical, and the board was switched off"
        case "watchdog":
            return "\(app) was killed\(overrun) (\(report.code))"
        case "backgroundTask":
            return "\(app) was killed: its background time ran out while it still held a task (\(report.code))"
        case "crash": return "\(app) crashed: \(report.signal)"
        case "exit":
            return report.number == 0
                ? "\(app) exited by itself" : "\(app) exited with status \(report.number.map { "\($0)" } ?? "?")"
        case "launchFailure": return "\(app) could not be started"
        case "user": return "\(app) was ended by an operator"
        case "shutdown": return "\(app) was ended because the device, or curfewd, was shutting down"
        case "unknown" where report.kind == "daemonDied": return "\(app) was ended because curfewd itself had died"
        case "unknown": return "\(app) ended, and curfewd could not learn how"
        default: return "\(app) was ended: \(report.namespace) (\(report.code))"
        }
    }

    /// ": it took too long to end".
    private var overrun: String {
        switch (report.kind, report.event ?? "") {
        case ("readinessMissed", _), ("handlerOverrun", Handler.didFinishLaunching.method):
            ": it took too long to launch"
        case ("exitOverrun", _), ("handlerOverrun", Handler.willTerminate.method): ": it took too long to end"
        case ("handlerOverrun", let handler): ": its handler \(handler) overran its deadline"
        case ("livenessMissed", _): ": it gave no sign of life"
        case ("unfreezable", _): ": it could not be frozen"
        case ("sleepLockHeld", _): ": it held up sleep after sleep"
        case ("lockTableFilled", _): ": it left curfewd no lock at logind"
        default: " by its watchdog"
        }
    }

    private var facts: Labelled {
        var facts = Labelled()
        if let time = report.time {
            facts.add(
                report.isBoard ? "Noticed" : "When",
                "\(time.full) (\(Amounts.age(Double(now.milliseconds - time.milliseconds) / 1000)))")
        }
        facts.add("During", report.sleepId.map { "sleep \($0), as the board got ready for it or slept" })
        facts.add("What", report.explanation.isEmpty ? nil : report.explanation)
        if report.isBoard {
            return facts
        }
        facts.add("Handler", report.event.map { event in handlerMeaning(event).map { "\(event): \($0)" } ?? event })
        facts.add("Allowed", report.isTimed ? allowed : nil)
        facts.add("Took", report.isTimed ? took : nil)
        facts.add("CPU time", cpu)
        facts.add(
            "Had run for", (report.uptime ?? (report.isTimed ? nil : report.wallSeconds)).map(Amounts.duration))
        facts.add("Scene phase", report.scenePhase)
        facts.add("Reason", "\(report.namespace), code \(report.code)")
        return facts
    }

    private var allowed: String? {
        guard let allowance = report.timeAllowance else { return nil }
        let isBudget = report.namespace == "backgroundTask"
        return Amounts.duration(allowance) + (isBudget ? " of background time, for all its tasks together" : "")
    }

    private var took: String? {
        guard let wall = report.wallSeconds else { return nil }
        guard report.isKill else { return Amounts.duration(wall) }
        let exact = wall < 60 ? Amounts.fixed(wall, 3) + " s" : Amounts.duration(wall)
        return exact + ", then all its processes were killed"
    }

    private var cpu: String? {
        guard let cpu = report.cpuSeconds else { return nil }
        let total = "\(Amounts.duration(cpu)) in its whole run"
        let span = report.namespace == "backgroundTask" ? "its background time" : "the handler"
        switch load {
        case .waiting: return "\(total): in \(span) it was waiting for something, not computing"
        case .computing: return "\(total): in \(span) it was busy computing"
        case .unclear: return total
        }
    }

    enum Load { case waiting, computing, unclear }

    /// Hung or busy? CPU time is known for the whole run only; sometimes that says enough.
    var load: Load {
        guard let cpu = report.cpuSeconds, let wall = report.wallSeconds, report.isTimed, wall > 0.05 else {
            return .unclear
        }
        if cpu < 0.25 * wall { return .waiting }
        guard let uptime = report.uptime else { return .unclear }
        let before = max(0, uptime - wall)
        return cpu - before > 0.5 * wall ? .computing : .unclear
    }

    private func handlerMeaning(_ event: String) -> String? {
        switch event {
        case "DidFinishLaunching": "called when its process has been started"
        case "DidBecomeActive": "called when it has come to the front"
        case "WillResignActive": "called when it is about to leave the front"
        case "DidEnterBackground": "called when it has left the front, to save what must not be lost"
        case "WillEnterForeground": "called when it is about to come back to the front"
        case "WillTerminate": "called when it is about to be ended"
        case "BackgroundTaskWillExpire": "called when a task's time is about to run out, to end that task"
        default: nil
        }
    }
}
