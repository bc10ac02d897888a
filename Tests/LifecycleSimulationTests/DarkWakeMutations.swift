import Lifecycle
import LifecycleSimulation

extension MutationTests {
    static let ofDarkWakes = [
        Mutation("thaws everybody", .darkWake) { .inTheDark { frozen in frozen.map { .process(.thaw($0)) } } },
        Mutation("thaws nobody", .darkWake) {
            Mutant(effects: { effects, _, _ in
                guard effects.contains(where: \.isDarkWake) else { return effects }
                return effects.filter { if case .process(.thaw) = $0 { false } else { true } }
            })
        },
        Mutation("launches in a dark wake", .darkWake) {
            .inTheDark { _ in
                [.process(.spawn(AppID(rawValue: 0), InstanceID(rawValue: 1_000_000), .restart, background: true))]
            }
        },
        Mutation("tells apps that they come to the front", .darkWake) {
            .inTheDark { frozen in
                frozen.map {
                    .app(.call($0, CallID(rawValue: 1_000_000), .willEnterForeground, allowance: .seconds(1)))
                }
            }
        },
        Mutation("never sleeps again", .darkWake) { .replacing { $0 == .login(.suspendDevice) ? [] : [$0] } },
        Mutation("sleeps again at once", .darkWake) {
            Mutant(effects: { effects, _, _ in
                effects.contains(where: \.isDarkWake) && !effects.contains(.login(.suspendDevice))
                    ? effects + [.login(.suspendDevice)] : effects
            })
        },
        Mutation("stays for longer than it may", .darkWake) {
            .configured { _, device in device.darkWakeAllowance = device.darkWakeAllowance + .seconds(1) }
        },
        Mutation("begins without an alarm", .darkWake) {
            .replacing {
                guard case .note(.sleep(.ended(let sleep, .slept))) = $0 else { return [$0] }
                return [.note(.sleep(.darkWake(sleep: sleep, allowance: .seconds(30)))), $0]
            }
        },
        Mutation("does not clear the alarm", .darkWake) { .replacing { $0 == .sleep(.setWakeAlarm(nil)) ? [] : [$0] } },
        Mutation("sets no alarm", .darkWake) {
            .replacing { if case .sleep(.setWakeAlarm) = $0 { [] } else { [$0] } }
        },
        Mutation("sets the alarm too late", .darkWake) {
            .replacing {
                guard case .sleep(.setWakeAlarm(let moment?)) = $0 else { return [$0] }
                return [.sleep(.setWakeAlarm(moment + .seconds(1)))]
            }
        },
        Mutation("does not ask for the next sleep's lock", .darkWake) {
            Mutant(effects: { effects, _, _ in
                effects.contains(where: \.isDarkWake) ? effects.filter { $0 != .login(.takeLock(.sleep)) } : effects
            })
        },
        Mutation("does not hear of a refused sleep", .darkWake) {
            Mutant(event: { $0 == .login(.suspendRefused) ? nil : $0 })
        },
        Mutation("leaves an operator waiting in the dark", .darkWake) { .deafInTheDark() },
        Mutation("leaves somebody frozen", .darkWake) { .leavingFrozen() },
        Mutation("keeps the board awake in a dark wake", .keepAwake) {
            .inTheDark { _ in [.login(.takeLock(.keepAwake))] }
        },
    ]
}

extension Effect {
    var isDarkWake: Bool { if case .note(.sleep(.darkWake)) = self { true } else { false } }
}

extension Mutant {
    /// More is done as a dark wake begins. more: is given who is frozen then.
    static func inTheDark(_ more: @escaping ([InstanceID]) -> [Effect]) -> Mutant {
        var frozen: [InstanceID] = []
        return Mutant(effects: { effects, event, _ in
            if case .process(.exited(let instance, _)) = event { frozen.removeAll { $0 == instance } }
            for effect in effects {
                switch effect {
                case .process(.freeze(let instance)): frozen.append(instance)
                case .process(.thaw(let instance)): frozen.removeAll { $0 == instance }
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
                case .client(.requested(_, .activate)), .client(.requested(_, .launch)), .client(.requested(_, .adopt)):
                    return nil
                default: return event
                }
            },
            effects: { effects, _, _ in
                for case .note(let notice) in effects {
                    switch notice {
                    case .sleep(.darkWake): isDark = true
                    case .sleep(.preparing), .sleep(.ended): isDark = false
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
                case .sleep(.darkWake): isDark = true
                case .sleep(.preparing): isDark = false
                case .sleep(.ended):
                    if isDark { altered.removeAll { if case .process(.thaw) = $0 { true } else { false } } }
                    isDark = false
                default: break
                }
            }
            return altered
        })
    }
}
