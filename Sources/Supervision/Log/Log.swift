internal import Journal
internal import Lifecycle
internal import SystemCalls

/// What the daemon says: each line with the fields that a board's owner filters by (CURFEW_APP, CURFEW_EVENT,
/// CURFEW_SLEEP_ID) and a MESSAGE_ID for its kind.
final class Log {
    private let journal: Journal

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

    func handlerFailed(_ app: String, _ handler: Handler, _ text: String) {
        send(
            .warning, "\(app): \(handler.method): \(text)", .handlerFailed,
            [("CURFEW_APP", app), ("CURFEW_EVENT", handler.method)])
    }

    func stuck(_ name: String, _ stuck: Stuck, _ who: String) {
        let what =
            switch stuck {
            case .unfreezable: "could not be frozen in time"
            case .unkillable: "could not be killed"
            }
        app(name, .warning, "\(what): \(who)", .unfreezable)
    }

    /// nil where there is no journal.
    func openStream(_ identifier: String, error: Bool) -> FileDescriptor? {
        try? journal.stream(identifier: identifier, priority: error ? .warning : .info)
    }
}
