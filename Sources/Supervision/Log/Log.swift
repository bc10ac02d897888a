internal import Journal
internal import Lifecycle
internal import SystemCalls

/// What the daemon says: each line with the fields that a board's owner filters by (CURFEW_APP, CURFEW_EVENT,
/// CURFEW_SLEEP_ID) and a MESSAGE_ID for its kind.
final class Log {
    private let journal: Journal
    /// By the app's name.
    private var budgets: [String: LineBudget] = [:]

    init(journal: Journal) { self.journal = journal }

    func send(
        _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil, _ fields: [(String, String)] = []
    ) {
        journal.send(priority, text, messageID: id, fields: fields)
    }

    func daemon(_ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil) { send(priority, text, id) }

    func app(_ name: String, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil) {
        send(priority, "\(name): \(text)", id, [("CURFEW_APP", name)])
    }

    /// What an app can bring about as often as it likes: bounded, so that it fills no disk and displaces no other line.
    func caused(
        by app: String, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil,
        _ fields: [(String, String)] = []
    ) {
        var text = text
        switch verdict(on: app) {
        case .say: break
        case .sayAsTheLast: text += "; what else it causes is left out for up to a minute"
        case .sayAfter(let leftOut): text += "; \(leftOut) lines before this one were left out"
        case .leaveOut: return
        }
        send(priority, "\(app): \(text)", id, [("CURFEW_APP", app)] + fields)
    }

    private func verdict(on app: String) -> LineBudget.Verdict {
        let now = Clocks.monotonic
        if budgets[app] == nil, budgets.count >= 64 { budgets = budgets.filter { !$0.value.isOver(at: now) } }
        var budget = budgets[app] ?? LineBudget(at: now)
        defer { budgets[app] = budget }
        return budget.take(at: now)
    }

    func handlerFailed(_ app: String, _ handler: Handler, _ text: String) {
        caused(by: app, .warning, "\(handler.method): \(text)", .handlerFailed, [("CURFEW_EVENT", handler.method)])
    }

    func stuck(_ name: String, _ stuck: Stuck, _ who: String) {
        let what =
            switch stuck {
            case .unfreezable: "could not be frozen in time"
            case .unkillable: "could not be killed"
            case .unstarted: "has not started in time"
            }
        app(name, .warning, "\(what): \(who)", .unfreezable)
    }

    /// nil where there is no journal.
    func openStream(_ identifier: String, error: Bool) -> FileDescriptor? {
        try? journal.stream(identifier: identifier, priority: error ? .warning : .info)
    }
}
