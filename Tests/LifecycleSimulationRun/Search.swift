internal import Glibc
internal import Lifecycle
internal import LifecycleSimulation

/// Seeds in processes side by side, with a line of progress each second, until one fails (or to the end, where asked).
/// A process that a trap of Swift ends does not take the search with it: it is known which seed it was at.
struct Search {
    private struct Process {
        let pid: pid_t
        let index: Int
        var status: Int32?
    }

    private let arguments: Arguments
    private let words: [String]
    private let tally: SharedTally
    private let start = monotonicNow()
    private var processes: [Process] = []

    init?(_ arguments: Arguments, _ words: [String]) {
        guard let tally = SharedTally() else { return nil }
        self.arguments = arguments
        self.words = words
        self.tally = tally
    }

    /// 0: every seed passed; 1: one failed, and its story was told; else what has ended a process.
    mutating func status() -> Int32 {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGCHLD)
        sigprocmask(SIG_BLOCK, &signals, nil)
        for index in 0..<arguments.jobs { begin(index) }
        guard processes.count == arguments.jobs else {
            say("lifecycle-simulation: no more processes", to: STDERR_FILENO)
            stop()
            return 2
        }
        var lastLine = start
        while processes.contains(where: { $0.status == nil }) {
            awaitEnd()
            look()
            if monotonicNow() - lastLine >= 1_000_000_000 {
                lastLine = monotonicNow()
                progress()
            }
            if !arguments.keepsGoing, processes.contains(where: { ($0.status ?? 0) != 0 }) { stop() }
        }
        progress()
        if let trapped = trapped() { return trapped }
        return judge()
    }

    // MARK: Processes

    private mutating func begin(_ index: Int) {
        let own = words + ["--worker", "\(index)", "--shared", "\(tally.descriptor)"]
        var arguments = (["lifecycle-simulation"] + own).map { strdup($0) } + [nil]
        var pid: pid_t = 0
        if posix_spawn(&pid, "/proc/self/exe", nil, nil, &arguments, environ) == 0 {
            processes.append(Process(pid: pid, index: index))
        }
        for word in arguments { free(word) }
    }

    /// Of any process, for a while.
    private func awaitEnd() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGCHLD)
        var time = timespec(tv_sec: 0, tv_nsec: 200_000_000)
        sigtimedwait(&signals, nil, &time)
    }

    private mutating func look() {
        for place in processes.indices where processes[place].status == nil {
            var status: Int32 = 0
            if waitpid(processes[place].pid, &status, WNOHANG) == processes[place].pid {
                processes[place].status = status
            }
        }
    }

    private mutating func stop() {
        for process in processes where process.status == nil { kill(process.pid, SIGTERM) }
        for place in processes.indices where processes[place].status == nil {
            var status: Int32 = 0
            waitpid(processes[place].pid, &status, 0)
            // What we have ended ourselves has not failed.
            processes[place].status = status & 0x7f == SIGTERM ? 0 : status
        }
    }

    /// How a shell says it, for what has not ended by itself.
    private func trapped() -> Int32? {
        var result: Int32?
        for process in processes {
            guard let status = process.status, status & 0x7f != 0 else { continue }
            let seed = tally[process.index, .current]
            say("seed \(seed) ended the simulation with signal \(status & 0x7f)")
            result = 128 + status & 0x7f
        }
        return result
    }

    // MARK: What is said

    private func progress() {
        let seeds = tally.sum(.seeds, of: arguments.jobs)
        let steps = tally.sum(.steps, of: arguments.jobs)
        let hours = tally.sum(.virtualTime, of: arguments.jobs) / 3_600_000_000_000
        let taken = Double(monotonicNow() - start) / 1e9
        let of = arguments.seeds.map { " of \($0)" } ?? ""
        let failures = tally.sum(.failures, of: arguments.jobs)
        say(
            "\(seeds)\(of) seeds, \(steps) steps, \(Int(Double(steps) / max(taken, 0.001)))/s, "
                + "\(hours / 24) days \(hours % 24) h of board life in \(Int(taken)) s"
                + (failures > 0 ? ", \(failures) failed" : ""))
    }

    /// Of what failed first: when, and what happens.
    private func judge() -> Int32 {
        let failed = processes.filter { tally[$0.index, .failures] > 0 }
        let first = failed.min { tally[$0.index, .timeToFailure] < tally[$1.index, .timeToFailure] }
        guard let first else { return processes.allSatisfy { $0.status == 0 } ? 0 : 1 }
        let seconds = Double(tally[first.index, .timeToFailure] / 10_000_000) / 100
        let seeds = tally[first.index, .seedsToFailure] * UInt64(arguments.jobs)
        var replay = arguments
        replay.wantsShrinking = arguments.wantsShrinking || arguments.mayShrink
        let seed = tally[first.index, .failed]
        say("the first failure came after \(seconds) s and about \(seeds) seeds: seed \(seed)")
        return Replay(arguments: replay, seed: seed).status()
    }
}
