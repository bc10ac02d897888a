internal import CLinux
internal import PlayedKernel

/// A process on the board, beside the daemon.
final class PlayedProcess {
    enum State: Equatable {
        case running
        /// Has ended; not reaped yet.
        case zombie
        case gone
    }

    let pid: Int32
    var parent: Int32
    let session: Int32
    let user: UInt32
    weak var group: PlayedGroup?
    var state = State.running
    /// code: CLD_EXITED, CLD_KILLED.
    /// MONOTONIC.
    var endedAt: Int64 = 0
    private(set) var end: (code: Int32, status: Int32)?
    /// In the kernel, where neither signals nor the freezer reach it, until then. MONOTONIC.
    var stuckUntil: Int64 = 0
    var isKilled = false
    /// What SIGTERM is to a child that has no program of its own here.
    var ignoresTerm = false
    /// Its copies of descriptors, by its own numbers.
    var files: [Int32: Int32] = [:]
    /// What it does.
    var program: (any Program)?
    /// True descriptors, that become readable at its end.
    private var watchers: [Int32] = []

    init(pid: Int32, parent: Int32, session: Int32?, user: UInt32, group: PlayedGroup?) {
        self.pid = pid
        self.parent = parent
        self.session = session ?? pid
        self.user = user
        self.group = group
    }

    /// It gets the processor.
    var canRun: Bool { state == .running && !isKilled && group?.isFrozen != true && group?.wantsFrozen != true }

    /// Its end is told to this descriptor, an eventfd.
    func tell(_ eventfd: Int32) {
        watchers.append(eventfd)
        if state != .running { Self.ring(eventfd) }
    }

    func forget(_ eventfd: Int32) { watchers.removeAll { $0 == eventfd } }

    func forgetWatchers() { watchers = [] }

    func finish(code: Int32, status: Int32) {
        end = (code, status)
        state = .zombie
        for file in files.values { _ = __real_close(file) }
        files = [:]
        for watcher in watchers { Self.ring(watcher) }
    }

    private static func ring(_ eventfd: Int32) {
        var one: UInt64 = 1
        _ = __real_write(eventfd, &one, 8)
    }
}

/// What a played process does.
protocol Program: AnyObject {
    /// Its life begins.
    func start()
    /// A signal it may handle: all but SIGKILL, SIGSTOP and SIGCONT.
    func receive(_ signal: Int32)
    /// One of its own descriptors is ready.
    func isReadable(_ file: Int32)
    /// Those of its descriptors that it reads.
    var listens: [Int32] { get }
}

/// All processes but the daemon's.
final class ProcessTable {
    /// The keeper of the daemon's loop.
    static let daemon: Int32 = 500
    private(set) var all: [Int32: PlayedProcess] = [:]
    private var last: Int32 = 1000

    subscript(pid: Int32) -> PlayedProcess? {
        guard let process = all[pid], process.state != .gone else { return nil }
        return process
    }

    /// In the order of their birth.
    var running: [PlayedProcess] { all.values.filter { $0.state == .running }.sorted { $0.pid < $1.pid } }

    func make(parent: Int32, session: Int32?, user: UInt32 = 0, group: PlayedGroup?) -> PlayedProcess {
        last += 1
        let process = PlayedProcess(pid: last, parent: parent, session: session, user: user, group: group)
        all[last] = process
        group?.add(process)
        return process
    }

    /// The daemon is gone: its children are init's, which reaps them.
    func orphan() {
        for process in all.values where process.parent == Self.daemon {
            process.parent = 1
            process.forgetWatchers()
            if process.state == .zombie { forget(process) }
        }
    }

    func forget(_ process: PlayedProcess) {
        process.state = .gone
        all[process.pid] = nil
    }
}
