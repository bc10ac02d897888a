import Lifecycle
import LifecycleSimulation
import Testing

@Suite struct ReplayTests {
    private func trace(of seed: UInt64) -> [String] {
        var limits = SimulationLimits()
        limits.keepsTrace = true
        return simulate(seed: seed, limits: limits).trace
    }

    @Test func seedReplaysExactly() {
        for seed: UInt64 in 500..<520 {
            let first = trace(of: seed)
            #expect(first.count > 5)
            #expect(first == trace(of: seed), "seed \(seed)")
        }
    }

    @Test func otherSeedIsAnotherStory() {
        #expect(trace(of: 1) != trace(of: 2))
    }

    @Test func everyEventAndEffectOccurs() {
        let wanted = [
            "configured", "started", "woke", "is spawned", "could not be spawned", "has exited", "group is empty",
            "has frozen", "returns from call", "READY=1", "WATCHDOG=1", "STOPPING=1", "EXTEND_TIMEOUT", "is available",
            "is unavailable", "lock is taken", "lock is refused", "PrepareForSleep(true)", "PrepareForSleep(false)",
            "PrepareForShutdown(true)", "PrepareForShutdown(false)", "PreparingForSleep is true",
            "PreparingForSleep is unknown", "is abandoned", "SIGTERM", "-> spawn", "-> SIGTERM", "-> kill", "-> clear",
            "-> freeze", "-> thaw", "-> name the culprits", "-> release the sleep lock", "-> release the shutdown lock",
            "overran", "left down", "unannounced", "-> stop the daemon", "s2idle", "the event loop stalls",
            "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground", "WillEnterForeground",
            "WillTerminate", "BackgroundTaskWillExpire", "begun, left no limit", "begun, left 10 min", "expiring",
            "ended, held", "expired, held", "died, held", "there are 64 tasks", "no such task", "the budget is spent",
            "not configured with task-policy", "still held when the budget", "did not return within", "task grace",
            "take the keepAwake lock", "release the keepAwake lock", "keepAwake lock is refused",
            "has kept the board awake",
            "a lock blocks it", "adopt task-", "who started it knows how", "-> inform",
        ]
        var missing = wanted
        for seed: UInt64 in 1...300 where !missing.isEmpty {
            let lines = trace(of: seed)
            missing.removeAll { word in lines.contains { $0.contains(word) } }
        }
        #expect(missing.isEmpty)
    }
}
