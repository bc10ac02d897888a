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
