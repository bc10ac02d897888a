internal import SystemCalls

extension DemoPlay {
    /// The story, from the start of the daemon to the verdict.
    func perform() throws(CommandFailure) {
        try launch()
        let sleep = try fallAsleep()
        try wakeUp()
        let report = showReport()
        story.chapter("The end")
        end()
        let seconds = Amounts.fixed(story.elapsed, 1)
        story.note("curfewd has ended all apps and itself, after \(seconds) s; its folder is removed. What was shown:")
        let checks = verdict(sleep, report)
        story.verdict(checks)
        let problems = checks.filter { !$0.holds }
        guard problems.isEmpty else {
            throw .failed("the demo failed: not true: \(problems.map(\.text).joined(separator: "; "))")
        }
        if !session.isJSON { story.chapter("Now with your own program", Self.next) }
    }

    private static let next =
        "A file of one line, /etc/curfew/apps/NAME.toml with exec = [\"/path/to/program\"], then: curfew reload; "
        + "curfew status. What else it may say: man curfew-app."

    private func launch() throws(CommandFailure) {
        story.chapter(
            "Four apps start",
            "A private curfewd in \(stage.root) supervises four apps; nothing outside that folder is touched. What an "
                + "app says itself stands in quotes.")
        let width = DemoApp.Kind.allCases.reduce(0) { max($0, $1.rawValue.count) }
        story.block(
            DemoApp.Kind.allCases.map {
                session.style.paint($0.rawValue.padded(width), .bold) + "  " + $0.role
            })
        try connect()
        if let problem = device?.freezingProblem {
            story.note(
                "Freezing is not available here (\(problem)). Apps are told of the sleep, but run on; the story goes "
                    + "on without it.", .caution)
        }
        try wait(8, for: "prompt, slow and hang being active") {
            isState("prompt", "active") && isState("slow", "active") && isState("hang", "active")
        }
        try wait(8, for: "crash being left down") { apps["crash"]?.isLeftDown == true }
    }

    private func fallAsleep() throws(CommandFailure) -> DemoSleep {
        story.chapter(
            "The board goes to sleep",
            "All apps are told at once, and each has a few seconds to get ready (hang: 2 s). The board waits for all "
                + "of them, but for none longer than it was allowed.")
        let begun = Clocks.monotonic
        let answer = try sleep(start: true)
        var sleep = DemoSleep(begun: begun, ready: answer.at, killed: answer.killed)
        let toll = answer.killed.isEmpty ? "" : "; killed: \(answer.killed.joined(separator: ", "))"
        let seconds = Double(answer.at - begun) / 1e9
        story.tell("device", "may sleep, \(Amounts.duration(seconds)) after it was announced\(toll)", .good)
        try wait(1, for: "word that the device is asleep") { device?.sleepState == "asleep" }
        sleep.statesAsleep = apps.mapValues(\.state)
        story.note("… the board sleeps for a second …")
        try pause(1)
        return sleep
    }

    private func wakeUp() throws(CommandFailure) {
        story.chapter(
            "The board wakes up",
            "Apps come back to where they were. hang was killed, and is started anew; that had to wait for the wake."
        )
        _ = try sleep(start: false)
        try wait(5, for: "prompt, slow and hang being active again") {
            isState("prompt", "active") && isState("slow", "active") && isState("hang", "active")
        }
    }

    /// The report of the killed app, as `curfew report` tells it.
    private func showReport() -> TerminationRecord? {
        let heard = terminations.last { $0.app == "hang" && $0.namespace == "watchdog" }
        let stored = StoredReports.read(root: stage.root).reports.last { $0.report == heard?.report && heard != nil }
        guard let report = stored ?? heard else { return nil }
        story.chapter("Why was hang killed?", "curfew report \(report.report ?? "--last") says:")
        let account = ReportAccount(
            report: report, root: "", now: LocalTime(milliseconds: Clocks.realtime / 1_000_000))
        let width = session.console.width.map { max(40, $0 - 2) }
        story.block([""] + account.lines(session.style, width: width))
        return stored
    }
}

/// What was seen of the demo's sleep.
struct DemoSleep {
    /// CLOCK_MONOTONIC.
    let begun: Int64
    let ready: Int64
    let killed: [String]
    var statesAsleep: [String: String] = [:]
}

extension DemoPlay {
    /// What the demo is there to show, each as a statement that is true or not.
    func verdict(_ sleep: DemoSleep, _ report: TerminationRecord?) -> [DemoCheck] {
        var checks = [
            DemoCheck("hang, and only hang, was killed for the sleep", sleep.killed == ["hang"]),
            hangCheck(report),
            readyCheck(sleep),
            DemoCheck(
                "prompt and slow heard every call in its order and are back in front",
                handlers(of: "prompt").starts(with: Self.lockStep) && handlers(of: "slow").starts(with: Self.lockStep)
                    && terminations.allSatisfy { !["prompt", "slow"].contains($0.app) || $0.namespace == "shutdown" }),
            DemoCheck(
                "hang was started again after the wake, not before",
                handlers(of: "hang").filter { $0 == "DidFinishLaunching" }.count == 2),
            DemoCheck(
                "crash was restarted twice with growing delays, then left down",
                handlers(of: "crash").filter { $0 == "DidFinishLaunching" }.count == 3
                    && terminations.filter { $0.app == "crash" && $0.namespace == "crash" }.count == 3),
            DemoCheck("every process has ended", daemon.hasEnded),
        ]
        if device?.freezingProblem == nil {
            let frozen = ["prompt", "slow"].allSatisfy { sleep.statesAsleep[$0] == "suspended" }
            checks.insert(DemoCheck("prompt and slow were frozen while the board slept", frozen), at: 3)
        }
        return checks
    }

    private static let lockStep = [
        "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground", "WillEnterForeground",
        "DidBecomeActive",
    ]

    private func hangCheck(_ report: TerminationRecord?) -> DemoCheck {
        let late = report?.wallSeconds.map { $0 - 2 } ?? -1
        return DemoCheck(
            "hang was killed with 0x8badf00d, \(Amounts.duration(late)) after its deadline and not before",
            report?.code == "0x8badf00d" && report?.event == "DidEnterBackground" && late >= 0 && late < 0.5)
    }

    /// The sleep waits for the slow app and for the end of the hanging one, and for nothing else.
    private func readyCheck(_ sleep: DemoSleep) -> DemoCheck {
        let seconds = Double(sleep.ready - sleep.begun) / 1e9
        let slow = returned("slow", "DidEnterBackground") ?? .max
        return DemoCheck(
            "the board could sleep after \(Amounts.duration(seconds)), once slow was ready and hang was dead",
            slow <= sleep.ready && seconds >= 2 && seconds < 3.5)
    }
}
