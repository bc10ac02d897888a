import Foundation
import Lifecycle
import LifecycleSimulation
import Testing

/// Seeds against all checkers. A seed that fails is printed with the last of its trace; replay it with
/// `deploy/simulate --seed N --trace`, and add it to seeds.txt with the mend.
@Suite struct SeedTests {
    /// Fresh seeds, in parts of equal size that may run side by side.
    static let parts = 10
    static let seedsOfPart: UInt64 = 200
    static let base: UInt64 = 7_000_000

    /// Every seed that ever failed.
    static let failedOnce: [UInt64] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "seeds.txt")
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.compactMap { UInt64($0.prefix { $0 != " " }) }
    }()

    private func expectToHold(
        _ seeds: some Sequence<UInt64>, storms: Bool = true, hardships: Bool = true, dense: Bool = false
    ) -> Int {
        var limits = SimulationLimits()
        limits.storms = storms
        limits.hardships = hardships
        limits.isDense = dense
        var steps = 0
        for seed in seeds {
            let outcome = simulate(seed: seed, limits: limits)
            steps += outcome.steps
            guard let violation = outcome.violation else { continue }
            let boards = (storms ? "" : " --calm") + (hardships ? "" : " --friendly") + (dense ? " --dense" : "")
            Issue.record(
                """
                \(outcome.trace.suffix(40).joined(separator: "\n"))
                seed \(seed) breaks \(violation.checker) at step \(violation.step): \(violation.message)
                replay it with: deploy/simulate --seed \(seed) --trace\(boards)
                """)
            break
        }
        return steps
    }

    @Test func everySeedThatEverFailedHolds() {
        #expect(!Self.failedOnce.isEmpty)
        _ = expectToHold(Self.failedOnce)
        _ = expectToHold(Self.failedOnce, dense: true)
        // Many are from when no board was rough, and most of those from when boards had no conditions.
        _ = expectToHold(Self.failedOnce, hardships: false)
        _ = expectToHold(Self.failedOnce, storms: false, hardships: false)
    }

    @Test(arguments: 0..<parts)
    func freshSeedsHold(part: Int) {
        let first = Self.base + UInt64(part) * Self.seedsOfPart
        let steps = expectToHold(first..<first + Self.seedsOfPart)
        #expect(steps * Self.parts >= 100_000, "\(steps) steps in a part: too few to mean much")
    }
}
