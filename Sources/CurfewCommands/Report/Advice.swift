internal import Configuration
internal import Lifecycle
internal import SystemCalls

/// What an owner or author of an app can do about an end of it.
struct Advice {
    let report: TerminationRecord
    let root: String

    var file: String { "\(root)/etc/curfew/apps/\(report.app).toml" }
    var deviceFile: String { "\(root)/etc/curfew/curfew.toml" }
    var tool: String { Session.tool(root: root) }
    private var journal: String { "journalctl -t curfew-\(report.app)" }

    var points: [String] {
        if report.isBoard { return boot }
        switch report.namespace {
        case "jetsam": return memory
        case "thermal": return heat
        case "lowBattery": return lowBattery
        default: return ownPoints
        }
    }

    /// For an end that is the app's own affair.
    private var ownPoints: [String] {
        switch report.namespace {
        case "watchdog": overrun
        case "crash": crash
        case "exit":
            report.number == 0
                ? background : ["See what it wrote before: \(lookAtOutput)"] + sandbox + [restarting]
        case "launchFailure": launchFailure
        case "backgroundTask": budget
        case "unknown" where report.kind == "daemonDied":
            ["Nothing is wrong with it. Why curfewd died is in the journal: journalctl -u curfewd"]
        case "unknown":
            [
                "Its main process was no child of curfewd (MAINPID=), or another program took its exit status: how it "
                    + "ended is not known. What it wrote may tell: \(lookAtOutput)"
            ]
        default: []
        }
    }

    /// Many daemons fork, and their first process exits at once.
    private var background: [String] {
        guard let uptime = report.uptime, uptime < Self.shortLife else { return [] }
        return [
            "If it put itself into the background, what it left was ended with it: give it its option to stay (often "
                + "-f, -n, -D, --no-daemon or --foreground; nginx: -g 'daemon off;')."
        ]
    }

    /// Seconds.
    private static let shortLife = 5.0

    private var overrun: [String] {
        switch (report.kind, handler) {
        case ("livenessMissed", _):
            [
                "Send WATCHDOG=1 (sd_notify) from the loop that does the app's work, at least every half of the "
                    + "interval (WATCHDOG_USEC).",
                "If its work has longer pauses, raise the interval: \(AppKeyName.liveness.set("\"…\"")) in \(file)",
                lookFirst,
            ]
        case ("unfreezable", _):
            [
                "The journal says why: journalctl -u curfewd -g 'could not be frozen'. One of its processes hangs in "
                    + "the kernel, on a file system that does not answer (FUSE, NFS) or a device; or it holds a lock "
                    + "on sleep at logind for over two seconds: let go of that when PrepareForSleep says true.",
                "An app that has to work there can stay as it is through a sleep: suspend = false in \(file)",
            ]
        case ("lockTableFilled", _):
            [
                "It takes locks at logind (Inhibit) and does not let go of them: close the descriptor of each.",
                lookFirst,
            ]
        case ("sleepLockHeld", _):
            [
                "It runs through sleeps (suspend = false) and held a lock of its own on sleep at logind: let go of it "
                    + "when PrepareForSleep says true. An app that has handlers needs no such lock: curfewd keeps "
                    + "one for all, until DidEnterBackground has returned.",
                lookFirst,
            ]
        case ("readinessMissed", _):
            [
                "With \(AppKeyName.readiness.setting("notify")) the app must send READY=1 to NOTIFY_SOCKET when it is "
                    + "ready.", lookFirst,
            ] + allowance(.didFinishLaunching)
        case ("exitOverrun", _), ("handlerOverrun", .willTerminate):
            ["Have it exit soon after SIGTERM (or WillTerminate).", lookFirst] + allowance(.willTerminate)
        case ("handlerOverrun", .didFinishLaunching): [load, stranger, lookFirst] + allowance(.didFinishLaunching)
        default: [load, lookFirst] + (handler.map { allowance($0) } ?? []) + sleepLimit
        }
    }

    private var stranger: String {
        "A program that does not know Curfew never answers: it wants \(AppKeyName.delegate.setting("none")), or "
            + "\"hooks\" or \"signals\", in \(file) (with curfew try: --delegate none)."
    }

    private var handler: Handler? { Handler.allCases.first { $0.method == report.event } }

    private var load: String {
        let name = report.event ?? "the handler"
        switch ReportAccount(report: report, root: root, now: LocalTime(milliseconds: 0)).load {
        case .waiting:
            return "It hung: find what \(name) waits for (a lock, the network, a device, a reply that was never sent)."
        case .computing: return "It computed all the time: have \(name) do less, and the rest at another time."
        case .unclear: return "Have \(name) return sooner: do the least that is needed, and the rest at another time."
        }
    }

    var lookFirst: String { "See what it wrote last: \(lookAtOutput)" }

    var lookAtOutput: String {
        if let output = report.output, !output.isEmpty { return "the lines above" }
        // Without a journal all that it wrote would be here.
        let isJournalled = root.isEmpty && Files.exists("/run/systemd/journal/socket")
        return isJournalled ? journal : "it wrote nothing; \(tool) status \(report.app)"
    }

    /// Nothing for a handler without an allowance of its own, or with the longest there is; nor where a sleep has cut
    /// it (then it is no whole second), as more of its own would change nothing.
    private func allowance(_ handler: Handler) -> [String] {
        let key = AppKeyName.declared.first { $0.table == "allowances" && $0.name == handler.key }
        let had = report.timeAllowance ?? 5
        if report.sleepId != nil, had != had.rounded() { return [] }
        guard let key, let more = key.doubled(had) else { return [] }
        return [
            "If it needs longer by design, raise its allowance in \(file): [\(key.table)] \(key.name) = \"\(more)s\""
        ]
    }

    /// Background time that ran out.
    private var budget: [String] {
        if let name = report.app.suffix(after: "task-") {
            let had = report.timeAllowance.map { Int(($0 * 2).rounded(.up)) } ?? 1200
            return [
                "It got SIGTERM shortly before: have it save its progress then, so that the next run can go on.",
                "If it needs longer by design: \(tool) run --name \(name) --budget \(had)s -- …",
            ]
        }
        var points = [
            "End each task as soon as its work is done, and in its expiration handler (BackgroundTaskWillExpire) at "
                + "the latest: there, stop the work, save how far it got, end the task.",
            "Do the work in chunks that can be taken up again, so that a run that is cut short is not lost.", lookFirst,
        ]
        // What the model grants an app that held no task when it left the front.
        if report.timeAllowance == 30 {
            points.append(
                "Begin the task before DidEnterBackground has returned: then there is the whole "
                    + "\(AppKeyName.taskBudget.name) for it; a task that is begun later has what is left of 30 s.")
        }
        let had = max(300, report.timeAllowance ?? 600)
        guard let more = AppKeyName.taskBudget.declaration?.doubled(had) else { return points }
        let key = AppKeyName.taskBudget.set("\"\(more)s\"")
        return points + ["If it needs longer by design, raise its budget in \(file): \(key)"]
    }

    private var sleepLimit: [String] {
        guard report.sleepId != nil else { return [] }
        return [
            "Before a sleep all apps together have what logind grants (InhibitDelayMaxSec in logind.conf, 5 s by "
                + "default), whatever a single one is allowed. One that is ended at a sleep has half the time at the "
                + "next, down to 500 ms, until it has gone to background in time."
        ]
    }

    private var crash: [String] {
        var points = ["See what it wrote last: \(lookAtOutput)"]
        if root.isEmpty, Self.coreSignals.contains(report.number ?? 0) {
            points.append("Where systemd-coredump is installed: coredumpctl info \(report.app)")
        }
        if let handler, let name = Self.handlerSignals[report.number ?? 0] {
            points.append(
                "It ended in \(handler.method): if [signals] in \(file) names \(name) for that, the signal was "
                    + "curfewd's, and the program has to catch it. What it does not know, it needs no signal for.")
        }
        if report.number == 9 {
            points.append("SIGKILL came from outside: a person or another program, or the kernel (journalctl -k).")
        }
        return points + [restarting]
    }

    /// Those that leave a core (signal(7)): SIGQUIT, ILL, TRAP, ABRT, BUS, FPE, SEGV, XCPU, XFSZ and SYS.
    private static let coreSignals: [Int64] = [3, 4, 5, 6, 7, 8, 11, 24, 25, 31]

    /// Those that end a program which does not catch them, and tell of no fault of its own.
    private static let handlerSignals: [Int64: String] = [
        1: "SIGHUP", 2: "SIGINT", 10: "SIGUSR1", 12: "SIGUSR2", 14: "SIGALRM", 15: "SIGTERM",
    ]

    private var restarting: String {
        let keys = [AppKeyName.restart, .restartDelay, .restartLimit].map(\.name)
        return "How often it is restarted: \(keys[0]), \(keys[1]) and \(keys[2]) in \(file); after a fix: "
            + "\(tool) launch \(report.app)"
    }

    /// What a file system refuses looks like a fault of the program.
    private var sandbox: [String] {
        // Of a command there is no file.
        if report.app.suffix(after: "task-") != nil { return [] }
        let keys = [AppKeyName.readWritePaths, .readOnlyPaths, .devices, .capabilities].map(\.name)
        return [
            "If it lacks a file, a right or a place to write: where it has a \(AppKeyName.sandbox.name) "
                + "(\(tool) status \(report.app)), that hides or protects it; name what it needs in \(keys[0]), "
                + "\(keys[1]), \(keys[2]) or \(keys[3])."
        ]
    }

    private var launchFailure: [String] {
        var points: [String] = []
        switch report.number {
        case 2?:
            points.append(
                "Check that the program, its interpreter, its user and its \(AppKeyName.workingDirectory.name) exist.")
        case 13?:
            points.append(
                "Check that the app's user may execute the program and enter its "
                    + "\(AppKeyName.workingDirectory.name).")
        case 8?: points.append("The program is built for another machine, or a script without a #! line.")
        default: break
        }
        return points + sandbox + [
            "Check \(AppKeyName.exec.name) in \(file), then: \(tool) check; \(tool) reload; "
                + "\(tool) launch \(report.app)"
        ]
    }
}
