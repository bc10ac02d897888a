internal import CLinux
internal import SystemCalls
internal import Varlink

/// The last lines an app wrote: from the journal, else as kept in the report of its last end.
struct LastLines: Equatable {
    var title = ""
    var lines: [String] = []

    static let count = 10
    /// A journal that is slower than this is left alone.
    static let patience: Int64 = 2_000_000_000

    static func of(_ app: AppRecord, _ session: Session) -> LastLines {
        if app.invalid != nil { return LastLines() }
        // Under a root of its own a daemon has no journal, and the board's would tell of another app of that name.
        if session.root.isEmpty, let match = match(app.name, session), let lines = journal(match), !lines.isEmpty {
            return LastLines(title: "Last lines (journalctl \(match.joined(separator: " "))):", lines: lines)
        }
        guard let report = app.lastTermination?.report,
            let kept = StoredReports.read(root: session.root).reports.last(where: { $0.report == report }),
            let output = kept.output, !output.isEmpty
        else { return LastLines() }
        return LastLines(title: "Last lines before its last end:", lines: Array(output.suffix(count)))
    }

    /// Any user may send lines with that tag; which user has opened the stream is the journal's word.
    private static func match(_ app: String, _ session: Session) -> [String]? {
        var status = stat()
        guard lstat(DaemonConnection.socketPath(root: session.root), &status) == 0 else { return nil }
        return ["-t", "curfew-\(app)", "_UID=\(status.st_uid)"]
    }

    private static func journal(_ match: [String]) -> [String]? {
        guard let program = Program.find("journalctl") else { return nil }
        let arguments = [program] + match + ["-n", "\(count)", "-o", "short", "--no-pager", "-q"]
        guard let output = Program.output(of: arguments, within: patience) else { return nil }
        let text = String(decoding: output, as: UTF8.self)
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("-- ") }.suffix(count)
    }
}
