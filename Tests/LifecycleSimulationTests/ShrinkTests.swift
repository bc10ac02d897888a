import LifecycleSimulation
import Testing

/// What is found in a long story is told in a short one, the same each time.
@Suite struct ShrinkTests {
    static let samples = [
        "never releases the sleep lock", "does not report", "ends deadlines 10 % early", "thaws while frozen for sleep",
        "counts frozen and lost time", "never takes the sleep lock again",
    ]
    /// Lines that a person reads in one go; most stories have 20 to 40.
    static let most = 70

    /// The first seed whose story is long: a short one needs no shrinking.
    private func longFailure(_ mutation: MutationTests.Mutation) -> SimulationOutcome? {
        MutationTests.seeds.lazy
            .map { simulate(seed: $0, interposer: mutation.make(), only: [mutation.checker]) }
            .first { ($0.violation?.step ?? 0) > 60 }
    }

    private func shortStory(_ mutation: MutationTests.Mutation, seed: UInt64) -> ShrunkStory? {
        shrink(seed: seed, checker: mutation.checker, effort: 60_000, interposer: { mutation.make() })
    }

    @Test(arguments: samples)
    func longStoryIsToldShortly(_ name: String) throws {
        let mutation = try #require(MutationTests.all.first { $0.name == name })
        let failure = try #require(longFailure(mutation))
        let story = try #require(shortStory(mutation, seed: failure.seed))
        print("\(mutation.testDescription): seed \(failure.seed), \(story.lines.count) lines of \(story.runs) runs")
        for line in story.lines { print("  " + line) }
        print("  \(story.violation.message)")
        #expect(story.violation.checker == mutation.checker)
        #expect(story.lines.count <= Self.most)
        #expect(story.lines == shortStory(mutation, seed: failure.seed)?.lines)
    }
}
