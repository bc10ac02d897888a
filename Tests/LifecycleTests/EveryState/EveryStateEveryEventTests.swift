import Testing

@testable import Lifecycle

/// Walks breadth first through everything that can happen to two apps, and delivers every event in every state.
@Suite struct EveryStateEveryEventTests {
    @Test func invariantsHold_whenBothAppsAreFrozenAndTold() throws {
        let server = app("server") { $0.restart = .always }
        let client = app("client") {
            $0.after = ["server"]
            $0.liveness = .seconds(10)
        }
        let search = Search([server, client])
        search.run(limit: 6000)
        search.check(leastStates: 4000, leastSteps: 200_000, leastCombinations: 100)
    }
}
