import Lifecycle
import LifecycleSimulation

extension MutationTests {
    /// Of orders among apps, shares of time, and what logind's words mean.
    static let ofWords = [
        Mutation("thaws clients before servers", .thawOrder) { .thawingBackwards() },
        Mutation("gives the first handler of a sleep all the time", .sleepShare) {
            .replacing {
                guard case .app(.call(let instance, let id, .willResignActive, let deadline)) = $0 else { return [$0] }
                return [.app(.call(instance, id, .willResignActive, allowance: deadline + deadline))]
            }
        },
        Mutation("calls handlers though there is no time for them", .sleepShare) {
            .replacing {
                guard case .note(.sleep(.preparing(let sleep, _))) = $0 else { return [$0] }
                return [.note(.sleep(.preparing(sleep: sleep, allowance: .milliseconds(900))))]
            }
        },
        Mutation("gives one wave what is meant for all", .waves) {
            .replacing {
                guard case .app(.call(let instance, let id, .willTerminate(let reason), let deadline)) = $0 else {
                    return [$0]
                }
                return [.app(.call(instance, id, .willTerminate(reason), allowance: deadline + .seconds(3)))]
            }
        },
        Mutation("forgets some apps of a wave", .waves) {
            .replacing {
                guard case .app(.call(let instance, _, .willTerminate("shutdown"), _)) = $0 else { return [$0] }
                return instance.rawValue % 2 == 0 ? [] : [$0]
            }
        },
        // As a wish that is denied in the end would change what else is known.
        Mutation("is told of another battery level while a wish is under way", .denials) { .hearingLess() },
        Mutation("does not hear that logind is gone", .loginWord) {
            Mutant(event: { $0 == .login(.unavailable) ? nil : $0 })
        },
        Mutation("does not hear of a shutdown", .loginWord) {
            Mutant(event: { if case .login(.prepareForShutdown(true, _, _)) = $0 { nil } else { $0 } })
        },
        Mutation("asks for the way back twice", .loginWord) {
            .replacing { $0 == .login(.suspendDevice) ? [$0, $0] : [$0] }
        },
        Mutation("keeps the lock in a sleep", .loginWord) {
            .replacing { $0 == .login(.releaseLock(.sleep)) ? [] : [$0] }
        },
        Mutation("does not freeze in a sleep", .heldAsleep) {
            .replacing { if case .process(.freeze) = $0 { [] } else { [$0] } }
        },
        Mutation("calls unfreezable what it is only about to freeze", .heldAsleep) {
            .replacing {
                if case .process(.freeze(let instance)) = $0 {
                    [$0, .process(.reportStuck(instance, .unfreezable))]
                } else {
                    [$0]
                }
            }
        },
        Mutation("does not kill by force", .promptness) {
            Mutant(event: {
                guard case .client(.requested(let id, .terminate(let app, true))) = $0 else { return $0 }
                return .client(.requested(id, .terminate(app, force: false)))
            })
        },
        Mutation("does not start what a reload brings", .launches) {
            .replacing {
                guard case .process(.spawn(_, _, .boot, _)) = $0 else { return [$0] }
                return []
            }
        },
        Mutation("loses an app of the configuration", .reloads) {
            Mutant(event: {
                guard case .configured(let apps, let device) = $0 else { return $0 }
                return .configured(Array(apps.dropLast()), device)
            })
        },
        Mutation("does not hear the power key", .sleepWishes) {
            Mutant(event: { $0 == .board(.keyPressed(.power)) ? .timePassed : $0 })
        },
        Mutation("takes each key for the power key", .rest) {
            Mutant(event: {
                guard case .board(.keyPressed) = $0 else { return $0 }
                return .board(.keyPressed(.power))
            })
        },
        Mutation("lets live what comes up too late", .owned) {
            Mutant(effects: { effects, event, _ in
                guard case .process(.spawned(let instance)) = event else { return effects }
                return effects.filter { $0 != .process(.kill(instance)) }
            })
        },
        Mutation("waits longer for a restart than it should", .restartsBounded) {
            .replacing {
                guard case .note(.app(.restartScheduled(let app, let delay))) = $0 else { return [$0] }
                return [.note(.app(.restartScheduled(app, delay: delay + delay)))]
            }
        },
        Mutation("waits for the kill for a second too long", .deadlineKept) { .killingLate() },
    ]
}

extension Mutant {
    fileprivate static func thawingBackwards() -> Mutant {
        Mutant(effects: { effects, _, _ in
            let isWake = effects.contains { if case .note(.sleep(.ended)) = $0 { true } else { false } }
            guard isWake else { return effects }
            let thaws = effects.filter { if case .process(.thaw) = $0 { true } else { false } }
            let others = effects.filter { if case .process(.thaw) = $0 { false } else { true } }
            guard let place = others.firstIndex(where: { if case .note(.sleep(.ended)) = $0 { true } else { false } })
            else {
                return effects
            }
            return others[...place] + thaws.reversed() + others[(place + 1)...]
        })
    }

    /// Kills are kept back until a second has passed.
    fileprivate static func killingLate() -> Mutant {
        var kept: [(effect: Effect, since: Nanoseconds)] = []
        return Mutant(effects: { effects, _, instant in
            let due = kept.filter { instant.monotonic - $0.since >= .seconds(1) }.map(\.effect)
            kept.removeAll { instant.monotonic - $0.since >= .seconds(1) }
            var altered: [Effect] = []
            for effect in effects {
                if case .process(.kill) = effect {
                    kept.append((effect, instant.monotonic))
                } else {
                    altered.append(effect)
                }
            }
            return altered + due
        })
    }
}
