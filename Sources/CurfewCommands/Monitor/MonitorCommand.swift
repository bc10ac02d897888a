internal import ArgumentParser
internal import CLinux
internal import SystemCalls
internal import Varlink

struct MonitorCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Every change as it happens, a line each; ends with Ctrl-C.",
        discussion: "First the state of everything, then what changes. With --json: one object a line, as received.")

    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let interruption = Interruption(session.loop)
        let output = OutputWatch(session.loop)
        func isEnough() -> Bool { interruption?.isRequested == true || output.isGone }
        while true {
            let hasBegun = Reference(false)
            let end = try follow(session, hasBegun, isEnough)
            if isEnough() { return }
            if let end, end != .closed { throw .of(end, app: nil, doing: "monitored", session: session) }
            // A loop that dies leaves its sockets to the next one, which tells the state of everything again.
            session.disconnect()
            guard hasBegun.value, (try? session.control()) != nil else {
                throw CommandFailure(code: .notRunning, text: "curfewd has ended, or closed the connection")
            }
        }
    }

    /// Until the connection ends: how; nil: it is enough.
    private func follow(_ session: Session, _ hasBegun: Reference<Bool>, _ isEnough: @escaping () -> Bool)
        throws(CommandFailure) -> VarlinkError?
    {
        let control = try session.control()
        let isOver = Reference<VarlinkError?>(nil)
        var view = MonitorView()
        control.begin("Monitor", more: true) { response in
            switch response {
            case .reply(let reply, let continues):
                hasBegun.value = true
                if session.isJSON {
                    session.say(JSON.object(reply).line)
                } else {
                    for line in view.lines(for: MonitorChange(reply), session.style) { session.say(line) }
                }
                if !continues { isOver.value = .closed }
            case .error(let name, let parameters): isOver.value = .error(name: name, parameters: parameters)
            case .connectionClosed: isOver.value = control.lost
            }
        }
        func isDone() -> Bool { isOver.value != nil || isEnough() }
        // It begins at once, but where another loop has to start first: only the changes may be long in coming.
        if !session.loop.run(patience: Self.patience, { hasBegun.value || isDone() }) {
            throw .of(.timedOut, app: nil, doing: "monitored", session: session)
        }
        _ = session.loop.run { isDone() }
        return isOver.value
    }

    /// Nanoseconds: a loop that dies again and again is started after 8 s at most.
    private static let patience: Int64 = 12_000_000_000
}

/// One reply of `Monitor`.
struct MonitorChange {
    let time: LocalTime?
    let kind: String
    let app: String?
    let detail: JSON

    init(_ reply: JSONObject) {
        time = reply["time"]?.stringValue.flatMap { LocalTime($0) }
        kind = reply["kind"]?.stringValue ?? ""
        app = reply["app"]?.stringValue
        detail = reply["detail"] ?? .null
    }
}
