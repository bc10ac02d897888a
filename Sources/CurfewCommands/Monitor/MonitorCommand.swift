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
        let control = try session.control()
        let isOver = Reference<VarlinkError?>(nil)
        let hasBegun = Reference(false)
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
        func isEnough() -> Bool { interruption?.isRequested == true || output.isGone }
        func isDone() -> Bool { isOver.value != nil || isEnough() }
        // It begins at once: only the changes may be long in coming.
        if !session.loop.run(patience: DaemonConnection.patience, { hasBegun.value || isDone() }) {
            throw .of(.timedOut, app: nil, doing: "monitored", session: session)
        }
        _ = session.loop.run { isDone() }
        if isEnough() { return }
        switch isOver.value {
        case .closed?, nil:
            throw CommandFailure(code: .notRunning, text: "curfewd has ended, or closed the connection")
        case let error?: throw .of(error, app: nil, doing: "monitored", session: session)
        }
    }
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
