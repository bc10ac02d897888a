import Lifecycle
import LifecycleSimulation
import Testing

/// A checker that lets a broken core pass is not worth having: each is shown cores that break its rule, and has to find
/// every one of them, alone.
@Suite struct MutationTests {
    struct Mutation: CustomTestStringConvertible, Sendable {
        let name: String
        let checker: CheckerName
        let make: @Sendable () -> Mutant

        init(_ name: String, _ checker: CheckerName, _ make: @escaping @Sendable () -> Mutant) {
            self.name = name
            self.checker = checker
            self.make = make
        }

        var testDescription: String { "\(checker): \(name)" }
    }

    /// More than enough: most are found in the first ten.
    static let seeds: ClosedRange<UInt64> = 1...5000

    static let ofSleep = [
        Mutation("never releases the sleep lock", .lockReleased) {
            .replacing { $0 == .login(.releaseLock(.sleep)) ? [] : [$0] }
        },
        Mutation("never releases the shutdown lock", .lockReleased) {
            .replacing { $0 == .login(.releaseLock(.shutdown)) ? [] : [$0] }
        },
        Mutation("takes the lock back at once", .lockReleased) {
            .replacing { $0 == .login(.releaseLock(.sleep)) ? [$0, .login(.takeLock(.sleep))] : [$0] }
        },
        Mutation("never says that a sleep is handled", .sleepHandled) {
            .replacing { $0 == .sleep(.handled(true)) ? [] : [$0] }
        },
        Mutation("says for ever that a sleep is handled", .sleepHandled) {
            .replacing { $0 == .sleep(.handled(false)) ? [] : [$0] }
        },
        Mutation("says it too late", .sleepHandled) {
            .replacing {
                switch $0 {
                case .sleep(.handled(true)): []
                case .login(.releaseLock(.sleep)): [$0, .sleep(.handled(true))]
                default: [$0]
                }
            }
        },
        Mutation("says it of an operator's sleep", .sleepHandled) {
            .replacing { if case .note(.sleep(.released)) = $0 { [$0, .sleep(.handled(true))] } else { [$0] } }
        },
        Mutation("releases before the freeze", .everybodyStill) {
            .replacing { if case .note(.sleep(.preparing)) = $0 { [$0, .login(.releaseLock(.sleep))] } else { [$0] } }
        },
        Mutation("does not freeze, and names nobody", .everybodyStill) {
            .replacing {
                switch $0 {
                case .process(.freeze), .process(.reportStuck): []
                default: [$0]
                }
            }
        },
        Mutation("forgets a phase after a sleep", .phaseRestored) { .forgettingPhase() },
        Mutation("thaws while frozen for sleep", .quietInSleep) { .thawingInSleep() },
        Mutation("thaws twice", .frozenSilence) { .thawingInSleep() },
        Mutation("launches in a sleep", .quietInSleep) {
            .replacing {
                guard case .note(.sleep(.released)) = $0 else { return [$0] }
                return [
                    $0,
                    .process(.spawn(AppID(rawValue: 0), InstanceID(rawValue: 1_000_000), .restart, background: true)),
                ]
            }
        },
        Mutation("never takes the sleep lock again", .convergence) {
            .replacing { $0 == .login(.takeLock(.sleep)) ? [] : [$0] }
        },
        Mutation("misses that the shutdown is off", .convergence) {
            Mutant(event: { if case .login(.prepareForShutdown(false, _, _)) = $0 { nil } else { $0 } })
        },
    ]

    static let ofApps = [
        Mutation("ends deadlines 10 % early", .deadlineKept) { .hurrying() },
        Mutation("counts frozen and lost time", .deadlineKept) { .countingAllTime() },
        Mutation("judges the frozen", .frozenSilence) { .countingAllTime() },
        Mutation("does not kill who overruns", .deadlineKept) {
            .replacing { if case .process(.kill) = $0 { [] } else { [$0] } }
        },
        Mutation("makes two calls at once", .handlerOrder) {
            .replacing { if case .app(.call) = $0 { [$0, $0] } else { [$0] } }
        },
        Mutation("goes to background without resigning", .handlerOrder) {
            .replacing {
                guard case .app(.call(let instance, let id, .willResignActive, let deadline)) = $0 else { return [$0] }
                return [.app(.call(instance, id, .didEnterBackground, allowance: deadline))]
            }
        },
        Mutation("calls who is asked to end", .handlerOrder) {
            .replacing {
                guard case .process(.terminate(let instance)) = $0 else { return [$0] }
                return [
                    $0, .app(.call(instance, CallID(rawValue: 1_000_000), .didBecomeActive, allowance: .seconds(1))),
                ]
            }
        },
        Mutation("calls before it thaws", .frozenSilence) {
            Mutant(effects: { effects, _, _ in
                let thaws = effects.filter { if case .process(.thaw) = $0 { true } else { false } }
                return effects.filter { !thaws.contains($0) } + thaws
            })
        },
        Mutation("does not suspend in background", .frozenSilence) {
            .replacing { if case .process(.freeze) = $0 { [] } else { [$0] } }
        },
        Mutation("reports twice", .recordedOnce) { .replacing { if case .report = $0 { [$0, $0] } else { [$0] } } },
        Mutation("does not report", .recordedOnce) { .replacing { if case .report = $0 { [] } else { [$0] } } },
        Mutation("reports after the restart", .recordedOnce) { .reportingLate() },
        Mutation("blames the watchdog", .recordedOnce) {
            .replacing {
                guard case .report(var end) = $0 else { return [$0] }
                end.reason = .exitOverrun(allowance: .seconds(1))
                return [.report(end)]
            }
        },
        Mutation("loses a field in the archive", .archive) {
            Mutant(state: { core in
                var copy = core
                _ = copy.handle(.freezing(available: false), at: Instant(monotonic: .zero, boottime: .zero))
                return copy
            })
        },
        Mutation("cannot read its archive", .archive) { Mutant(state: { _ in nil }) },
        Mutation("finds itself broken", .invariants) {
            .replacing { if case .report(let end) = $0 { [$0, .note(.fault(.staleDeadline, end.app))] } else { [$0] } }
        },
        Mutation("does not answer", .requestsAnswered) {
            .replacing { if case .client(.reply) = $0 { [] } else { [$0] } }
        },
        Mutation("answers twice", .requestsAnswered) {
            .replacing { if case .client(.reply) = $0 { [$0, $0] } else { [$0] } }
        },
        Mutation("says done at once", .requestsAnswered) {
            Mutant(effects: { effects, event, _ in
                guard case .client(.requested(let id, .terminate)) = event else { return effects }
                return effects + [.client(.reply(id, .app(.done)))]
            })
        },
        Mutation("restarts without a delay", .restartsBounded) {
            .replacing {
                guard case .note(.app(.restartScheduled(let app, _))) = $0 else { return [$0] }
                return [$0, .process(.spawn(app, InstanceID(rawValue: 1_000_000), .restart, background: true))]
            }
        },
        Mutation("starts two", .oneInstance) {
            .replacing {
                guard case .process(.spawn(let app, let id, let reason, let background)) = $0 else { return [$0] }
                return [
                    $0, .process(.spawn(app, InstanceID(rawValue: id.rawValue + 1), reason, background: background)),
                ]
            }
        },
        Mutation("clears what still runs", .oneInstance) {
            .replacing {
                if case .process(.terminate(let instance)) = $0 { [$0, .process(.clear(instance))] } else { [$0] }
            }
        },
    ]

    static let all =
        ofSleep + ofDarkWakes + ofApps + ofTasks + ofConditions + ofBoards
        + ofHardships + ofLives + ofWords + ofEnds

    @Test(arguments: all)
    func brokenCoreIsFound(_ mutation: Mutation) throws {
        // The strict checkers look at friendly boards only, and on boards without conditions some things happen more
        // often.
        let isHardy = mutation.checker.rawValue > CheckerName.serviceWatchdog.rawValue
        let found =
            (isHardy ? Self.find(mutation, hardships: true) : nil) ?? Self.find(mutation)
            ?? Self.find(mutation, storms: false) ?? (isHardy ? nil : Self.find(mutation, hardships: true))
        let outcome = try #require(found, "\(mutation.testDescription) was not found")
        let violation = try #require(outcome.violation)
        #expect(violation.checker == mutation.checker)
        print("\(mutation.testDescription): seed \(outcome.seed), step \(violation.step): \(violation.message)")
    }

    private static func find(
        _ mutation: Mutation, storms: Bool = true, hardships: Bool = false
    ) -> SimulationOutcome? {
        var limits = SimulationLimits()
        limits.storms = storms
        limits.hardships = hardships
        return seeds.lazy
            .map { simulate(seed: $0, limits: limits, interposer: mutation.make(), only: [mutation.checker]) }
            .first { $0.violation != nil }
    }

    @Test func everyCheckerIsTried() {
        let tried = Set(Self.all.map(\.checker))
        #expect(tried.count == CheckerName.allCases.count)
    }
}
