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
    private var newStatuses: [AppID] = []
    private var statusTimer: TimerSource?

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func add(_ request: Request) {
        guard request.wantsMore else { return request.fail(.expectedMore) }
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

    /// An app may do so as often as it likes: the last of its words is passed on, when nothing else is to be done.
    func statusDidChange(_ id: AppID) {
        guard !requests.isEmpty, !newStatuses.contains(id) else { return }
        if statusTimer == nil {
            statusTimer = try? supervisor.loop.timer(priority: EventLoop.Priority.idle) { [unowned(unsafe) self] in
                passOn()
            }
        }
        newStatuses.append(id)
        statusTimer?.arm(at: Clocks.monotonic)
    }

    private func passOn() {
        let apps = newStatuses
        newStatuses = []
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
        for request in requests { send(to: request, kind, app, detail) }
    }

    private func send(to request: Request, _ kind: String, _ app: String?, _ detail: JSON) {
        request.reply(continuing: [
            "time": .string(Timestamp.text(Clocks.realtime)), "kind": .string(kind), "app": JSON(app), "detail": detail,
        ])
    }
}
