import Lifecycle
import LifecycleSimulation

/// A core that is broken on purpose: what it hears, what it asks for or what is read back of it is altered.
final class Mutant: CoreInterposer {
    typealias AlterEvent = (Event) -> Event?
    typealias AlterEffects = ([Effect], Event, Instant) -> [Effect]
    typealias AlterState = (DeviceLifecycle) -> DeviceLifecycle?

    private let alterEvent: AlterEvent
    private let alterEffects: AlterEffects
    private let alterState: AlterState

    init(
        event: @escaping AlterEvent = { $0 }, effects: @escaping AlterEffects = { effects, _, _ in effects },
        state: @escaping AlterState = { DeviceLifecycle(archive: $0.archived()) }
    ) {
        alterEvent = event
        alterEffects = effects
        alterState = state
    }

    func event(_ event: Event, at instant: Instant) -> Event? { alterEvent(event) }

    func effects(
        _ effects: [Effect], after event: Event, at instant: Instant, _ core: DeviceLifecycle
    ) -> [Effect] { alterEffects(effects, event, instant) }

    func reread(_ core: DeviceLifecycle) -> DeviceLifecycle? { alterState(core) }
}

extension Mutant {
    /// Each effect is replaced by what is given for it.
    static func replacing(_ replace: @escaping (Effect) -> [Effect]) -> Mutant {
        Mutant(effects: { effects, _, _ in effects.flatMap(replace) })
    }

    /// An instance is thawed when everybody is frozen and the board may sleep.
    static func thawingInSleep() -> Mutant {
        var frozen: [InstanceID] = []
        return replacing { effect in
            switch effect {
            case .process(.freeze(let instance)): frozen.append(instance)
            case .process(.thaw(let instance)): frozen.removeAll { $0 == instance }
            case .report(let end): frozen.removeAll { $0 == end.instance }
            case .note(.sleep(.released)): if let instance = frozen.last { return [effect, .process(.thaw(instance))] }
            default: break
            }
            return [effect]
        }
    }

    /// After a sleep it sends an app to background, as if somebody had asked for that.
    static func forgettingPhase() -> Mutant {
        var hasSlept = false
        return Mutant(
            event: { event in
                guard event == .timePassed, hasSlept else { return event }
                hasSlept = false
                return .client(.requested(RequestID(rawValue: -1), .background(AppID(rawValue: 0))))
            },
            effects: { effects, _, _ in
                if effects.contains(where: { if case .note(.sleep(.ended)) = $0 { true } else { false } }) {
                    hasSlept = true
                }
                return effects
            })
    }

    /// A battery has one per cent less than it says.
    static func hearingLess() -> Mutant {
        Mutant(event: { event in
            guard case .board(.power(let reading)) = event, let level = reading.level, level > 0 else { return event }
            return .board(.power(PowerReading(isExternal: reading.isExternal, level: level - 1)))
        })
    }

    /// All ends of the next app are reported when it has been started again.
    static func reportingLate() -> Mutant {
        var kept: [Effect] = []
        return replacing { effect in
            switch effect {
            case .report:
                kept.append(effect)
                return []
            case .process(.spawn):
                defer { kept = [] }
                return [effect] + kept
            default: return [effect]
            }
        }
    }

    /// Deadlines run out 10 % before the app was told they would.
    static func hurrying() -> Mutant {
        replacing { effect in
            switch effect {
            case .app(.call(let instance, let id, let call, let deadline)):
                return [.app(.call(instance, id, call, allowance: deadline + deadline / 9))]
            case .report(var end):
                end.allowance = end.allowance.map { $0 + $0 / 9 }
                return [.report(end)]
            default: return [effect]
            }
        }
    }

    /// A watchdog of the simple sort: MONOTONIC since the call, whether the app was frozen or the board stood still.
    static func countingAllTime() -> Mutant {
        struct Call {
            let instance: InstanceID
            let id: CallID
            let handler: Handler
            let told: Nanoseconds
            let at: Nanoseconds
        }
        var calls: [Call] = []
        var overrun: [Call] = []
        return Mutant(effects: { effects, event, instant in
            if case .app(.handlerReturned(let instance, let id)) = event {
                calls.removeAll { $0.instance == instance && $0.id == id }
            }
            var altered: [Effect] = []
            for effect in effects {
                switch effect {
                case .app(.call(let instance, let id, let call, let told)):
                    calls.append(
                        Call(instance: instance, id: id, handler: call.handler, told: told, at: instant.monotonic))
                case .process(.kill(let instance)): calls.removeAll { $0.instance == instance }
                case .report(var end):
                    calls.removeAll { $0.instance == end.instance }
                    if let call = overrun.first(where: { $0.instance == end.instance }) {
                        end.reason = .handlerOverrun(call.handler, allowance: call.told)
                        end.handler = call.handler
                        end.allowance = call.told
                        altered.append(.report(end))
                        continue
                    }
                default: break
                }
                altered.append(effect)
            }
            let due = calls.filter { instant.monotonic - $0.at >= $0.told }
            calls.removeAll { instant.monotonic - $0.at >= $0.told }
            overrun += due
            return altered + due.map { .process(.kill($0.instance)) }
        })
    }
}
