internal import Lifecycle
internal import ProcessControl

/// What the shell has in hand of the apps, beside the core's state: enough for the next loop to go on with what runs.
struct KeptApps {
    /// One instance's.
    struct Process {
        var instance: Int64 = 0
        /// The keeper's number of its start; 0: nothing more is heard of that.
        var child: Int64 = 0
        /// What that has started.
        var started = KnownProcess()
        /// The name of its control group; "": it has none.
        var group = ""
        /// As whom it was started; -1: not known.
        var user: Int64 = -1
        /// MONOTONIC, in nanoseconds.
        var startedAt: Int64 = 0
        var isAskedToEnd = false
        /// MONOTONIC, in nanoseconds; 0: it was not killed.
        var killedAt: Int64 = 0
        /// How its main process ended, while what that has left has its time.
        var heldExit: ExitStatus?
        /// A main process that is no child of our asking, by its pid and its identity; 0: there is none.
        var mainPID: Int64 = 0
        var mainIdentity: UInt64 = 0
        /// A hook that runs.
        var hook: Hook?
        /// It has put a connection of its own in the place of the one that it was started with.
        var hasAttached = false
        /// The last calls that it was given, and has answered; 0: none.
        var delivered = CallID(rawValue: 0)
        var answered = CallID(rawValue: 0)
        var wasSentTerm = false
        /// What its main process has left behind was, too.
        var wasRestAsked = false
    }

    struct Hook {
        /// The keeper's number of its start.
        var child: Int64 = 0
        var call = CallID(rawValue: 0)
        var handler = Handler.didFinishLaunching
        var started = KnownProcess()
    }

    /// One app's, whether it runs or not.
    struct App {
        var id: Int64 = 0
        /// Where its notify socket lies; "": it has none.
        var notifyPath = ""
        /// Who may send there; -1: that was not settled.
        var notifyUser: Int64 = -1
        var status: String?
        var failedHook = Handler.didFinishLaunching
        /// "": none has failed.
        var hookFailure = ""
        /// Whose process it is that was taken over; -1: it has a file.
        var adopter: Int64 = -1
        /// What it wrote last, where there is no journal; of an upgrade alone: all else would be to write it twice.
        var output = ""
    }

    /// What the core does not know of the last end of an app.
    struct End {
        var app: Int64 = 0
        var instance: Int64 = 0
        var report: Int64 = 0
        /// CLOCK_REALTIME, in nanoseconds.
        var time: Int64 = 0
        /// Nanoseconds; -1: not known.
        var cpu: Int64 = -1
        /// False: the loop was about to write it into the store.
        var isWritten = true
    }

    /// A background task that ends with a process.
    struct Followed {
        var instance: Int64 = 0
        var task: Int64 = 0
        var pid: Int64 = 0
        var identity: UInt64 = 0
    }

    var processes: [Process] = []
    var apps: [App] = []
    var ends: [End] = []
    /// nil, of changes: as before.
    var followed: [Followed]?
    /// Of changes: instances that are over.
    var gone: [Int64] = []

    init() {}

    init(_ supervisor: Supervisor) {
        processes = supervisor.processes.values.map { $0.kept }
        apps = supervisor.apps.values.map { $0.kept }
        ends = supervisor.lastReports.map { End($0.key, $0.value, isWritten: true) }
        followed = supervisor.taskFollowers.kept
    }

    var isEmpty: Bool {
        processes.isEmpty && apps.isEmpty && ends.isEmpty && gone.isEmpty && followed == nil
    }

    /// What has changed after this was written.
    mutating func merge(_ changes: KeptApps) {
        processes.removeAll { old in
            changes.gone.contains(old.instance) || changes.processes.contains { $0.instance == old.instance }
        }
        processes += changes.processes
        apps.removeAll { old in changes.apps.contains { $0.id == old.id } }
        apps += changes.apps
        ends.removeAll { old in changes.ends.contains { $0.app == old.app } }
        ends += changes.ends
        followed = changes.followed ?? followed
    }

    /// nil: they cannot be read.
    init?(_ bytes: [UInt8]) {
        guard let text = StateArchive.opened(bytes) else { return nil }
        var archive = StateArchive(reading: text)
        self.archive(&archive)
        if archive.failed { return nil }
    }

    var bytes: [UInt8] {
        var copy = self
        var archive = StateArchive()
        copy.archive(&archive)
        return StateArchive.sealed(archive.bytes)
    }

    @inline(never)
    private mutating func archive(_ archive: inout StateArchive) {
        archive.list(1, &processes, Process()) { $1.archive(&$0) }
        archive.list(2, &apps, App()) { $1.archive(&$0) }
        archive.list(3, &ends, End()) { $1.archive(&$0) }
        archive.list(4, &gone, 0) { $0.value(1, &$1) }
        archive.optional(5, &followed, []) { archive, followed in
            archive.list(1, &followed, Followed()) { $1.archive(&$0) }
        }
    }
}

extension KeptApps.Followed {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &instance)
        archive.value(2, &task)
        archive.value(3, &pid)
        archive.value(4, &identity)
    }
}

extension KeptApps.End {
    init(_ app: Int, _ report: Report, isWritten: Bool) {
        self.isWritten = isWritten
        self.app = Int64(app)
        if case .app(let termination) = report.subject { instance = termination.instance.rawValue }
        self.report = Int64(report.id)
        time = report.time
        cpu = report.cpuNanoseconds ?? -1
    }

    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &app)
        archive.value(2, &instance)
        archive.value(3, &report)
        archive.value(4, &time)
        archive.value(5, &cpu)
        archive.value(6, &isWritten)
    }

    /// Of one of the ends that the core knows; nil: it knows another. What was written then is in the store.
    func report(_ known: [Termination]) -> (app: Int, Report)? {
        guard let app = Int(exactly: app), let id = Int(exactly: report),
            let end = known.first(where: { $0.app.rawValue == app }), end.instance.rawValue == instance
        else { return nil }
        let cpuNanoseconds = cpu < 0 ? nil : cpu
        return (app, Report(id: id, time: time, subject: .app(end), cpuNanoseconds: cpuNanoseconds, output: []))
    }
}

extension KeptApps.Process {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &instance)
        archive.value(2, &child)
        archive.value(3, &group)
        archive.value(4, &user)
        archive.value(5, &startedAt)
        archive.value(6, &isAskedToEnd)
        archive.value(7, &killedAt)
        archive.optional(8, &heldExit, .unknown) { $1.archive(&$0) }
        archive.value(9, &mainPID)
        archive.value(10, &mainIdentity)
        archive.optional(11, &hook, KeptApps.Hook()) { $1.archive(&$0) }
        archive.value(12, &hasAttached)
        archive.raw(13, &delivered)
        archive.raw(14, &answered)
        archive.value(15, &wasSentTerm)
        started.archive(&archive, from: 16)
        archive.value(18, &wasRestAsked)
    }
}

extension KeptApps.Hook {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &child)
        archive.raw(2, &call)
        archive.raw(3, &handler)
        started.archive(&archive, from: 4)
    }
}

extension KnownProcess {
    /// As two fields.
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive, from field: Int) {
        var number = Int64(pid)
        archive.value(field, &number)
        pid = Int32(exactly: number) ?? 0
        archive.value(field + 1, &identity)
    }
}

extension KeptApps.App {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &id)
        archive.value(2, &notifyPath)
        archive.value(3, &notifyUser)
        archive.optional(4, &status, "") { $0.value(1, &$1) }
        archive.raw(5, &failedHook)
        archive.value(6, &hookFailure)
        archive.value(7, &adopter)
        archive.value(8, &output)
    }
}

extension ExitStatus {
    @inline(never)
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        var (kind, number): (Int64, Int64) =
            switch self {
            case .unknown: (0, 0)
            case .exited(let code): (1, Int64(code))
            case .signalled(let number): (2, Int64(number))
            case .withLoop(let signal): (3, Int64(signal))
            }
        archive.value(1, &kind)
        archive.value(2, &number)
        guard archive.isReading, let number = Int32(exactly: number) else { return }
        switch kind {
        case 1: self = .exited(number)
        case 2: self = .signalled(number)
        case 3: self = .withLoop(signal: number)
        default: self = .unknown
        }
    }
}
