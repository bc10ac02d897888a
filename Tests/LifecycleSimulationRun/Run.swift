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

/// Nanoseconds of MONOTONIC.
func monotonicNow() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

extension Arguments {
    var checkers: Set<CheckerName>? {
        only.map { name in Set(CheckerName.allCases.filter { "\($0)" == name }) }
    }

    var limits: SimulationLimits {
        var limits = SimulationLimits()
        limits.keepsTrace = wantsTrace
        limits.records = recording != nil
        limits.storms = !isCalm
        limits.hardships = !isFriendly
        limits.isDense = isDense
        if let steps { limits.steps = steps }
        return limits
    }
}

/// One seed, with all that there is to say of it.
struct Replay {
    let arguments: Arguments
    let seed: UInt64

    /// 0: it holds; 1: it does not.
    func status() -> Int32 {
        let outcome = simulate(seed: seed, limits: arguments.limits, only: arguments.checkers)
        if arguments.wantsTrace || !arguments.wantsShrinking {
            for line in outcome.trace.suffix(arguments.wantsTrace ? .max : 60) { say(line) }
        }
        say(Self.text(outcome))
        if let file = arguments.recording, !write(outcome.recording, to: file) { return 2 }
        guard let violation = outcome.violation else { return 0 }
        if arguments.wantsShrinking { shrinkStory(violation.checker) }
        return 1
    }

    private func write(_ bytes: [UInt8], to file: String) -> Bool {
        guard let stream = fopen(file, "w") else {
            perror(file)
            return false
        }
        let isWritten = fwrite(bytes, 1, bytes.count, stream) == bytes.count
        if fclose(stream) == 0, isWritten { return true }
        perror(file)
        return false
    }

    static func text(_ outcome: SimulationOutcome) -> String {
        guard let violation = outcome.violation else {
            return "seed \(outcome.seed) holds: \(outcome.steps) steps, \(outcome.virtualTime.text)"
        }
        return "seed \(outcome.seed) breaks \(violation.checker) (\(violation.checker.rawValue)) at step "
            + "\(violation.step): \(violation.message)"
    }

    /// The shortest story that half a minute finds.
    func shrinkStory(_ checker: CheckerName) {
        var limits = arguments.limits
        limits.keepsTrace = false
        let end = monotonicNow() + 30_000_000_000
        let story = shrink(seed: seed, limits: limits, checker: checker, isOutOfTime: { monotonicNow() >= end })
        guard let story else { return say("its story could not be told again") }
        say("\nthe shortest story of \(story.runs) that breaks \(checker):")
        for line in story.lines { say("  " + line) }
        say("  \(story.violation.message)")
    }
}

/// One process of a search: every n-th of its seeds.
struct Worker {
    let arguments: Arguments
    let index: Int
    let tally: SharedTally

    /// 0: every seed passed; 1: one failed.
    func status() -> Int32 {
        let parent = getppid()
        let start = monotonicNow()
        let stride = UInt64(arguments.jobs)
        let share = (arguments.stepsTotal ?? .max) / stride
        var number = UInt64(index)
        while number < arguments.seeds ?? .max, tally[index, .steps] < share, getppid() == parent {
            let seed = arguments.from &+ number
            tally[index, .current] = seed
            let outcome = simulate(seed: seed, limits: arguments.limits, only: arguments.checkers)
            tally[index, .seeds] += 1
            tally[index, .steps] += UInt64(outcome.steps)
            tally[index, .virtualTime] += UInt64(outcome.virtualTime.rawValue)
            if arguments.wantsTrace { for line in outcome.trace + [Replay.text(outcome)] { say(line) } }
            if outcome.violation != nil {
                tally[index, .failures] += 1
                if tally[index, .failures] == 1 {
                    tally[index, .failed] = seed
                    tally[index, .seedsToFailure] = tally[index, .seeds]
                    tally[index, .timeToFailure] = monotonicNow() - start
                }
                if !arguments.keepsGoing { return 1 }
                if !arguments.wantsTrace { say(Replay.text(outcome)) }
            }
            number += stride
        }
        return tally[index, .failures] == 0 ? 0 : 1
    }
}
