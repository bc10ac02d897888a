internal import CLinux
internal import SystemCalls
internal import Varlink

/// The demo on its stage: what is heard from the daemon and from the apps, and how it is told.
final class DemoPlay {
    let session: Session
    let stage: DemoStage
    let story: Story
    private let board: PrivateBoard
    var daemon: PrivateDaemon { board.daemon }

    private(set) var apps: [String: AppRecord] = [:]
    private(set) var terminations: [TerminationRecord] = []
    /// Handlers as the apps tell of them, in order.
    private(set) var calls: [(app: String, isBegin: Bool, handler: String, at: Int64)] = []
    private(set) var device: DeviceRecord?
    private var partial: [UInt8] = []
    /// By app.
    private var endedAt: [String: Int64] = [:]

    init(_ session: Session, _ stage: DemoStage, _ daemonPath: String) throws(CommandFailure) {
        self.session = session
        self.stage = stage
        story = Story(session)
        board = try PrivateBoard(session, stage.board, program: daemonPath, subject: "the demo")
        session.loop.watch(readable: stage.story.rawValue) { [unowned self] in readStory() }
    }

    /// Goes on until the condition holds; throws when that takes too long, when the daemon ends, and on Ctrl-C.
    func wait(_ seconds: Double, for what: String, _ condition: () -> Bool) throws(CommandFailure) {
        try board.wait(seconds, for: what, condition)
    }

    /// Lets time go by.
    func pause(_ seconds: Double) throws(CommandFailure) { try board.pause(seconds) }

    // MARK: The daemon's side

    func connect() throws(CommandFailure) {
        try board.connect { [unowned self] in hear($0) }
    }

    /// One edge of a sleep; the reply, when it came.
    func sleep(start: Bool) throws(CommandFailure) -> (sleep: Int64, killed: [String], at: Int64) {
        let answer = Reference<Response?>(nil)
        board.control?.begin("PrepareForSleep", ["start": .bool(start), "kind": "logical"]) { answer.value = $0 }
        try wait(10, for: start ? "all apps being ready for sleep" : "an answer to the wake") { answer.value != nil }
        guard case .reply(let reply, _)? = answer.value else {
            throw board.failure("curfewd refused the sleep")
        }
        let killed = reply["killed"]?.arrayValue?.compactMap(\.stringValue) ?? []
        return (reply["sleepId"]?.intValue ?? 0, killed, Clocks.monotonic)
    }

    private func hear(_ change: MonitorChange) {
        switch change.kind {
        case "device":
            let next = DeviceRecord(change.detail)
            if let device { for new in next.changes(since: device) { story.tell("device", new.text, .bold) } }
            device = next
        case "app":
            let next = AppRecord(change.detail)
            let old = apps[next.name]
            apps[next.name] = next
            if let text = news(from: old, to: next) { story.tell(next.name, text, next.tone) }
        case "termination":
            let end = TerminationRecord(change.detail)
            terminations.append(end)
            endedAt[end.app] = Clocks.monotonic
            story.tell(end.app, end.sentence, end.isOrderly ? .plain : .bad)
        default: break
        }
    }

    /// What the story tells of a change: that an app ends is told by its termination.
    private func news(from old: AppRecord?, to new: AppRecord) -> String? {
        if let pid = new.mainPID, pid != old?.mainPID {
            guard let ended = endedAt[new.name] else { return "launched, pid \(pid)" }
            let pause = Amounts.duration(Double(Clocks.monotonic - ended) / 1e9)
            return "launched again, \(pause) after its end, pid \(pid)"
        }
        if new.isLeftDown, old?.isLeftDown == false { return "left down: it ended too often in a row" }
        if new.state == "terminating" || new.state == "not running" { return nil }
        return MonitorView.changes(from: old, to: new)
    }

    // MARK: The apps' side

    private func readStory() {
        var chunk = [UInt8](repeating: 0, count: 16384)
        let count = read(stage.story.rawValue, &chunk, chunk.count)
        guard count > 0 else { return }
        partial += chunk[0..<count]
        while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: partial[..<end], as: UTF8.self)
            partial.removeFirst(end + 1)
            let parts = line.split(separator: "\t", maxSplits: 2).map(String.init)
            if parts.count == 3 { hear(app: parts[0], kind: parts[1], text: parts[2]) }
        }
    }

    private func hear(app: String, kind: String, text: String) {
        if kind == "say" { return story.quote(app, text) }
        calls.append((app, kind == "begin", text, Clocks.monotonic))
    }

    /// The handlers of one app, as they began.
    func handlers(of app: String) -> [String] {
        calls.filter { $0.app == app && $0.isBegin }.map(\.handler)
    }

    /// When an app's handler returned, by its own word.
    func returned(_ app: String, _ handler: String) -> Int64? {
        calls.last { $0.app == app && !$0.isBegin && $0.handler == handler }?.at
    }

    func isState(_ app: String, _ state: String) -> Bool { apps[app]?.state == state }

    // MARK: The end

    /// Ends the daemon, and with it its apps.
    func end() { board.end(patience: 8) }

    /// A demo that failed does not wait for handlers to return, and tells nothing more.
    func abandon(_ error: CommandFailure) -> CommandFailure {
        story.isOver = true
        return board.abandon(error)
    }
}
