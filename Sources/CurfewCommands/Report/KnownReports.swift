internal import SystemCalls
internal import Varlink

/// All reports that can be had: the daemon's word, with what the disk knows beyond it.
struct KnownReports {
    /// Oldest first.
    let reports: [TerminationRecord]
    let daemonRuns: Bool

    static func load(_ session: Session, app: String? = nil) throws(CommandFailure) -> KnownReports {
        let stored = StoredReports.read(root: session.root)
        func ofApp(_ reports: [TerminationRecord]) -> [TerminationRecord] {
            reports.filter { app == nil || $0.app == app }
        }
        let control: DaemonConnection
        do throws(CommandFailure) {
            control = try session.control()
        } catch {
            if !stored.reports.isEmpty { return KnownReports(reports: ofApp(stored.reports), daemonRuns: false) }
            guard let failure = stored.failure, error.code == .notRunning else { throw error }
            throw CommandFailure(
                code: error.code, text: "\(error.text); and its reports cannot be read (\(failure.text)): use sudo")
        }
        let listed: [JSON]
        do throws(VarlinkError) {
            let parameters: JSONObject = app.map { ["app": .string($0)] } ?? [:]
            listed = try control.call("ListTerminations", parameters)["terminations"]?.arrayValue ?? []
        } catch {
            throw .of(error, app: app, doing: "looked up", session: session)
        }
        let reports = listed.map { json in
            let record = TerminationRecord(json)
            return stored.reports.last { $0.report == record.report && $0.app == record.app && $0.time == record.time }
                ?? record
        }
        return KnownReports(reports: reports, daemonRuns: true)
    }
}
