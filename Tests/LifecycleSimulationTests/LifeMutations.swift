import Lifecycle
import LifecycleSimulation

extension MutationTests {
    /// Found where the daemon dies, and another begins.
    static let ofLives = [
        Mutation("forgets what a predecessor noted", .oldSleep) {
            Mutant(event: { if case .sleep(.noted) = $0 { nil } else { $0 } })
        },
        Mutation("freezes for a sleep that was before its time", .oldSleep) { .freezingInDoubt() },
        Mutation("hurries for a sleep that was before its time", .oldSleep) {
            .replacing {
                guard case .app(.call(let instance, let id, .willResignActive, let deadline)) = $0 else { return [$0] }
                return [.app(.call(instance, id, .willResignActive, allowance: deadline / 2))]
            }
        },
        Mutation("ends any sleep by the end of another", .oldSleep) {
            Mutant(event: { event in
                guard case .client(.requested(let id, .sleep(false, false, about: _?))) = event else { return event }
                return .client(.requested(id, .sleep(start: false, logical: true)))
            })
        },
        Mutation("takes a damaged archive for a whole one", .archive) {
            Mutant(state: { core in
                var other = core
                _ = other.handle(.board(.underVoltage(true)), at: Instant(monotonic: .max, boottime: .max))
                return other
            })
        },
        Mutation("never fills the pool of an app that is never in front", .refills) { .denyingTasks() },
        Mutation("takes time in which it was frozen for stable uptime", .restartsBounded) { .forgivingTheFrozen() },
    ]
}

extension Mutant {
    /// After a while every task is denied.
    fileprivate static func denyingTasks() -> Mutant {
        var begun = 0
        return Mutant(effects: { effects, event, _ in
            guard case .client(.requested(let id, .beginBackgroundTask)) = event else { return effects }
            begun += 1
            guard begun > 20 else { return effects }
            return effects.filter {
                switch $0 {
                case .client(.taskChanged(_, _, _, .began)), .client(.reply): false
                default: true
                }
            } + [.client(.reply(id, .beginBackgroundTask(.denied(.budgetSpent(refill: .activation)))))]
        })
    }

    /// Each restart is as quick as the first.
    fileprivate static func forgivingTheFrozen() -> Mutant {
        Mutant(effects: { effects, event, _ in
            guard case .process(.exited) = event else { return effects }
            let left = effects.compactMap { effect -> AppID? in
                if case .note(.app(.leftDown(let app, _))) = effect { app } else { nil }
            }
            let spawns = left.map {
                Effect.process(.spawn($0, InstanceID(rawValue: 1_000_000), .restart, background: true))
            }
            return effects + spawns
        })
    }

    /// Apps in front are frozen for what only logind's property says.
    fileprivate static func freezingInDoubt() -> Mutant {
        var instances: [(app: AppID, instance: InstanceID)] = []
        return Mutant(effects: { effects, event, _ in
            var altered = effects
            for effect in effects {
                if case .process(.spawn(let app, let instance, _, _)) = effect { instances.append((app, instance)) }
                guard case .note(.sleep(.preparing)) = effect, case .login(.available) = event else { continue }
                altered += instances.suffix(3).map { .process(.freeze($0.instance)) }
            }
            return altered
        })
    }
}
