internal import Varlink

/// The state of everything at one moment: the first block of `Monitor`, so that one call is enough for all of it.
struct Snapshot {
    private(set) var device: JSON = .null
    private(set) var apps: [JSON] = []
    private(set) var tasks: [JSON] = []
    private var placeOfApp: [String: Int] = [:]

    /// The connection it takes is of no further use.
    static func take(_ session: Session) throws(CommandFailure) -> Snapshot {
        do throws(CommandFailure) {
            return try takeOnce(session)
        } catch {
            // Of the loop after one that has died or was replaced.
            guard error.code == .notRunning else { throw error }
            return try takeOnce(session)
        }
    }

    private static func takeOnce(_ session: Session) throws(CommandFailure) -> Snapshot {
        let control = try session.control()
        defer { session.disconnect() }
        let snapshot = Reference(Snapshot())
        let outcome = Reference<Outcome?>(nil)
        control.begin("Monitor", more: true) { [weak control] response in
            guard outcome.value == nil else { return }
            switch response {
            case .reply(let reply, let continues):
                let change = MonitorChange(reply)
                switch change.kind {
                case "device": snapshot.value.device = change.detail
                // What changes before all of it was said comes twice, or ends.
                case "app": snapshot.value.add(change.detail, app: change.app)
                case "task": snapshot.value.add(task: change.detail)
                case "synchronized": outcome.value = .complete
                default: break
                }
                if !continues, outcome.value == nil { outcome.value = .failed(.closed) }
            case .error(let name, let parameters): outcome.value = .failed(.error(name: name, parameters: parameters))
            case .connectionClosed: outcome.value = .failed(control?.lost ?? .closed)
            }
        }
        let isOver = session.loop.run(patience: DaemonConnection.patience) { outcome.value != nil }
        switch outcome.value {
        case .complete?: return snapshot.value
        case .failed(let error)?: throw .of(error, app: nil, doing: "described", session: session)
        case nil: throw .of(isOver ? .closed : .timedOut, app: nil, doing: "described", session: session)
        }
    }

    private mutating func add(_ value: JSON, app: String?) {
        if let place = app.flatMap({ placeOfApp[$0] }) {
            apps[place] = value
        } else {
            if let app { placeOfApp[app] = apps.count }
            apps.append(value)
        }
    }

    private mutating func add(task value: JSON) {
        tasks.removeAll { task in
            ["app", "identifier", "name"].allSatisfy { task[$0] == value[$0] }
        }
        if value["ended"]?.stringValue == nil { tasks.append(value) }
    }

    private enum Outcome {
        case complete
        case failed(VarlinkError)
    }
}
