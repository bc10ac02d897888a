internal import CLinux
internal import Journal
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// Why apps ended, over reboots: one JSON line an end, in a file that is begun anew at 256 KiB while the one before is
/// kept. A line is written before anything follows from its end, and sent on its way to the disk without waiting for
/// it: an SD card may take a second, and an app that is to be restarted has not got that.
final class ReportStore {
    static let fileLimit = 256 << 10

    private let path: String
    private let directory: String
    private var lastID = 0
    private var isPrepared = false
    /// The ends that could not be written, the last of them: a full disk must not hide why apps ended.
    private var unwritten: [JSON] = []
    private static let unwrittenLimit = 64

    init(directory: String) {
        self.directory = directory
        path = directory + "/reports.jsonl"
    }

    private var previous: String { path + ".1" }

    /// The identifier of the next report: identifiers go on over restarts.
    func nextID() -> Int {
        prepare()
        lastID += 1
        return lastID
    }

    /// Throws when the line could not be written; then it is kept in memory.
    func append(_ report: Report) throws(SystemError) {
        prepare()
        let stored = report.stored
        do throws(SystemError) {
            try Files.createDirectories(directory, mode: 0o750)
            let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o640)
            var bytes = stored.bytes()
            bytes.append(UInt8(ascii: "\n"))
            let size = lseek(file.rawValue, 0, SEEK_END)
            if size > 0, !endsWithNewline(size) { bytes.insert(UInt8(ascii: "\n"), at: 0) }
            try file.writeAll(bytes)
            linux_start_writeback(file.rawValue)
            if Int(size) + bytes.count > Self.fileLimit { _ = rename(path, previous) }
        } catch {
            unwritten.append(stored)
            if unwritten.count > Self.unwrittenLimit { unwritten.removeFirst() }
            throw error
        }
    }

    /// Waits until the reports are on the disk: the board is about to be reset.
    func sync() {
        if let file = try? FileDescriptor.open(path, O_RDONLY) { fsync(file.rawValue) }
    }

    /// All that is kept, oldest first. Lines that a power loss cut short are left out. A later line with the identifier
    /// of an earlier one stands in its place.
    func all() -> [JSON] {
        var kept: [JSON] = []
        var latest = 0
        for report in lines(of: previous) + lines(of: path) + unwritten {
            let id = Self.identifier(of: report)
            // Identifiers rise: only what does not is worth a search.
            if id <= latest, let index = kept.lastIndex(where: { Self.identifier(of: $0) == id }) {
                kept[index] = report
            } else {
                kept.append(report)
                latest = max(latest, id)
            }
        }
        return kept
    }

    /// The identifier of the latest report of this name.
    func last(of name: String) -> Int? {
        all().last { $0["app"]?.stringValue == name }.map(Self.identifier)
    }

    private static func identifier(of report: JSON) -> Int { report["report"]?.stringValue.flatMap { Int($0) } ?? 0 }

    private func prepare() {
        guard !isPrepared else { return }
        isPrepared = true
        for report in all() {
            lastID = max(lastID, Self.identifier(of: report))
        }
    }

    private func lines(of path: String) -> [JSON] {
        guard let bytes = try? Files.read(path, limit: 4 * Self.fileLimit) else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let json = try? JSON.parse(line), Self.identifier(of: json) > 0 else { return nil }
            return json
        }
    }

    /// A line that a power loss cut short must not swallow the next one.
    private func endsWithNewline(_ size: Int) -> Bool {
        guard let file = try? FileDescriptor.open(path, O_RDONLY) else { return true }
        var last: UInt8 = 0
        guard pread(file.rawValue, &last, 1, size - 1) == 1 else { return true }
        return last == UInt8(ascii: "\n")
    }
}

extension Supervisor {
    /// Records an end before anything follows from it.
    func record(_ termination: Termination) {
        let process = processes[termination.instance.rawValue]
        let report = Report(
            id: reports.nextID(), time: Clocks.realtime, subject: .app(termination),
            cpuNanoseconds: process?.cpuNanoseconds,
            output: apps[termination.app.rawValue]?.output?.lastLines(20) ?? [])
        keep(report)
        lastReports[termination.app.rawValue] = report
        say(termination, in: report)
        if process == nil, let app = apps[termination.app.rawValue] { app.process = nil }
    }

    /// Writes a report and tells those who watch.
    func keep(_ report: Report) {
        do throws(SystemError) {
            try reports.append(report)
        } catch {
            log.app(report.name, .error, "its report \(report.id) could not be written: \(error.text)")
        }
        control?.didTerminate(report)
    }

    private func say(_ termination: Termination, in report: Report) {
        let reason = termination.reason
        let code = "0x" + String(reason.code, radix: 16)
        var fields = [
            ("CURFEW_APP", termination.name), ("CURFEW_REPORT", "\(report.id)"),
            ("CURFEW_NAMESPACE", reason.namespace.name), ("CURFEW_CODE", code), ("CURFEW_REASON", reason.name),
            ("CURFEW_WHY", reason.explanation),
        ]
        if let handler = termination.handler { fields.append(("CURFEW_EVENT", handler.method)) }
        if let sleep = termination.sleep { fields.append(("CURFEW_SLEEP_ID", "\(sleep)")) }
        if let key = reason.limitKey { fields.append(("CURFEW_KEY", key)) }
        // A command that was asked to end in time has ended by itself.
        let isKilled = reason.namespace == .watchdog || reason.namespace == .backgroundTask && termination.taken != nil
        let what = isKilled ? "killed" : reason.namespace == .launchFailure ? "could not be launched" : "ended"
        log.send(
            isKilled ? .error : reason.isFailure ? .warning : .info,
            "\(termination.name): \(what): \(reason.explanation) (\(reason.namespace.name)"
                + (isKilled ? " \(code)" : "") + "); see: curfew report \(report.id)",
            Self.message(of: reason.namespace), fields)
    }

    private static func message(of namespace: TerminationNamespace) -> MessageID {
        switch namespace {
        case .watchdog: .appKilledByWatchdog
        case .backgroundTask: .appSpentBudget
        case .jetsam: .appKilledForMemory
        case .thermal: .appKilledForHeat
        case .crash: .appCrashed
        case .launchFailure: .appLaunchFailed
        case .lowBattery, .user, .exit, .lockHeldInSuspension, .shutdown, .unknown: .appEnded
        }
    }
}
