internal import CLinux
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// All that the loop knows, written down for the one that comes after it, should a signal end this one: the core after
/// each event and before anything is done about it, what the shell has in hand as soon as that changes.
final class KeptState {
    private unowned(unsafe) let supervisor: Supervisor
    private let memory: KeptMemory
    // What of the shell's has changed and was not written, each once.
    private var processes: [Int64] = []
    private var apps: [Int] = []
    private var ends: [Int] = []
    private var followed = false
    /// An app whose report is being written.
    private var unwritten: Int?
    /// Another version goes on at once.
    private var isHandedOver = false
    private var saidTrouble = false
    private var hasBegun = false

    init(_ supervisor: Supervisor, _ former: FormerState) {
        self.supervisor = supervisor
        memory = former.memory
    }

    /// From here on: a loop that dies at its start leaves what it has found.
    func begin() {
        hasBegun = true
        write(core: [])
    }

    /// The state that it was started from has done it no harm.
    func becameReady() {
        var readers = memory.readers
        readers.unready = 0
        try? memory.note(readers)
    }

    /// The core has heard an event.
    func noteCore() { if hasBegun { write(core: supervisor.core.archivedChanges()) } }

    func note(process: Int64) {
        if !processes.contains(process) { processes.append(process) }
        if !supervisor.isDispatching { flush() }
    }

    func note(app: AppID) {
        if !apps.contains(app.rawValue) { apps.append(app.rawValue) }
        if !supervisor.isDispatching { flush() }
    }

    /// The last end of an app. isWritten: its report is in the store; before that, it is about to be.
    func note(endOf app: Int, isWritten: Bool) {
        ends.append(app)
        unwritten = isWritten ? nil : app
        flush()
    }

    /// The processes that background tasks end with.
    func noteFollowed() {
        followed = true
        if !supervisor.isDispatching { flush() }
    }

    /// What is of use to a loop that comes in order, beside all that is written anyway.
    func handOver() {
        isHandedOver = true
        for app in supervisor.apps.values where app.output != nil { apps.append(app.id.rawValue) }
        flush()
    }

    func flush() { if !processes.isEmpty || !apps.isEmpty || !ends.isEmpty || followed { write(core: []) } }

    private func write(core: [UInt8]) {
        guard hasBegun else { return }
        do throws(SystemError) {
            if memory.wantsWhole { return try writeWhole() }
            var bytes = Step(core: core, takeChanges()).bytes(after: KeptMemory.roomOfHead)
            try memory.write(step: &bytes)
        } catch {
            // Too much for one state, or no memory: what was written is not what there is.
            memory.discard()
            if saidTrouble { return }
            saidTrouble = true
            supervisor.log.daemon(.warning, error.text + "; should the loop die, the next one begins anew")
        }
    }

    private func writeWhole() throws(SystemError) {
        _ = supervisor.core.archivedChanges()
        (processes, apps, ends, followed) = ([], [], [], false)
        try memory.write(whole: wholeBytes())
    }

    /// All that there is now, for a version that this one goes on from should the next one fail.
    func copy() throws(SystemError) -> KeptMemory {
        let copy = try KeptMemory()
        try copy.write(whole: wholeBytes())
        return copy
    }

    private func wholeBytes() -> [UInt8] {
        var all = KeptApps(supervisor)
        for place in all.ends.indices where unwritten.map({ Int64($0) }) == all.ends[place].app {
            all.ends[place].isWritten = false
        }
        return Step(core: supervisor.core.archived(), all).bytes(after: 0)
    }

    private func takeChanges() -> KeptApps {
        var changes = KeptApps()
        for instance in processes {
            if let process = supervisor.processes[instance] {
                changes.processes.append(process.kept)
            } else {
                changes.gone.append(instance)
            }
        }
        changes.apps = apps.compactMap { supervisor.apps[$0].map(kept) }
        changes.ends = ends.compactMap { app in
            supervisor.lastReports[app].map { KeptApps.End(app, $0, isWritten: app != unwritten) }
        }
        if followed { changes.followed = supervisor.taskFollowers.kept }
        (processes, apps, ends, followed) = ([], [], [], false)
        return changes
    }

    private func kept(_ app: SupervisedApp) -> KeptApps.App {
        var kept = app.kept
        if isHandedOver, let output = app.output { kept.output = output.last(Self.keptOutput) }
        return kept
    }

    /// Bytes: more than a report has.
    private static let keptOutput = 16 << 10

    /// The core's part and the shell's, of a whole state or of what has changed.
    private struct Step {
        /// Empty: nothing of it.
        var core: [UInt8]
        var apps: KeptApps

        init(core: [UInt8], _ apps: KeptApps) {
            self.core = core
            self.apps = apps
        }

        /// The length of the core's, in the layout of the machine, and both; after so many bytes that are free.
        func bytes(after room: Int) -> [UInt8] {
            let apps = apps.isEmpty ? [] : apps.bytes
            var bytes = [UInt8](repeating: 0, count: room + MemoryLayout<Int64>.size)
            bytes.reserveCapacity(bytes.count + core.count + apps.count)
            bytes.withUnsafeMutableBytes { $0.storeBytes(of: Int64(core.count), toByteOffset: room, as: Int64.self) }
            bytes.append(contentsOf: core)
            bytes.append(contentsOf: apps)
            return bytes
        }

        /// nil: it is damaged.
        init?(_ bytes: [UInt8]) {
            let head = MemoryLayout<Int64>.size
            guard bytes.count >= head else { return nil }
            let length = bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
            guard length >= 0, length <= bytes.count - head else { return nil }
            let rest = bytes[(head + Int(length))...]
            guard let apps = rest.isEmpty ? KeptApps() : KeptApps(Array(rest)) else { return nil }
            self.init(core: Array(bytes[head..<(head + Int(length))]), apps)
        }
    }

    /// The state as it was before an upgrade.
    static let formerName = "state/before"

    /// Whether a loop of this version can go on from what lies there.
    static func canRead(_ memory: KeptMemory) -> Bool { FormerState.read(memory)?.core != nil }

    /// What an earlier loop of this keeper has left.
    struct FormerState {
        /// A loop that lives that long did not die of the state that it had read, in nanoseconds.
        private static let stable: Int64 = 60_000_000_000
        /// So many in a row may read it; the one after them begins anew.
        private static let mostReaders = 3

        fileprivate let memory: KeptMemory
        /// nil: there is none, or it cannot be read, or it is one that loops die of.
        private(set) var core: DeviceLifecycle?
        private(set) var apps = KeptApps()

        /// Groups of what the core knows: they run on.
        var groups: [String] {
            apps.processes.filter { core?.app(of: InstanceID(rawValue: $0.instance)) != nil }.map { $0.group }
        }
        var notifyPaths: [String] { core == nil ? [] : apps.apps.map { $0.notifyPath } }

        private static let name = KeptDescriptors.state

        /// signal: what has ended that loop; nil: there was none.
        init(_ keeper: ProcessKeeper, signal: Int32?) throws(SystemError) {
            guard let kept = keeper.takeKept(Self.name) else {
                memory = try KeptMemory()
                keeper.keep(Self.name, memory.descriptor)
                return
            }
            memory = KeptMemory(kept: kept)
            guard let signal, try mayBeRead(after: signal) else { return }
            if let state = Self.read(memory) { (apps, core) = (state.apps, state.core) }
            // A version that was gone back from may write other words.
            guard core == nil, let before = keeper.takeKept(KeptState.formerName) else { return }
            keeper.drop(KeptState.formerName)
            if let state = Self.read(KeptMemory(kept: before)) { (apps, core) = (state.apps, state.core) }
        }

        fileprivate static func read(_ memory: KeptMemory) -> (apps: KeptApps, core: DeviceLifecycle?)? {
            guard let state = memory.read(), var whole = Step(state.whole) else { return nil }
            var changes: [[UInt8]] = []
            for bytes in state.steps {
                guard let step = Step(bytes) else { return nil }
                if !step.core.isEmpty { changes.append(step.core) }
                whole.apps.merge(step.apps)
            }
            // One that had not begun yet is begun anew.
            return (
                whole.apps, DeviceLifecycle(archive: whole.core, changes: changes).flatMap { $0.isStarted ? $0 : nil }
            )
        }

        /// It counts even if this loop dies of what it reads. What is killed has not died of that, but for what never
        /// got ready: it may have hung.
        private func mayBeRead(after signal: Int32) throws(SystemError) -> Bool {
            var readers = memory.readers
            let isHarmful = readers.unready >= Self.mostReaders
            readers.unready = isHarmful ? 0 : max(readers.unready, 0) + 1
            if isHarmful || signal == SIGKILL || signal == 0 {
                try memory.note(readers)
                return !isHarmful
            }
            let now = Clocks.monotonic
            let isInARow = now &- readers.since < Self.stable
            if isInARow, readers.count >= Self.mostReaders {
                readers.count = 0
                try memory.note(readers)
                return false
            }
            readers.count = isInARow ? max(readers.count, 0) + 1 : 1
            readers.since = now
            try memory.note(readers)
            return true
        }
    }
}
