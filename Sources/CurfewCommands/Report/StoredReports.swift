internal import SystemCalls
internal import Varlink

/// The reports as the daemon keeps them on disk, where this user may read them.
struct StoredReports {
    /// Oldest first.
    var reports: [TerminationRecord] = []
    /// The file that is there and cannot be read.
    var failure: SystemError?

    static func path(root: String) -> String { root + "/var/lib/curfew/reports.jsonl" }

    static func read(root: String) -> StoredReports {
        var stored = StoredReports()
        for path in [path(root: root) + ".1", path(root: root)] {
            do throws(SystemError) {
                let bytes = try Files.read(path, limit: 4 << 20)
                stored.reports += parse(bytes)
            } catch {
                if error.errno != .noEntry { stored.failure = error }
            }
        }
        return stored
    }

    /// Lines that a power loss cut short are left out.
    static func parse(_ bytes: [UInt8]) -> [TerminationRecord] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let json = try? JSON.parse(line), json["report"]?.stringValue != nil else { return nil }
            return TerminationRecord(json)
        }
    }
}

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
