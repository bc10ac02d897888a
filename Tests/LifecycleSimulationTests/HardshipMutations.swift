import Lifecycle
import LifecycleSimulation

extension MutationTests {
    /// Found by what really happened on the board.
    static let ofHardships = [
        Mutation("takes a blank supply for a charger", .battery) {
            Mutant(event: { event in
                guard case .board(.power(let reading)) = event, reading.isExternal == nil || reading.level == nil else {
                    return event
                }
                return .board(.power(PowerReading(isExternal: true, level: 100)))
            })
        },
        Mutation("starts apps on a board without memory", .relief) {
            Mutant(event: {
                if case .memory(.read(_, let total, let uses)) = $0 {
                    .memory(.read(available: total, total: total, uses))
                } else {
                    $0
                }
            })
        },
        Mutation("brings to the front what was denied", .wishes) { .grantingTheDenied() },
        Mutation("asks for a sleep once", .rest) { .askingOnce { $0 == .login(.suspendDevice) } },
        Mutation("wakes everybody by its alarm", .presence) {
            .replacing {
                guard case .note(.sleep(.darkWake(let sleep, _))) = $0 else { return [$0] }
                return [.note(.sleep(.ended(sleep: sleep, .slept)))]
            }
        },
        Mutation("says that every sleep was one", .oldSleep) {
            .replacing {
                guard case .note(.sleep(.ended(let sleep, _))) = $0 else { return [$0] }
                return [.note(.sleep(.ended(sleep: sleep, .slept)))]
            }
        },
        Mutation("asks for a lock once", .questions) { .askingOnce { $0 == .login(.takeLock(.shutdown)) } },
        Mutation("does not give up a start", .questions) {
            Mutant(effects: { effects, _, _ in
                let isOfStart = effects.contains {
                    if case .report(let end) = $0 { end.reason.namespace == .launchFailure } else { false }
                }
                return isOfStart
                    ? effects.filter {
                        switch $0 {
                        case .report, .process(.kill): false
                        default: true
                        }
                    } : effects
            })
        },
        Mutation("ends apps that give nothing back", .gains) {
            Mutant(event: { event in
                guard case .memory(.read(let available, let total, let uses)) = event else { return event }
                let grown = uses.map { MemoryUse(instance: $0.instance, bytes: 1 << 30) }
                return .memory(.read(available: available, total: total, grown))
            })
        },
        Mutation("does not say who was launched", .notices) {
            .replacing { if case .note(.app(.launched)) = $0 { [] } else { [$0] } }
        },
        Mutation("says twice who was launched", .notices) {
            .replacing { if case .note(.app(.launched)) = $0 { [$0, $0] } else { [$0] } }
        },
        Mutation("does not look at the board", .notices) { .replacing { $0 == .board(.poll) ? [] : [$0] } },
        Mutation("does not ask what was missed", .notices) {
            .replacing { $0 == .login(.readPreparingForSleep) ? [] : [$0] }
        },
        Mutation("does not say that an app has changed", .changes) {
            .replacing { if case .client(.appChanged) = $0 { [] } else { [$0] } }
        },
        Mutation("does not say that the device has changed", .changes) {
            .replacing { $0 == .client(.deviceChanged) ? [] : [$0] }
        },
    ]
}

extension Mutant {
    /// A wish for the front that a sleep denies comes true after it.
    fileprivate static func grantingTheDenied() -> Mutant {
        var asked: [(id: RequestID, app: AppID)] = []
        var denied: [AppID] = []
        return Mutant(
            event: { event in
                if case .client(.requested(let id, .activate(let app))) = event { asked.append((id, app)) }
                guard event == .timePassed, let app = denied.popLast() else { return event }
                return .client(.requested(RequestID(rawValue: -1), .activate(app)))
            },
            effects: { effects, _, _ in
                for effect in effects {
                    guard case .client(.reply(let id, .app(.denied(.sleeping)))) = effect,
                        let app = asked.first(where: { $0.id == id })?.app
                    else { continue }
                    denied.append(app)
                }
                return effects
            })
    }

    fileprivate static func askingOnce(_ isQuestion: @escaping (Effect) -> Bool) -> Mutant {
        var hasAsked = false
        return replacing { effect in
            guard isQuestion(effect) else { return [effect] }
            defer { hasAsked = true }
            return hasAsked ? [] : [effect]
        }
    }
}
