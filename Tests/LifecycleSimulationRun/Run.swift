internal import Glibc
internal import Lifecycle
internal import LifecycleSimulation

/// A line, at once.
func say(_ line: String, to descriptor: Int32 = STDOUT_FILENO) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 || errno == EINTR else { return }
        rest = rest.dropFirst(max(count, 0))
    }
}

/// Seeds one after the other, with a line of progress each second, until one fails (or to the end, where asked).
struct Run {
    private let arguments: Arguments
    private let currentFile: Int32

    init(_ arguments: Arguments) {
        self.arguments = arguments
        currentFile = arguments.current.map { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) } ?? -1
    }

    private static func seconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    /// 0: every seed passed; 1: one failed, and its trace was printed.
    func status() -> Int32 {
        var limits = SimulationLimits()
        limits.keepsTrace = arguments.wantsTrace
        limits.storms = !arguments.isCalm
        if let steps = arguments.steps { limits.steps = steps }
        let start = Self.seconds()
        var lastLine = start
        var done: UInt64 = 0
        var steps = 0
        var virtual = Nanoseconds.zero
        func progress() {
            let taken = Self.seconds() - start
            say(
                "\(done) of \(arguments.seeds) seeds, \(steps) steps, \(Int(Double(steps) / max(taken, 0.001)))/s, "
                    + "\(virtual.rawValue / 3_600_000_000_000) h of virtual time in \(Int(taken)) s")
        }
        var failed = 0
        for seed in arguments.from..<(arguments.from &+ arguments.seeds) {
            note(seed)
            let outcome = simulate(seed: seed, limits: limits)
            done += 1
            steps += outcome.steps
            virtual += outcome.virtualTime
            if arguments.wantsTrace || outcome.violation != nil { tell(outcome) }
            if outcome.violation != nil {
                failed += 1
                if !arguments.keepsGoing { return 1 }
            }
            if Self.seconds() - lastLine >= 1 {
                lastLine = Self.seconds()
                progress()
            }
        }
        progress()
        return failed == 0 ? 0 : 1
    }

    private func note(_ seed: UInt64) {
        guard currentFile >= 0 else { return }
        let text = Array("\(seed)\n".utf8)
        _ = text.withUnsafeBytes { pwrite(currentFile, $0.baseAddress, $0.count, 0) }
    }

    private func tell(_ outcome: SimulationOutcome) {
        if !arguments.keepsGoing {
            for line in outcome.trace.suffix(arguments.wantsTrace ? .max : 60) { say(line) }
        }
        if let violation = outcome.violation {
            say(
                "seed \(outcome.seed) breaks \(violation.checker) (\(violation.checker.rawValue)) at step "
                    + "\(violation.step): \(violation.message)")
        } else {
            print("seed \(outcome.seed) holds: \(outcome.steps) steps, \(outcome.virtualTime.text)")
        }
    }
}
