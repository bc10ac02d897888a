internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// The core's state, written down for the loop that comes after this one, should a signal end it.
final class KeptState {
    /// A write takes longer the more apps there are: in the long run it may take one of so many parts of all time, and
    /// what is saved up is so much, in nanoseconds. What was not written yet is lost.
    private static let share: Int64 = 100
    private static let mostCredit: Int64 = 5_000_000
    /// A loop that lives that long did not die of the state that it had read, in nanoseconds.
    private static let stable: Int64 = 60_000_000_000
    /// So many in a row may read it; the one after them begins anew.
    private static let mostLives = 3

    /// How often in a row a loop has read the state that it is written with.
    struct Lives {
        var count: Int64 = 0
        /// MONOTONIC: the last time.
        var since: Int64 = 0

        /// In the layout of the machine, as all of the shell's: its reader is the same program.
        var bytes: [UInt8] { withUnsafeBytes(of: (count, since)) { Array($0) } }

        init() {}

        /// Takes it off. nil: it is not there.
        init?(_ bytes: inout ArraySlice<UInt8>) {
            guard let count = bytes.takeNumber(), let since = bytes.takeNumber() else { return nil }
            self.count = count
            self.since = since
        }
    }

    private unowned(unsafe) let supervisor: Supervisor
    private let memory: KeptMemory
    private var lives: Lives
    private var credit = KeptState.mostCredit
    /// MONOTONIC: up to here it is counted.
    private var counted = Clocks.monotonic
    private var isWaiting = false
    private var later: TimerSource?

    init(_ supervisor: Supervisor, _ former: FormerState) throws(SystemError) {
        self.supervisor = supervisor
        memory = former.memory
        lives = former.lives
        later = try supervisor.loop.timer(priority: EventLoop.Priority.normal) { [unowned(unsafe) self] in write() }
    }

    /// The core has heard something.
    func noteStep() {
        if isWaiting { return }
        let now = Clocks.monotonic
        count(until: now)
        if credit > 0 { return write() }
        isWaiting = true
        later?.arm(at: now + Self.share * (1 - credit))
    }

    private func count(until now: Int64) {
        credit = min(credit + (now - counted) / Self.share, Self.mostCredit)
        counted = now
    }

    private func write() {
        isWaiting = false
        let begun = Clocks.monotonic
        defer {
            let end = Clocks.monotonic
            count(until: end)
            credit -= end - begun
        }
        do throws(SystemError) {
            let apps = KeptApps(supervisor).bytes
            let length = withUnsafeBytes(of: Int64(apps.count)) { Array($0) }
            try memory.write(
                lives.bytes + LastEnds(supervisor.lastReports).bytes + length + apps + supervisor.core.archived())
        } catch {
            supervisor.log.daemon(.debug, error.text)
        }
    }

    /// What an earlier loop of this keeper has left.
    struct FormerState {
        fileprivate let memory: KeptMemory
        fileprivate var lives = Lives()
        /// nil: there is none, or it cannot be read, or it is one that loops die of.
        private(set) var core: DeviceLifecycle?
        private(set) var lastEnds = LastEnds()
        private(set) var apps = KeptApps()

        /// Groups of what the core knows: they run on.
        var groups: Set<String> {
            let known = Set(core?.instances.map { $0.rawValue } ?? [])
            return Set(apps.processes.filter { known.contains($0.instance) }.map { $0.group })
        }
        var notifyPaths: [String] { core == nil ? [] : apps.apps.map { $0.notifyPath } }

        private static let name = "state"

        /// isWanted: a signal has ended that loop.
        init(_ keeper: ProcessKeeper, isWanted: Bool) throws(SystemError) {
            guard let kept = keeper.takeKept(Self.name) else {
                memory = try KeptMemory()
                keeper.keep(Self.name, memory.descriptor)
                return
            }
            memory = KeptMemory(kept: kept)
            guard isWanted, var rest = memory.read().map({ ArraySlice($0) }), let before = Lives(&rest) else { return }
            let now = Clocks.monotonic
            let isInARow = now &- before.since < KeptState.stable
            if isInARow, before.count >= KeptState.mostLives { return }
            lives.count = isInARow ? max(before.count, 0) + 1 : 1
            lives.since = now
            // It counts even if this loop dies of what it reads.
            try memory.write(lives.bytes + rest)
            guard let ends = LastEnds(&rest) else { return }
            lastEnds = ends
            guard let length = rest.takeNumber(), length >= 0, length <= rest.count,
                let apps = KeptApps(Array(rest.prefix(Int(length))))
            else { return }
            rest = rest.dropFirst(Int(length))
            self.apps = apps
            // One that had not begun yet is begun anew.
            core = DeviceLifecycle(archive: Array(rest)).flatMap { $0.isStarted ? $0 : nil }
        }
    }
}
