internal import ArgumentParser
internal import SystemCalls
internal import Varlink

struct ReportCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "A full account of one end of an app, and what to do about it.")

    @Argument(help: "The report's number, as `curfew reports` lists it.", completion: .reports) var id: String?
    @Flag(help: "The newest report.") var last = false
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if (id == nil) != last { throw ValidationError("Give the number of a report, or --last.") }
        if let id, Int(id) == nil { throw ValidationError("'\(id)' is no number of a report; see: curfew reports") }
    }

    func run(_ session: Session) throws(CommandFailure) {
        let known = try KnownReports.load(session)
        guard let report = known.reports.last(where: { last || $0.report == id }) else {
            throw missing(known.reports, session.tool)
        }
        if session.isJSON { return session.say(report.json.prettyText()) }
        let account = ReportAccount(
            report: report, root: session.root, now: LocalTime(milliseconds: Clocks.realtime / 1_000_000))
        for line in account.lines(session.style, width: session.console.width) { session.say(line) }
    }

    private func missing(_ reports: [TerminationRecord], _ tool: String) -> CommandFailure {
        guard let first = reports.first?.report, let newest = reports.last?.report else {
            return .failed("there is no report: no app has ended yet")
        }
        let kept = first == newest ? "the only one is \(first)" : "those kept are \(first) to \(newest)"
        return .failed("no report \(id ?? ""); \(kept) (\(tool) reports lists them)")
    }
}
