internal import Journal
internal import Lifecycle
internal import SystemCalls

/// What the daemon says: each line with the fields that a board's owner filters by (CURFEW_APP, CURFEW_EVENT,
/// CURFEW_SLEEP_ID) and a MESSAGE_ID for its kind.
final class Log {
    private let journal: Journal
    /// Who or what brings lines about as often as it likes.
    private enum Cause: Hashable {
        case app(String)
        /// Operators, by what they have an app do.
        case orders(of: String)
        case phases(of: String)
        case ends(of: String)
        case stuck(of: String)
        case settings
        case tasks(ofUser: UInt32)
        case reloads
        case sleeps
        case sleepsOfLogins
        case locks
    }

    private var budgets: [Cause: LineBudget] = [:]

    init(journal: Journal) { self.journal = journal }

    func send(
        _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil, _ fields: [(String, String)] = []
    ) {
        journal.send(priority, text, messageID: id, fields: fields)
    }

    func daemon(_ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil) { send(priority, text, id) }

    /// takenOverFor: the user whose `curfew run` it is. Each is a new app: their lines are bounded together.
    func app(
        _ name: String, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil,
        _ fields: [(String, String)] = [], takenOverFor user: UInt32? = nil
    ) {
        var text = text
        if let user, user != 0 {
            guard let said = bounded(text, by: .tasks(ofUser: user)) else { return }
            text = said
        }
        send(priority, "\(name): \(text)", id, [("CURFEW_APP", name)] + fields)
    }

    /// What an app can bring about as often as it likes: bounded, so that it fills no disk and displaces no other line.
    func caused(
        by app: String, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil,
        _ fields: [(String, String)] = []
    ) {
        self.app(app, .app(app), priority, text, id, fields)
    }

    private func app(
        _ name: String, _ cause: Cause, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil,
        _ fields: [(String, String)] = [], _ user: UInt32? = nil
    ) {
        guard let text = bounded(text, by: cause) else { return }
        app(name, priority, text, id, fields, takenOverFor: user)
    }

    /// Of an app that does not end as it should, and is launched again by operators.
    func ended(
        _ app: String, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil,
        _ fields: [(String, String)] = [], takenOverFor user: UInt32? = nil
    ) {
        self.app(app, .ends(of: app), priority, text, id, fields, user)
    }

    func phase(of app: String, _ text: String) {
        self.app(app, .phases(of: app), .debug, text)
    }

    /// What operators may have an app do in a loop: be launched, and end.
    func ordered(
        _ app: String, _ priority: Journal.Priority, _ text: String, _ id: MessageID? = nil,
        _ fields: [(String, String)] = [], takenOverFor user: UInt32? = nil
    ) {
        self.app(app, .orders(of: app), priority, text, id, fields, user)
    }

    /// Of a setting, which operators may change in a loop.
    func setting(_ priority: Journal.Priority, _ text: String, _ id: MessageID) {
        if let text = bounded(text, by: .settings) { send(priority, text, id) }
    }

    /// Of a reload, which operators may ask for in a loop.
    func reload(_ priority: Journal.Priority, _ text: String, _ id: MessageID) {
        guard let text = bounded(text, by: .reloads) else { return }
        send(priority, text, id)
    }

    /// Of a sleep. Operators may begin and end those that no kernel knows of in a loop, which leave out no line of
    /// those that logind announces.
    func sleep(_ sleep: Int, isLogins: Bool, _ priority: Journal.Priority, _ text: String, _ id: MessageID) {
        guard let text = bounded(text, by: isLogins ? .sleepsOfLogins : .sleeps) else { return }
        send(priority, "sleep \(sleep): \(text)", id, [("CURFEW_SLEEP_ID", "\(sleep)")])
    }

    /// Of a sleep that a client announces and does not wait for.
    func unheardSleep(_ text: String) {
        if let text = bounded(text, by: .sleeps) { send(.notice, text) }
    }

    /// Of a lock of an app's user's, of which it is not known who holds it.
    func strangeLock(_ text: String) {
        if let text = bounded(text, by: .locks) { send(.warning, text) }
    }

    /// nil: left out.
    private func bounded(_ text: String, by cause: Cause) -> String? {
        let now = Clocks.monotonic
        if budgets[cause] == nil, budgets.count >= 64 { budgets = budgets.filter { !$0.value.isDone(at: now) } }
        var budget = budgets[cause] ?? LineBudget(at: now)
        defer { budgets[cause] = budget }
        switch budget.take(at: now) {
        case .say: return text
        case .sayAsTheLast: return text + "; more of the kind is left out for up to a minute"
        case .sayAfter(let leftOut): return text + "; \(leftOut) lines before this one were left out"
        case .leaveOut: return nil
        }
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
        app(name, .stuck(of: name), .warning, "\(what): \(who)", .unfreezable)
    }

    /// nil where there is no journal.
    func openStream(_ identifier: String, error: Bool) -> FileDescriptor? {
        try? journal.stream(identifier: identifier, priority: error ? .warning : .info)
    }
}
