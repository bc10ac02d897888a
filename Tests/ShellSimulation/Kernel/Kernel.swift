internal import CLinux
internal import PlayedKernel

/// The played kernel of one board: processes, control groups, clocks and what can fail. Sockets, pipes and plain files
/// are the true kernel's, in a directory of their own: they behave the same each time, as one thread has both ends.
final class Kernel {
    /// Set while the daemon's own code runs: what it calls is then played. The world's calls are not.
    nonisolated(unsafe) static var playing: Kernel?
    /// The board there is; one at a time.
    nonisolated(unsafe) static var present: Kernel?

    /// The daemon has died: nothing that its remains call for is done any more.
    private(set) static nonisolated(unsafe) var isDead = false

    /// Everything of this board lies below it.
    let directory: String
    let clock = PlayedClock()
    let descriptors = Descriptors()
    let processes = ProcessTable()
    let groups: GroupTree
    let faults: Faults
    let points = CrashPoints()
    let loop: PlayedLoop
    let bus = PlayedBus()
    /// Of the threads that get rid of what others have sent: the sockets that each has to close.
    var disposals: [UnsafeMutablePointer<linux_disposal>: [Int32]] = [:]
    private(set) lazy var keeper = PlayedKeeper(self, seed: seed)
    private let seed: UInt64
    let judge: Judge
    /// The board's kernel has control groups.
    let hasGroups: Bool
    /// It says by pidfd in which group a process is (Linux 6.13).
    let tellsGroups: Bool

    init(directory: String, seed: UInt64, judge: Judge) {
        hasGroups = seed % 8 != 5
        tellsGroups = seed % 2 == 0
        self.directory = directory
        self.seed = seed
        self.judge = judge
        faults = Faults(seed: seed)
        groups = GroupTree(directory + "/kernel")
        loop = PlayedLoop(seed: seed)
    }

    /// Where a path of the kernel's file systems lies here.
    func place(_ path: String) -> String {
        path.utf8.starts(with: "/sys/".utf8) || path.utf8.starts(with: "/proc/".utf8)
            ? directory + "/kernel" + path : path
    }

    /// The daemon dies, as by SIGKILL: its loop returns, and what it had open is closed.
    func die() {
        judge.note("the daemon dies")
        Kernel.isDead = true
        Kernel.playing = nil
        loop.exitCode = -EIO
    }

    /// Of a loop that is dead, and whose keeper lives.
    func buryLoop() {
        for number in descriptors.open.keys { _ = __real_close(number) }
        for process in processes.all.values { process.forgetWatchers() }
        for group in groups.present { group.watchers = [] }
        descriptors.forgetAll()
        loop.forgetAll()
        bus.forgetAll()
        disposals = [:]
        keeper.loopDied()
    }

    /// Of a daemon that is dead, or has come to its end.
    func bury() {
        for number in descriptors.open.keys { _ = __real_close(number) }
        descriptors.forgetAll()
        loop.forgetAll()
        bus.forgetAll()
        keeper.die()
        processes.orphan()
        for group in groups.present {
            group.watchers = []
            group.isLeftOver = true
        }
        Kernel.isDead = false
    }

    /// Runs what belongs to the world in the middle of one of the daemon's calls.
    func aside<Value>(_ body: () -> Value) -> Value {
        let before = Kernel.playing
        Kernel.playing = nil
        defer { if !Kernel.isDead { Kernel.playing = before } }
        return body()
    }
}

/// The board's clocks, in nanoseconds. Time passes where it is let pass, and a little with every look.
final class PlayedClock {
    private(set) var monotonic: Int64 = 100_000_000_000
    private(set) var asleep: Int64 = 0
    var boottime: Int64 { monotonic + asleep }

    func look() -> Int64 {
        monotonic += 300
        return monotonic
    }

    func pass(to moment: Int64) { monotonic = max(monotonic, moment) }
    func pass(_ nanoseconds: Int64) { monotonic += nanoseconds }
    func sleep(_ nanoseconds: Int64) { asleep += nanoseconds }
}

/// What broke a rule, in the order in which it did.
final class Judge {
    private(set) var complaints: [String] = []
    private(set) var trace: [String] = []
    var keepsTrace = false
    private let clock: () -> Int64

    init(clock: @escaping () -> Int64) { self.clock = clock }

    func complain(_ text: String) {
        note("!! " + text)
        complaints.append(text)
    }

    func note(_ text: @autoclosure () -> String) {
        guard keepsTrace else { return }
        let milliseconds = clock() / 1_000_000
        trace.append("\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst()) \(text())")
    }
}
