internal import Configuration
internal import EventLoop
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// `Monitor`: the state of everything once, then every change, to each client that asked.
final class MonitorFeed {
    private unowned(unsafe) let supervisor: Supervisor
    private var requests: [Request] = []
    /// Apps that have changed what they say of themselves, in the order in which they did.
    private var newWords: [AppID] = []
    private var wordsTimer: TimerSource?

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func add(_ request: Request) {
        guard request.wantsMore else { return request.fail(.expectedMore) }
        // Its answers would come after those of the first, which never end.
        if requests.contains(where: { $0.connection === request.connection }) { return }
        requests.append(request)
        request.onCancelled = { [unowned(unsafe) self, unowned(unsafe) request] in
            requests.removeAll { $0 === request }
        }
        send(to: request, "device", nil, supervisor.deviceValue)
        for value in supervisor.appValues {
            send(to: request, "app", value["name"]?.stringValue, value)
        }
        for id in supervisor.core.appIDs {
            for task in supervisor.taskValues(id) {
                send(to: request, "task", task["app"]?.stringValue, .object(task))
            }
        }
        send(to: request, "synchronized", nil, [:])
    }

    func appDidChange(_ id: AppID) {
        guard !requests.isEmpty else { return }
        guard let view = supervisor.core.view(of: id) else {
            // Gone from the configuration: said once, with nothing but its name.
            if let app = supervisor.apps[id.rawValue] {
                broadcast("app", app.name, supervisor.invalidAppValue(app.name, []))
            }
            return
        }
        broadcast("app", view.name, supervisor.appValue(id, view))
    }

    /// What an app says of itself, as often as it likes: the last of its words is passed on, when nothing else is to be
    /// done.
    func ownWordsDidChange(_ id: AppID) {
        guard !requests.isEmpty, !newWords.contains(id) else { return }
        if wordsTimer == nil {
            wordsTimer = try? supervisor.loop.timer(priority: EventLoop.Priority.idle) { [unowned(unsafe) self] in
                passOn()
            }
        }
        newWords.append(id)
        wordsTimer?.arm(at: Clocks.monotonic)
    }

    private func passOn() {
        let apps = newWords
        newWords = []
        for id in apps { appDidChange(id) }
    }

    func deviceDidChange() {
        guard !requests.isEmpty else { return }
        broadcast("device", nil, supervisor.deviceValue)
    }

    func taskDidChange(_ app: String, _ task: BackgroundTaskView, ended: String?) {
        guard !requests.isEmpty else { return }
        broadcast("task", app, .object(supervisor.taskValue(app, task, ended: ended)))
    }

    func didTerminate(_ report: Report) {
        guard !requests.isEmpty else { return }
        broadcast("termination", report.name, report.control)
    }

    private func broadcast(_ kind: String, _ app: String?, _ detail: JSON) {
        let change = Self.change(kind, app, detail)
        for request in requests { request.reply(continuing: change) }
    }

    private func send(to request: Request, _ kind: String, _ app: String?, _ detail: JSON) {
        request.reply(continuing: Self.change(kind, app, detail))
    }

    private static func change(_ kind: String, _ app: String?, _ detail: JSON) -> SharedReply {
        SharedReply([
            "time": .string(Timestamp.text(Clocks.realtime)), "kind": .string(kind), "app": JSON(app), "detail": detail,
        ])
    }
}
