internal import Journal
internal import Lifecycle
internal import SystemCalls

// What becomes of an end that the core reports: a line on disk, one in the journal, a word to those who watch.

extension Supervisor {
    /// Records an end before anything follows from it.
    func record(_ termination: Termination) {
        let process = processes[termination.instance.rawValue]
        let report = Report(
            id: reports.nextID(), time: Clocks.realtime, subject: .app(termination),
            cpuNanoseconds: process?.cpuNanoseconds,
            output: apps[termination.app.rawValue]?.output?.lastLines(20, bytes: 4096) ?? [])
        lastReports[termination.app.rawValue] = report
        keptState?.note(endOf: termination.app.rawValue, isWritten: false)
        keep(report)
        keptState?.note(endOf: termination.app.rawValue, isWritten: true)
        say(termination, in: report)
        if process == nil, let app = apps[termination.app.rawValue] { app.process = nil }
    }

    /// Ends of which no core knows: of instances ("camera.3") that a daemon which died had left. signal: what ended its
    /// loop, where its keeper lives. endedBefore: those in which nothing ran any more.
    func recordLeftovers(_ instances: [String], endedBefore: [String], signal: Int32?) {
        let explanation =
            signal.map { "signal \($0) ended curfewd's loop, and the app was ended with it" }
            ?? "an earlier curfewd had left it, and the one after it has ended it"
        for instance in instances where Self.app(ofGroup: instance) != Upgrading.group {
            keep(
                Report(
                    id: reports.nextID(), time: Clocks.realtime,
                    subject: .told(
                        name: Self.app(ofGroup: instance), .unknown,
                        explanation: endedBefore.contains(instance)
                            ? "it ended while no curfewd watched; how is not known" : explanation),
                    cpuNanoseconds: nil, output: []))
        }
    }

    /// "camera" of "camera.3".
    static func app(ofGroup name: String) -> String {
        String(name[..<(name.utf8.lastIndex(of: UInt8(ascii: ".")) ?? name.utf8.endIndex)])
    }

    /// Writes a report and tells those who watch.
    func keep(_ report: Report) {
        do throws(SystemError) {
            try reports.append(report)
        } catch {
            log.app(report.name, .error, "its report \(report.id) could not be written: \(error.text)")
        }
        control?.didTerminate(report)
    }

    private func say(_ termination: Termination, in report: Report) {
        let reason = termination.reason
        let code = "0x" + String(reason.code, radix: 16)
        var fields = [
            ("CURFEW_REPORT", "\(report.id)"),
            ("CURFEW_NAMESPACE", reason.namespace.name), ("CURFEW_CODE", code), ("CURFEW_REASON", reason.name),
            ("CURFEW_WHY", reason.explanation),
        ]
        if let handler = termination.handler { fields.append(("CURFEW_EVENT", handler.method)) }
        if let sleep = termination.sleep { fields.append(("CURFEW_SLEEP_ID", "\(sleep)")) }
        if let key = reason.limitKey { fields.append(("CURFEW_KEY", key)) }
        // A command that was asked to end in time has ended by itself.
        let isKilled = reason.namespace == .watchdog || reason.namespace == .backgroundTask && termination.taken != nil
        let what = isKilled ? "killed" : reason.namespace == .launchFailure ? "could not be launched" : "ended"
        let text =
            "\(what): \(reason.explanation) (\(reason.namespace.name)" + (isKilled ? " \(code)" : "")
            + "); see: curfew report \(report.id)"
        let say = reason.namespace == .user ? log.ordered : log.ended
        say(
            termination.name, isKilled ? .error : reason.isFailure ? .warning : .info, text,
            Self.message(of: reason.namespace), fields, apps[termination.app.rawValue]?.adopter)
    }

    private static func message(of namespace: TerminationNamespace) -> MessageID {
        switch namespace {
        case .watchdog: .appKilledByWatchdog
        case .backgroundTask: .appSpentBudget
        case .jetsam: .appKilledForMemory
        case .thermal: .appKilledForHeat
        case .crash: .appCrashed
        case .launchFailure: .appLaunchFailed
        case .lowBattery, .user, .exit, .shutdown, .unknown: .appEnded
        }
    }
}
