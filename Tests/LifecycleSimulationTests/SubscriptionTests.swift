import LifecycleSimulation
import Testing

/// Checkers are called for what they say they want. That must be all that they need: a checker that is called for
/// everything comes to the same judgement.
@Suite struct SubscriptionTests {
    private func violation(_ mutation: MutationTests.Mutation, seed: UInt64, tellsAll: Bool) -> String {
        var limits = SimulationLimits()
        limits.tellsAll = tellsAll
        let outcome = simulate(seed: seed, limits: limits, interposer: mutation.make(), only: [mutation.checker])
        let broken = outcome.violation.map { "\($0.checker) at step \($0.step)" }
        return "\(outcome.steps) steps, \(broken ?? "holds")"
    }

    @Test(arguments: MutationTests.all)
    func whatIsNotWantedIsNotNeeded(_ mutation: MutationTests.Mutation) {
        for seed: UInt64 in 1...6 {
            #expect(
                violation(mutation, seed: seed, tellsAll: false) == violation(mutation, seed: seed, tellsAll: true),
                "seed \(seed)")
        }
    }
}
