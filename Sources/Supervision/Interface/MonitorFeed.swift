internal import Configuration
internal import EventLoop
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// `Monitor`: the state of everything once, then every change, to each client that asked.
final class MonitorFeed {
    /// A client that listens.
    private final class Listener {
        let request: Request
        /// Of the state of everything: the apps, as `appPlaces` has them; empty once that is said.
        var places: [Int]
        /// What of it comes next: 0 the device, then the apps, then each one's tasks, then the end of it.
        var next = 0

        init(_ request: Request, _ places: [Int]) {
            self.request = request
            self.places = places
        }
    }

    /// How much of the state of everything is said before other things have their turn: of thousands of apps all at
    /// once would be more than is kept for a client that does not read.
    private static let piece = 64

    private unowned(unsafe) let supervisor: Supervisor
    private var listeners: [Listener] = []
    /// Apps that have changed what they say of themselves, in the order in which they did.
    private var newWords: [AppID] = []
    private var wordsTimer: TimerSource?

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func add(_ request: Request) {
        guard request.wantsMore else { return request.fail(.expectedMore) }
        if request.oneway { return }
        // Its answers would come after those of the first, which never end.
        if listeners.contains(where: { $0.request.connection === request.connection }) { return }
        let listener = Listener(request, supervisor.appPlaces)
        listeners.append(listener)
        request.onCancelled = { [unowned(unsafe) self, unowned(unsafe) request] in
            listeners.removeAll { $0.request === request }
        }
        request.onRoom = { [unowned(unsafe) self, unowned(unsafe) listener] in
            for _ in 0..<Self.piece where listener.request.onRoom != nil { sayNext(listener) }
        }
    }

    /// As it is now; what changes after that is said at once, before the end of all of it too.
    private func sayNext(_ listener: Listener) {
        let (request, next, count) = (listener.request, listener.next, listener.places.count)
        listener.next += 1
        switch next {
        case 0: send(to: request, "device", nil, supervisor.deviceValue)
        case _ where next <= count:
            guard let value = supervisor.appValue(at: listener.places[next - 1]) else { return }
            send(to: request, "app", value["name"]?.stringValue, value)
        case _ where next <= 2 * count:
            let place = listener.places[next - count - 1]
            guard place >= 0 else { return }
            for task in supervisor.taskValues(AppID(rawValue: place)) {
                send(to: request, "task", task["app"]?.stringValue, .object(task))
            }
        default:
            request.onRoom = nil
            listener.places = []
            send(to: request, "synchronized", nil, [:])
        }
    }

    func appDidChange(_ id: AppID) {
        guard !listeners.isEmpty else { return }
        guard let view = supervisor.core.view(of: id) else {
            // Gone from the configuration: said once, with nothing but its name.
            if let app = supervisor.apps[id.rawValue] {
                broadcast("app", app.name, supervisor.invalidAppValue(app.name, []))
            }
            return
        }
        broadcast("app", view.name, supervisor.appValue(id, view))
    }

    /// What only the shell knows of an app: what it says of itself, as often as it likes, its main process, a hook that
    /// failed. The last is passed on, when nothing else is to be done.
    func detailsDidChange(_ id: AppID) {
        guard !listeners.isEmpty, !newWords.contains(id) else { return }
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
        guard !listeners.isEmpty else { return }
        broadcast("device", nil, supervisor.deviceValue)
    }

    func taskDidChange(_ app: String, _ task: BackgroundTaskView, ended: String?) {
        guard !listeners.isEmpty else { return }
        broadcast("task", app, .object(supervisor.taskValue(app, task, ended: ended)))
    }

    func didTerminate(_ report: Report) {
        guard !listeners.isEmpty else { return }
        broadcast("termination", report.name, report.control)
    }

    private func broadcast(_ kind: String, _ app: String?, _ detail: JSON) {
        let change = Self.change(kind, app, detail)
        // One that has heard nothing yet hears of it with all the rest.
        for listener in listeners where listener.next > 0 { listener.request.reply(continuing: change) }
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
