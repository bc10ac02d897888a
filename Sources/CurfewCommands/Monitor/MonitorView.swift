/// Turns states, as they come, into what has changed.
struct MonitorView {
    private var apps: [String: AppRecord] = [:]
    /// By identifier, while they are held.
    private var tasks: [Int64: BackgroundTaskRecord] = [:]
    private var device: DeviceRecord?
    private var isSynchronized = false
    /// The column of apps grows with the longest name.
    private var nameWidth = 8

    /// What there is to say about a change; empty: nothing that people would see.
    mutating func lines(for change: MonitorChange, _ style: Style) -> [String] {
        let clock = style.paint(change.time?.clock ?? "            ", .dim)
        return news(change).map { subject, text, tone in
            nameWidth = max(nameWidth, subject.count)
            return clock + "  " + style.paint(subject.printable.padded(nameWidth), .bold) + "  "
                + style.paint(text.printable, isSynchronized ? tone : .dim)
        }
    }

    private typealias News = (subject: String, text: String, tone: Tone)

    private mutating func news(_ change: MonitorChange) -> [News] {
        if change.kind == "device" {
            let next = DeviceRecord(change.detail)
            defer { device = next }
            return next.changes(since: device).map { ("device", $0.text, $0.tone) }
        }
        return appNews(change).map { [$0] } ?? []
    }

    private mutating func appNews(_ change: MonitorChange) -> News? {
        switch change.kind {
        case "synchronized":
            isSynchronized = true
            return nil
        case "app":
            let next = AppRecord(change.detail)
            defer { apps[next.name] = next }
            return Self.changes(from: apps[next.name], to: next).map { (next.name, $0, next.tone) }
        case "task":
            let next = BackgroundTaskRecord(change.detail)
            let old = tasks.updateValue(next, forKey: next.identifier)
            if next.ended != nil { tasks[next.identifier] = nil }
            let tone: Tone = next.ended == "expired" ? .bad : .accent
            return Self.changes(from: old, to: next, isNew: isSynchronized).map { (next.app, $0, tone) }
        case "termination":
            let end = TerminationRecord(change.detail)
            let report = end.report.map { " (report \($0))" } ?? ""
            return (end.isBoard ? "device" : end.app, "\(end.sentence)\(report)", end.isOrderly ? .plain : .bad)
        default:
            return (change.app ?? "device", "\(change.kind) \(change.detail.line)", .plain)
        }
    }

    /// "active -> inactive", "suspended", "launched, pid 12".
    static func changes(from old: AppRecord?, to new: AppRecord) -> String? {
        if let invalid = new.invalid {
            if invalid == old?.invalid { return nil }
            return invalid.isEmpty ? "no longer configured" : "invalid: \(invalid)"
        }
        let says = new.statusText.map { "says: \($0)" }
        guard let old else {
            return [new.state, new.mainPID.map { "pid \($0)" }].compactMap { $0 }.joined(separator: ", ")
        }
        var parts: [String] = []
        if let pid = new.mainPID, pid != old.mainPID { parts.append("launched, pid \(pid)") }
        if old.state != new.state { parts.append(transition(old.state, new.state)) }
        if new.isLeftDown, !old.isLeftDown { parts.append("left down after repeated ends") }
        if new.statusText != old.statusText, let says, !new.isLeftDown { parts.append(says) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// "begins task “upload” (12), 30 s left", "task “upload” (12) ended after 3 s". isNew: it has just begun if it was
    /// not known before.
    static func changes(from old: BackgroundTaskRecord?, to new: BackgroundTaskRecord, isNew: Bool) -> String? {
        let task = "task \(new.title)"
        if let ending = new.ending { return "\(task) \(ending)" }
        guard let old else {
            let parts = [
                isNew ? "begins \(task)" : "holds \(task) for \(Amounts.duration(new.secondsHeld))",
                new.keepAwake ? "keep-awake" : nil, new.timeRemaining.map { Amounts.duration($0) + " left" },
            ]
            return parts.compactMap { $0 }.joined(separator: ", ")
        }
        if new == old || new.timeRemaining == nil && old.timeRemaining == nil { return nil }
        return "\(task): " + (new.timeRemaining.map { Amounts.duration($0) + " left" } ?? "no limit any more")
    }

    private static func transition(_ old: String, _ new: String) -> String {
        switch (old, new) {
        case ("background", "suspended"): "suspended"
        case ("suspended", "background"): "thawed"
        case (_, "not running"), (_, "terminating"), ("not running", _), ("terminating", _): new
        default: "\(old) -> \(new)"
        }
    }
}
