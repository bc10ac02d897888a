import Lifecycle
import LifecycleSimulation

extension MutationTests {
    static let ofDarkWakes = [
        Mutation("thaws everybody", .darkWake) { .inTheDark { frozen in frozen.map { .thaw($0) } } },
        Mutation("thaws nobody", .darkWake) {
            Mutant(effects: { effects, _, _ in
                guard effects.contains(where: \.isDarkWake) else { return effects }
                return effects.filter { if case .thaw = $0 { false } else { true } }
            })
        },
        Mutation("launches in a dark wake", .darkWake) {
            .inTheDark { _ in [.spawn(AppID(rawValue: 0), InstanceID(rawValue: 1_000_000), .restart, background: true)]
            }
        },
        Mutation("tells apps that they come to the front", .darkWake) {
            .inTheDark { frozen in
                frozen.map { .call($0, CallID(rawValue: 1_000_000), .willEnterForeground, deadline: .seconds(1)) }
            }
        },
        Mutation("never sleeps again", .darkWake) { .replacing { $0 == .suspendDevice ? [] : [$0] } },
        Mutation("sleeps again at once", .darkWake) {
            Mutant(effects: { effects, _, _ in
                effects.contains(where: \.isDarkWake) && !effects.contains(.suspendDevice)
                    ? effects + [.suspendDevice] : effects
            })
        },
        Mutation("stays for longer than it may", .darkWake) {
            .configured { _, device in device.darkWakeAllowance = device.darkWakeAllowance + .seconds(1) }
        },
        Mutation("begins without an alarm", .darkWake) {
            .replacing {
                guard case .note(.sleepEnded(let sleep, .slept)) = $0 else { return [$0] }
                return [.note(.darkWake(sleep: sleep, allowance: .seconds(30))), $0]
            }
        },
        Mutation("does not clear the alarm", .darkWake) { .replacing { $0 == .setWakeAlarm(nil) ? [] : [$0] } },
        Mutation("sets no alarm", .darkWake) {
            .replacing { if case .setWakeAlarm = $0 { [] } else { [$0] } }
        },
        Mutation("sets the alarm too late", .darkWake) {
            .replacing {
                guard case .setWakeAlarm(let moment?) = $0 else { return [$0] }
                return [.setWakeAlarm(moment + .seconds(1))]
            }
        },
        Mutation("does not ask for the next sleep's lock", .darkWake) {
            Mutant(effects: { effects, _, _ in
                effects.contains(where: \.isDarkWake) ? effects.filter { $0 != .takeLock(.sleep) } : effects
            })
        },
        Mutation("does not hear of a refused sleep", .darkWake) {
            Mutant(event: { $0 == .suspendRefused ? nil : $0 })
        },
        Mutation("leaves an operator waiting in the dark", .darkWake) { .deafInTheDark() },
        Mutation("leaves somebody frozen", .darkWake) { .leavingFrozen() },
        Mutation("keeps the board awake in a dark wake", .keepAwake) { .inTheDark { _ in [.takeLock(.keepAwake)] } },
    ]
}

extension Effect {
    var isDarkWake: Bool { if case .note(.darkWake) = self { true } else { false } }
}

extension Mutant {
    /// More is done as a dark wake begins. more: is given who is frozen then.
    static func inTheDark(_ more: @escaping ([InstanceID]) -> [Effect]) -> Mutant {
        var frozen: [InstanceID] = []
        return Mutant(effects: { effects, event, _ in
            if case .exited(let instance, _) = event { frozen.removeAll { $0 == instance } }
            for effect in effects {
                switch effect {
                case .freeze(let instance): frozen.append(instance)
                case .thaw(let instance): frozen.removeAll { $0 == instance }
                default: break
                }
            }
            return effects.contains(where: \.isDarkWake) ? effects + more(frozen) : effects
        })
    }

    /// Whoever wants an app in a dark wake is not heard.
    static func deafInTheDark() -> Mutant {
        var isDark = false
        return Mutant(
            event: { event in
                guard isDark else { return event }
                switch event {
                case .requested(_, .activate), .requested(_, .launch), .requested(_, .adopt): return nil
                default: return event
                }
            },
            effects: { effects, _, _ in
                for case .note(let notice) in effects {
                    switch notice {
                    case .darkWake: isDark = true
                    case .sleepPreparing, .sleepEnded: isDark = false
                    default: break
                    }
                }
                return effects
            })
    }

    /// As a dark wake becomes a full one nobody is thawed.
    static func leavingFrozen() -> Mutant {
        var isDark = false
        return Mutant(effects: { effects, _, _ in
            var altered = effects
            for case .note(let notice) in effects {
                switch notice {
                case .darkWake: isDark = true
                case .sleepPreparing: isDark = false
                case .sleepEnded:
                    if isDark { altered.removeAll { if case .thaw = $0 { true } else { false } } }
                    isDark = false
                default: break
                }
            }
            return altered
        })
    }
}
