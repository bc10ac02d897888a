import Lifecycle
import LifecycleSimulation
import Testing

@Suite struct ReplayTests {
    private func trace(of seed: UInt64, storms: Bool = true) -> [String] {
        var limits = SimulationLimits()
        limits.storms = storms
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
            "configured", "started", "time passed", "is spawned", "could not be spawned", "has exited",
            "group is empty",
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
            "users, locked", "users, idle", "lid closed", "power key", "external false", "under-voltage true",
            "network up",
            "polling every", "memory pressure warning", "memory pressure critical", "is at its memory limit",
            "was killed by kernel for memory", "was killed by oomd for memory", "watchdog 15 s", "the board stays on",
            "-> feed the watchdog",
            "-> the watchdog rests", "-> the watchdog wakes", "-> switch the board off", "-> look at the board",
            "-> read the memory and its uses", "-> listen to the memory limit", "the battery is critical",
            "is lost, reset in", "memory is exhausted", "low power mode true", "thermal state critical",
            "no app above inactive", "no app above background", "the board is critically hot",
            "memory was critically short", "the board is switched off", "the lid is closed",
            "a condition of the board has just ended",
        ]
        var missing = wanted
        for seed: UInt64 in 1...300 where !missing.isEmpty {
            let lines = trace(of: seed)
            missing.removeAll { word in lines.contains { $0.contains(word) } }
        }
        // On boards without conditions some things happen more often.
        for seed: UInt64 in 1...300 where !missing.isEmpty {
            let lines = trace(of: seed, storms: false)
            missing.removeAll { word in lines.contains { $0.contains(word) } }
        }
        #expect(missing.isEmpty)
    }
}
