internal import CLinux
internal import PlayedKernel

/// One board again and again, its loop killed before another call that others can see each time: whatever it was in the
/// middle of, the next one goes on, and all rules hold.
enum Sweep {
    /// Each in a process of its own. Returns whether all rules held.
    static func run(seed: UInt64, seconds: Int64, every step: Int) -> Bool {
        let whole = play(seed, seconds, .none)
        guard whole.complaints.isEmpty else {
            print("seed \(seed): \(whole.complaints[0])")
            return false
        }
        var points = 0
        var failed = 0
        for call in stride(from: 1, through: whole.calls, by: step) {
            points += 1
            if !holds(seed, seconds, call) { failed += 1 }
        }
        print("seed \(seed): \(points - failed) of \(points) points of \(whole.calls), \(whole.sleeps) sleeps")
        return failed == 0
    }

    private static func play(_ seed: UInt64, _ seconds: Int64, _ deaths: ShellSimulation.Deaths)
        -> ShellSimulation.Outcome
    {
        let directory = Scratch.make()
        defer { Scratch.remove(directory) }
        return ShellSimulation.run(seed: seed, seconds: seconds, directory: directory, deaths: deaths)
    }

    private static func holds(_ seed: UInt64, _ seconds: Int64, _ call: Int) -> Bool {
        fflush(nil)
        let child = played_fork()
        if child == 0 {
            let outcome = play(seed, seconds, .atCall(call))
            let first = outcome.complaints.first ?? (outcome.lives == 2 ? nil : "\(outcome.lives) lives")
            if let first {
                print("seed \(seed), death before call \(call): \(first)")
                fflush(nil)
            }
            _exit(first == nil ? 0 : 1)
        }
        var status: Int32 = 0
        guard child > 0, waitpid(child, &status, 0) == child else { return false }
        if status & 0x7F != 0 { print("seed \(seed), death before call \(call): signal \(status & 0x7F)") }
        return status == 0
    }
}
