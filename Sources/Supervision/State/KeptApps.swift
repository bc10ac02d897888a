internal import Lifecycle

/// What the shell has in hand of the apps, beside the core's state: enough for the next loop to go on with what runs.
struct KeptApps {
    /// One instance's.
    struct Process {
        var instance: Int64 = 0
        /// The keeper's number of its start; 0: nothing more is heard of that.
        var child: Int64 = 0
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
        /// A main process that is no child of our asking, by its pid and its start in clock ticks; 0: there is none.
        var mainPID: Int64 = 0
        var mainStart: UInt64 = 0
        /// A hook that runs.
        var hook: Hook?
        /// It has put a connection of its own in the place of the one that it was started with.
        var hasAttached = false
    }

    struct Hook {
        /// The keeper's number of its start.
        var child: Int64 = 0
        var call = CallID(rawValue: 0)
        var handler = Handler.didFinishLaunching
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
    }

    var processes: [Process] = []
    var apps: [App] = []

    init() {}

    init(_ supervisor: Supervisor) {
        processes = supervisor.processes.values.map { $0.kept }
        apps = supervisor.apps.values.map { $0.kept }
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

    private mutating func archive(_ archive: inout StateArchive) {
        archive.list(1, &processes, Process()) { $1.archive(&$0) }
        archive.list(2, &apps, App()) { $1.archive(&$0) }
    }
}

extension KeptApps.Process {
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
        archive.value(10, &mainStart)
        archive.optional(11, &hook, KeptApps.Hook()) { $1.archive(&$0) }
        archive.value(12, &hasAttached)
    }
}

extension KeptApps.Hook {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &child)
        archive.raw(2, &call)
        archive.raw(3, &handler)
    }
}

extension KeptApps.App {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &id)
        archive.value(2, &notifyPath)
        archive.value(3, &notifyUser)
        archive.optional(4, &status, "") { $0.value(1, &$1) }
        archive.raw(5, &failedHook)
        archive.value(6, &hookFailure)
        archive.value(7, &adopter)
    }
}

extension ExitStatus {
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
