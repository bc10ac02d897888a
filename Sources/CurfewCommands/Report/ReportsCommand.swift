internal import ArgumentParser
internal import SystemCalls
internal import Varlink

struct ReportsCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports", abstract: "Why apps ended, the newest last.",
        discussion: """
            Reports outlive reboots. When curfewd is not running, they are read from disk. (board) is the board \
            itself: how a boot ended that did not end in good order.
            """)

    @Argument(help: "Only the ends of this app; '(board)': of the board itself.", completion: .apps)
    var app: String?
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let known = try KnownReports.load(session, app: app)
        if known.reports.isEmpty, let app, app != TerminationRecord.board, known.daemonRuns {
            try requireConfigured(app, session)
        }
        if session.isJSON {
            return session.say(JSON.object(["terminations": .array(known.reports.map(\.json))]).prettyText())
        }
        if known.reports.isEmpty {
            if app == TerminationRecord.board { return session.say("No boot is known to have ended badly.") }
            return session.say(app.map { "\($0) has never ended." } ?? "No app has ended yet.")
        }
        for line in Self.table(known.reports).lines(session.style, width: session.console.width) { session.say(line) }
    }

    private func requireConfigured(_ app: String, _ session: Session) throws(CommandFailure) {
        let control = try session.control()
        do throws(VarlinkError) {
            _ = try control.call("Describe", ["app": .string(app)])
        } catch {
            throw .of(error, app: app, doing: "looked up", session: session)
        }
    }

    static func table(_ reports: [TerminationRecord]) -> Table {
        var table = Table([
            Table.Column(title: "ID", isNumber: true), Table.Column(title: "TIME", dispensability: 1),
            Table.Column(title: "APP"), Table.Column(title: "SLEEP", isNumber: true, dispensability: 2),
            Table.Column(title: "TOOK", isNumber: true, dispensability: 3), Table.Column(title: "WHY"),
        ])
        for report in reports {
            table.add([
                Table.Cell(report.report ?? "-"), Table.Cell(report.time?.date ?? "-"), Table.Cell(report.app, .bold),
                Table.Cell(report.sleepId.map { "\($0)" } ?? "-"),
                Table.Cell(report.isTimed ? report.wallSeconds.map { Amounts.duration($0) } ?? "-" : "-"),
                Table.Cell(report.reason, report.isOrderly ? .dim : report.isKill ? .bad : .caution),
            ])
        }
        return table
    }
}
