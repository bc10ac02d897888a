import Testing

@testable import Lifecycle

/// Walks breadth first through what can happen to two apps, and delivers every event in every state it visits.
@Suite struct EveryStateEveryEventTests {
    @Test func invariantsHold_whenBothAppsAreToldAndFrozen() throws {
        let server = app("server") { $0.restart = .always }
        let client = app("client") {
            $0.after = ["server"]
            $0.liveness = .seconds(10)
        }
        let search = Search([server, client])
        search.run(limit: 3500)
        search.check(leastSteps: 250_000, leastCombinations: 500)
    }

    @Test func invariantsHold_whenTasksKeepTheBoardAwakeAndProcessesAreTakenOver() throws {
        let server = app("server") {
            $0.keepsAwake = true
            $0.taskBudget = .seconds(60)
        }
        let search = Search([server], adopts: true)
        search.run(limit: 4500)
        search.check(leastSteps: 200_000, leastCombinations: 300)
    }

    @Test func invariantsHold_whenTheBoardHasConditions() throws {
        let server = app("server") {
            $0.priorityBand = 50
            $0.isEssential = true
        }
        let search = Search([server, app("client") { $0.after = ["server"] }], hasConditions: true)
        search.run(limit: 2000)
        search.check(leastSteps: 150_000, leastCombinations: 150)
    }

    @Test func invariantsHold_whenOneAppIsExemptAndOneHasToSayReady() throws {
        let server = app("server") {
            $0.readiness = .notify
            $0.restartDelay = .zero
        }
        let client = app("client") {
            $0.after = ["server"]
            $0.suspend = false
        }
        let search = Search([server, client])
        search.run(limit: 3500)
        search.check(leastSteps: 250_000, leastCombinations: 340)
    }
}
