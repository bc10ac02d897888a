internal import Varlink

/// `Termination` of io.curfew.Control, and what the daemon keeps on disk beyond it.
struct TerminationRecord: Equatable {
    let json: JSON
    let app: String
    let time: LocalTime?
    let namespace: String
    /// "0x8badf00d".
    let code: String
    /// `TerminationReason.name`: "handlerOverrun". Empty where it is not known, as of the board.
    let kind: String
    let explanation: String
    /// The handler's method, "DidEnterBackground".
    let event: String?
    let timeAllowance: Double?
    let wallSeconds: Double?
    let cpuSeconds: Double?
    let report: String?
    /// Only where it was read from disk.
    let uptime: Double?
    let scenePhase: String?
    let sleepId: Int64?
    let output: [String]?

    init(_ json: JSON) {
        self.json = json
        let json = json.printable
        app = json["app"]?.stringValue ?? "?"
        time = json["time"]?.stringValue.flatMap { LocalTime($0) }
        namespace = json["namespace"]?.stringValue ?? "unknown"
        code = json["code"]?.stringValue ?? "0x0"
        kind = json["reason"]?.stringValue ?? ""
        explanation = json["explanation"]?.stringValue ?? ""
        event = json["event"]?.stringValue
        timeAllowance = json["timeAllowance"]?.doubleValue
        wallSeconds = json["wallSeconds"]?.doubleValue
        cpuSeconds = json["cpuSeconds"]?.doubleValue
        report = json["report"]?.stringValue
        uptime = json["uptime"]?.doubleValue
        scenePhase = json["scenePhase"]?.stringValue
        sleepId = json["sleepId"]?.intValue
        output = json["output"]?.arrayValue?.compactMap(\.stringValue)
    }

    /// What the daemon calls the end of a boot, which it keeps like an end of an app.
    static let board = "(board)"
    /// Not an app has ended, but the board itself, and not in good order.
    var isBoard: Bool { app == Self.board }

    /// The code as a number: a signal, a status, an errno.
    var number: Int64? { Int64(code.dropFirst(code.hasPrefix("0x") ? 2 : 0), radix: 16) }

    /// It had a certain time for something: for a handler, or for its background tasks.
    var isTimed: Bool { event != nil || namespace == "backgroundTask" }

    /// It was killed: for what it did, or did not do, or for the good of the board.
    var isKill: Bool {
        switch namespace {
        case _ where isBoard: false
        case "watchdog", "backgroundTask", "jetsam", "thermal": true
        default: false
        }
    }

    /// It ended as its own, an operator's or the board's wish.
    var isOrderly: Bool {
        switch namespace {
        case _ where isBoard: false
        case "user", "shutdown", "lowBattery": true
        case "exit": number == 0
        default: false
        }
    }

    /// "scene-update: DidEnterBackground did not return within 2 s (watchdog 0x8badf00d)".
    var reason: String {
        switch namespace {
        case _ where isBoard: explanation
        case "watchdog", "backgroundTask": "\(explanation) (\(namespace) \(code))"
        case "crash": "crash: \(signal)"
        case "exit": explanation
        case "unknown" where kind == "daemonDied": explanation
        default: "\(explanation) (\(namespace))"
        }
    }

    /// What happened, from its verb on: "killed: …", "crashed: …", "ended: …".
    var sentence: String {
        switch namespace {
        case _ where isBoard: "how the last boot ended: \(explanation)"
        case _ where isByOthers: reason
        case _ where isKill: "killed: \(reason)"
        case "crash": "crashed: \(signal)"
        default: "ended: \(reason)"
        }
    }

    /// "SIGSEGV (invalid memory access)".
    var signal: String { number.flatMap { SignalText.of($0) } ?? explanation }

    /// The reason, and where to read on. tool: "curfew".
    func briefly(_ tool: String) -> String {
        (report.map { "\(reason); see: \(tool) report \($0)" } ?? reason).printable
    }
}

/// signal(7), for people.
enum SignalText {
    static func of(_ number: Int64) -> String? {
        let names: [Int64: String] = [
            1: "SIGHUP (hangup)", 2: "SIGINT (interrupted)", 3: "SIGQUIT (quit)", 4: "SIGILL (illegal instruction)",
            5: "SIGTRAP (trap)", 6: "SIGABRT (aborted)", 7: "SIGBUS (bus error)", 8: "SIGFPE (arithmetic error)",
            9: "SIGKILL (killed from outside)", 11: "SIGSEGV (invalid memory access)",
            13: "SIGPIPE (wrote where no reader was left)", 14: "SIGALRM (alarm)", 15: "SIGTERM (asked to end)",
            24: "SIGXCPU (CPU limit)", 25: "SIGXFSZ (file size limit)", 31: "SIGSYS (forbidden system call)",
        ]
        return names[number]
    }
}
