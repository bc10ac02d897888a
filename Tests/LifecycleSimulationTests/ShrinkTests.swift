import LifecycleSimulation
import Testing

/// What is found in a long story is told in a short one, the same each time.
@Suite struct ShrinkTests {
    struct Sample: CustomTestStringConvertible, Sendable {
        let mutation: String
        /// Lines that a person reads without paging.
        let lines: Int

        var testDescription: String { mutation }
    }

    static let samples = [
        Sample(mutation: "never releases the sleep lock", lines: 25),
        Sample(mutation: "does not report", lines: 40),
        Sample(mutation: "ends deadlines 10 % early", lines: 60),
        Sample(mutation: "thaws while frozen for sleep", lines: 25),
        Sample(mutation: "counts frozen and lost time", lines: 70),
        Sample(mutation: "never takes the sleep lock again", lines: 30),
    ]

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
    func longStoryIsToldShortly(_ sample: Sample) throws {
        let mutation = try #require(MutationTests.all.first { $0.name == sample.mutation })
        let failure = try #require(longFailure(mutation))
        let story = try #require(shortStory(mutation, seed: failure.seed))
        print("\(mutation.testDescription): seed \(failure.seed), \(story.lines.count) lines of \(story.runs) runs")
        for line in story.lines { print("  " + line) }
        print("  \(story.violation.message)")
        #expect(story.violation.checker == mutation.checker)
        #expect(story.lines.count <= sample.lines)
        #expect(story.lines == shortStory(mutation, seed: failure.seed)?.lines)
    }
}
