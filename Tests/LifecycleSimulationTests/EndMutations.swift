import Lifecycle
import LifecycleSimulation

extension MutationTests {
    /// Starts, ends, answers, limits, and what can be seen of them.
    static let ofEnds = [
        Mutation("says that a start at boot is a restart", .spawns) {
            .replacing {
                guard case .process(.spawn(let app, let id, .boot, let background)) = $0 else { return [$0] }
                return [.process(.spawn(app, id, .restart, background: background))]
            }
        },
        Mutation("starts in background what is to be in front", .spawns) {
            .replacing {
                guard case .process(.spawn(let app, let id, .boot, _)) = $0 else { return [$0] }
                return [.process(.spawn(app, id, .boot, background: true))]
            }
        },
        Mutation("sends no SIGTERM", .ends) {
            .replacing { if case .process(.terminate) = $0 { [] } else { [$0] } }
        },
        Mutation("calls no willTerminate", .ends) {
            .replacing {
                guard case .app(.call(let instance, _, .willTerminate, _)) = $0 else { return [$0] }
                return [.process(.terminate(instance))]
            }
        },
        Mutation("names no culprit", .culprits) {
            .replacing { if case .process(.reportStuck) = $0 { [] } else { [$0] } }
        },
        Mutation("says of an operator's kill that it was for freezing", .stuckAgain) {
            .replacing { effect in
                if case .report(var end) = effect, end.reason == .endedByOperator(isForced: true) {
                    end.reason = .unfreezable
                    return [.report(end)]
                }
                return [effect]
            }
        },
        Mutation("says of every sleep's launch that it holds it up", .heldUp) {
            .replacing {
                guard case .note(.sleep(.released)) = $0 else { return [$0] }
                return [$0, .note(.app(.heldUpSleep(AppID(rawValue: 0))))]
            }
        },
        Mutation("says of no app that it keeps its lock", .heldLocks) {
            .replacing { if case .note(.app(.keepsLock)) = $0 { [] } else { [$0] } }
        },
        Mutation("says of an operator's kill that it was for many locks", .heldLocks) {
            .replacing { effect in
                guard case .report(var end) = effect, end.reason == .endedByOperator(isForced: true) else {
                    return [effect]
                }
                end.reason = .lockTableFilled
                return [.report(end)]
            }
        },
        Mutation("forgets that a sleep has waited for an end", .vainWaits) {
            .replacing {
                guard case .process(.reportStuck(_, .unkillable)) = $0 else { return [$0] }
                return [$0, .note(.sleep(.released(sleep: 0, elapsed: .zero, killed: 0)))]
            }
        },
        Mutation("grants everything at once", .answers) {
            .replacing {
                if case .client(.reply(let id, .app(.denied))) = $0 { [.client(.reply(id, .app(.done)))] } else { [$0] }
            }
        },
        Mutation("ends no sleep", .answers) {
            Mutant(event: { event in
                guard case .client(.requested(let id, .sleep(start: false, _, _))) = event else { return event }
                return .client(.requested(id, .setLowPower(nil)))
            })
        },
        Mutation("gives a sleep a margin too few", .limits) {
            .replacing {
                guard case .note(.sleep(.preparing(let sleep, let allowance))) = $0 else { return [$0] }
                return [.note(.sleep(.preparing(sleep: sleep, allowance: allowance + .milliseconds(100))))]
            }
        },
        Mutation("does not ask for logind's locks", .limits) {
            .replacing { if case .login(.takeLock) = $0 { [] } else { [$0] } }
        },
        Mutation("kills unseen", .views) { .replacing { if case .process(.kill) = $0 { [] } else { [$0] } } },
        Mutation("says nothing of the front", .views) {
            .replacing { if case .note(.app(.phaseChanged(_, .active))) = $0 { [] } else { [$0] } }
        },
        Mutation("gives each handler a little more", .allowances) {
            .replacing {
                guard case .app(.call(let instance, let id, let call, let deadline)) = $0 else { return [$0] }
                return [.app(.call(instance, id, call, allowance: deadline + .milliseconds(1)))]
            }
        },
        Mutation("calls no expiration handler", .expirations) {
            .replacing { if case .app(.call(_, _, .backgroundTaskWillExpire, _)) = $0 { [] } else { [$0] } }
        },
        Mutation("brings a command to the front", .adoptions) {
            .replacing {
                guard case .process(.spawn(let app, let id, .backgroundTask, _)) = $0 else { return [$0] }
                return [.process(.spawn(app, id, .backgroundTask, background: false))]
            }
        },
    ]
}
