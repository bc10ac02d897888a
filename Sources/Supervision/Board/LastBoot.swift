internal import HardwareWatchdog
internal import Journal
internal import Lifecycle
internal import SystemCalls

// What is said of the end of the boot before: a line of the journal, and a report of the board.

extension BootCause {
    /// Whether the end of the boot before is kept like the end of an app: it was not in good order, and a
    /// daemon had watched that boot.
    fileprivate var isReported: Bool { evidence.lastWord != nil && kind != .reboot && kind != .shutdown }

    fileprivate var namespace: TerminationNamespace {
        switch kind {
        case .watchdog: .watchdog
        case .panic: .crash
        case .overheat: .thermal
        case .lowBattery: .lowBattery
        case .powerLoss, .unknown, .reboot, .shutdown: .unknown
        }
    }
}

extension Supervisor {
    /// before: what was said of it when less was known.
    func reportBoot(_ cause: BootCause, before: BootCause?) {
        guard cause.evidence.lastWord != nil else { return }
        guard cause.isReported else {
            return log.daemon(.info, "the board started anew: it was " + cause.explanation, .bootCause)
        }
        let introduction = "how the last boot ended" + (before == nil ? ": " : ", now that its watchdog is there: ")
        log.daemon(.warning, introduction + cause.explanation, .bootCause)
        // More is known now than the last report says.
        let former = before?.isReported == true ? reports.last(of: Report.board) : nil
        keep(
            Report(
                id: former ?? reports.nextID(), time: Clocks.realtime,
                subject: .told(name: Report.board, cause.namespace, explanation: cause.explanation),
                cpuNanoseconds: nil, output: []))
    }
}
