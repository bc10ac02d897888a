import Lifecycle
import LifecycleSimulation

extension MutationTests {
    /// Found where the daemon dies, and another begins.
    static let ofLives = [
        Mutation("forgets what a predecessor noted", .oldSleep) {
            Mutant(event: { if case .sleepNoted = $0 { nil } else { $0 } })
        },
        Mutation("freezes for a sleep that was before its time", .oldSleep) { .freezingInDoubt() },
        Mutation("hurries for a sleep that was before its time", .oldSleep) {
            .replacing {
                guard case .call(let instance, let id, .willResignActive, let deadline) = $0 else { return [$0] }
                return [.call(instance, id, .willResignActive, deadline: deadline / 2)]
            }
        },
    ]
}

extension Mutant {
    /// Apps in front are frozen for what only logind's property says.
    fileprivate static func freezingInDoubt() -> Mutant {
        var instances: [(app: AppID, instance: InstanceID)] = []
        return Mutant(effects: { effects, event, _ in
            var altered = effects
            for effect in effects {
                if case .spawn(let app, let instance, _, _) = effect { instances.append((app, instance)) }
                guard case .note(.sleepPreparing) = effect, case .loginAvailable = event else { continue }
                altered += instances.suffix(3).map { .freeze($0.instance) }
            }
            return altered
        })
    }
}
