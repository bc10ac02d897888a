internal import SystemCalls
internal import Varlink

/// An app on its private board: what is done to it, and what is heard of it.
final class TryPlay {
    private static let interface = "io.curfew.Trial"
    /// How long news may be on its way.
    static let grace = 1.0

    let session: Session
    let board: PrivateBoard
    let story: Story
    let app: String
    private let output: AppOutput
    private var watch: DaemonConnection?

    private(set) var state: AppRecord?
    private(set) var device: DeviceRecord?
    /// By identifier, while they are held.
    private(set) var tasks: [Int64: BackgroundTaskRecord] = [:]
    private(set) var endedTasks: [BackgroundTaskRecord] = []
    private(set) var handled: [HandledRecord] = []
    private(set) var terminations: [TerminationRecord] = []
    /// What it had written last before each of them.
    private var lastLines: [[String]] = []
    /// What keys have made of the board.
    var played: Set<String> = []
    /// How many ends there were before the step that is performed.
    private var endsBefore = 0

    init(_ session: Session, _ board: PrivateBoard, app: String, output: AppOutput) {
        self.session = session
        self.board = board
        self.app = app
        self.output = output
        story = Story(session, widestName: app.count)
        output.onLine = { [unowned self] in story.quote(app, $0) }
    }

    /// Whether frozen processes are to be had here.
    var canFreeze: Bool { board.freezingProblem == nil }

    // MARK: The begin and the end

    func begin(program: String, inBackground: Bool) throws(CommandFailure) {
        try board.connect { [unowned self] in hear($0) }
        try listenToHandlers(program)
        if let invalid = state?.invalid { throw CommandFailure(code: .usage, text: invalid.printable) }
        if let problem = board.freezingProblem {
            story.note("Freezing is not available here (\(problem)): in background the app runs on.", .caution)
        }
        let launch = inBackground ? ("Launch", ["app": .string(app), "background": true] as JSONObject) : nil
        let (method, parameters) = launch ?? ("Activate", ["app": .string(app)])
        let answer = Reference<Response?>(nil)
        board.control?.begin(method, parameters) { answer.value = $0 }
        try board.wait(for: "the launch was over") { answer.value != nil }
        if let problem = answer.value.flatMap({ Self.problem($0) }) { story.tell(app, problem, .bad) }
    }

    private func listenToHandlers(_ program: String) throws(CommandFailure) {
        let watch = try board.another()
        self.watch = watch
        let known = Reference<[String]?>(nil)
        watch.begin("GetInfo", of: "org.varlink.service") { response in
            guard case .reply(let reply, _) = response else { return known.value = [] }
            known.value = reply["interfaces"]?.arrayValue?.compactMap(\.stringValue) ?? []
        }
        try board.wait(5, for: "an answer of curfewd") { known.value != nil }
        guard known.value?.contains(Self.interface) == true else {
            throw .failed("\(program) cannot be used for trials: it is of another version than this tool")
        }
        watch.begin("Watch", of: Self.interface, more: true) { [unowned self] response in
            if case .reply(let reply, _) = response { hear(HandledRecord(reply["handled"] ?? .null)) }
        }
    }

    /// Ends the app as an operator would, and lets the last news come.
    func finish() throws(CommandFailure) {
        if let state, state.invalid == nil, state.taskState != "notRunning" {
            let answer = Reference<Response?>(nil)
            board.control?.begin("Terminate", ["app": .string(app)]) { answer.value = $0 }
            try board.wait(for: "the app had ended") { answer.value != nil }
            _ = try board.isTrue(within: Self.grace, "the app had ended") { state.taskState == "notRunning" }
        }
        try settle()
        output.flush()
    }

    /// Lets news that were sent before an answer, on other connections, be told before what comes next.
    private func settle() throws(CommandFailure) { try board.pause(0.02) }

    var verdict: TryVerdict {
        let held = tasks.values.sorted { $0.identifier < $1.identifier }
        return TryVerdict(
            app: app, handled: handled, tasks: endedTasks + held,
            terminations: zip(terminations, lastLines).map(complete))
    }

    /// A report as the daemon stored it, with what the app wrote.
    private func complete(_ heard: TerminationRecord, _ lines: [String]) -> TerminationRecord {
        let stored = StoredReports.read(root: board.root.path).reports.last { $0.report == heard.report }
        guard case .object(var object) = (stored ?? heard).json else { return heard }
        object["output"] = .array(lines.map { .string($0) })
        return TerminationRecord(.object(object))
    }

    // MARK: What is done

    /// Asks for it; the handler gets why it was not done, if so.
    func begin(_ action: TryAction, _ handler: @escaping (String?) -> Void) {
        story.tell("step", action.text, .bold)
        endsBefore = terminations.count
        let target = JSONObject(dictionaryLiteral: ("app", .string(app)))
        switch action {
        case .front: call("Activate", target, handler)
        case .background: call("Background", target, handler)
        case .sleep: call("PrepareForSleep", ["start": true, "kind": "logical"], handler)
        case .wake: call("PrepareForSleep", ["start": false, "kind": "logical"], handler)
        case .memoryWarning(let level):
            let parameters: JSONObject = ["app": .string(app), "level": .string(level)]
            call("WarnOfMemory", parameters, of: Self.interface, handler)
        case .condition(let word):
            let parameters: JSONObject = [word.parameter: word.value]
            if word.parameter == TryBoardWord.lowPower {
                call("SetLowPowerMode", parameters, handler)
            } else {
                call("SetCondition", parameters, of: Self.interface, handler)
            }
        case .skip(let seconds):
            call("Skip", ["seconds": .number(seconds)], of: Self.interface) { [unowned self] problem in
                if problem == nil { story.skipped += seconds }
                handler(problem)
            }
        }
    }

    private func call(
        _ method: String, _ parameters: JSONObject, of interface: String? = nil, _ handler: @escaping (String?) -> Void
    ) {
        board.control?.begin(method, parameters, of: interface) { handler(Self.problem($0)) }
    }

    /// nil for what was done. That the app ended meanwhile is told by its end.
    private static func problem(_ response: Response) -> String? {
        guard case .error(let name, let parameters) = response else { return nil }
        let short = name.split(separator: ".").last.map(String.init) ?? name
        switch short {
        case "AppEnded": return nil
        case "NotRunning": return "not done: the app is not running"
        case "Denied": return "not done: " + (parameters["reason"]?.stringValue ?? "denied")
        default: return "not done: \(short)"
        }
    }

    /// Performs a script; what went wrong: "FILE:3: expected …". It ends with the first such line.
    func perform(_ script: TryScript, file: String) throws(CommandFailure) -> String? {
        for line in script.lines {
            guard let problem = try perform(line) else { continue }
            let text = "\(file):\(line.number): \(line.text): \(problem)"
            story.tell("step", text, .bad)
            return text
        }
        return nil
    }

    private func perform(_ line: TryScript.Line) throws(CommandFailure) -> String? {
        switch line.step {
        case .act(let action):
            let outcome = Reference<String??>(nil)
            begin(action) { outcome.value = .some($0) }
            try board.wait(for: "line \(line.number) of the script was done") { outcome.value != nil }
            try settle()
            return outcome.value ?? nil
        case .expect(let condition):
            story.tell("step", line.text, .bold)
            return try wait(for: condition, Self.grace)
        case .waitFor(let condition, let seconds):
            story.tell("step", line.text, .bold)
            return try wait(for: condition, seconds)
        }
    }

    private func wait(for condition: TryExpectation, _ seconds: Double) throws(CommandFailure) -> String? {
        let isTrue = try board.isTrue(within: seconds, "\(condition.text) came true") { holds(condition) }
        return isTrue ? nil : "not so: \(standing)"
    }

    func holds(_ condition: TryExpectation) -> Bool {
        switch condition {
        case .active: state?.state == "active"
        case .inactive: state?.state == "inactive"
        case .background: state?.state == "background"
        // Where nothing is frozen: what would be.
        case .suspended: state?.state == "suspended" || !canFreeze && state?.state == "background" && tasks.isEmpty
        case .ended: terminations.count > endsBefore || state?.taskState == "notRunning"
        case .task(let name): tasks.values.contains { name == nil || $0.name == name }
        case .noTasks: tasks.isEmpty
        }
    }

    /// "the app is background, and holds “upload” (7)".
    var standing: String {
        let held = tasks.values.sorted { $0.identifier < $1.identifier }.map(\.title)
        return "the app is \(state?.state ?? "not known")"
            + (held.isEmpty ? ", and holds no task" : ", and holds \(held.joined(separator: ", "))")
    }

    // MARK: What is heard

    private func hear(_ change: MonitorChange) {
        switch change.kind {
        case "device":
            let next = DeviceRecord(change.detail)
            if let old = device { for new in next.changes(since: old) { story.tell("device", new.text, new.tone) } }
            device = next
        case "app" where change.app == app:
            let next = AppRecord(change.detail)
            let old = state
            state = next
            // Its end is told by its termination; what it was before its launch is not told.
            guard old != nil, next.state != "terminating", next.state != "not running" || next.isLeftDown else {
                return
            }
            if let text = MonitorView.changes(from: old, to: next) { story.tell(app, text, next.tone) }
        case "task" where change.app == app:
            let next = BackgroundTaskRecord(change.detail)
            let text = MonitorView.changes(from: tasks[next.identifier], to: next, isNew: true)
            tasks[next.identifier] = next.ended == nil ? next : nil
            if next.ended != nil { endedTasks.append(next) }
            if let text { story.tell(app, text, next.ended == "expired" ? .bad : .accent) }
        case "termination" where change.app == app:
            let end = TerminationRecord(change.detail)
            terminations.append(end)
            lastLines.append(output.lastLines)
            story.tell(app, end.sentence, end.isOrderly ? .plain : .bad)
        default: break
        }
    }

    private func hear(_ call: HandledRecord) {
        guard call.app == app else { return }
        handled.append(call)
        let tone: Tone = call.outcome == "returned" ? .plain : call.outcome == "overran" ? .bad : .caution
        story.tell(app, call.sentence, tone)
    }
}
