import Lifecycle
import LifecycleSimulation

extension MutationTests {
    static let ofTasks = [
        Mutation("ends a task twice", .taskEnded) {
            .replacing { if case .client(.taskChanged(_, _, _, .ended)) = $0 { [$0, $0] } else { [$0] } }
        },
        Mutation("forgets the tasks of who is gone", .taskEnded) {
            .replacing { if case .client(.taskChanged(_, _, _, .died)) = $0 { [] } else { [$0] } }
        },
        Mutation("tells another identifier", .taskEnded) {
            .replacing {
                guard case .client(.reply(let request, .beginBackgroundTask(.begun(let task, let left)))) = $0 else {
                    return [$0]
                }
                return [
                    .client(
                        .reply(
                            request,
                            .beginBackgroundTask(
                                .begun(BackgroundTaskID(rawValue: task.rawValue + 1), timeRemaining: left))))
                ]
            }
        },
        Mutation("uses identifiers twice", .taskEnded) {
            .namingTasks { BackgroundTaskID(rawValue: ($0.rawValue + 1) / 2) }
        },
        Mutation("ends what is not held", .taskEnded) {
            .replacing {
                if case .client(.reply(let request, .endBackgroundTask(.noSuchTask))) = $0 {
                    [.client(.reply(request, .endBackgroundTask(.ended)))]
                } else {
                    [$0]
                }
            }
        },
        Mutation("kills 10 % early", .taskBudget) {
            .configured { app, _ in app.taskBudget = app.taskBudget - app.taskBudget / 10 }
        },
        Mutation("gives 10 % more", .taskBudget) {
            .configured { app, _ in app.taskBudget = app.taskBudget + app.taskBudget / 10 + .seconds(5) }
        },
        Mutation("never kills who has spent it all", .taskBudget) { .sparing() },
        Mutation("calls the oldest task first", .taskBudget) { .callingOldestFirst() },
        Mutation("does not say that the time runs out", .taskBudget) {
            .replacing {
                switch $0 {
                case .client(.taskChanged(_, _, _, .expiring)), .app(.call(_, _, .backgroundTaskWillExpire, _)): []
                default: [$0]
                }
            }
        },
        Mutation("refills the pool at a restart", .taskBudget) { .launching(.user, for: .restart) },
        Mutation("charges an operator's launch for what was spent before", .taskBudget) {
            .launching(.restart, for: .user)
        },
        Mutation("charges the time in which it was frozen", .taskBudget) { .chargingFrozenTime() },
        Mutation("freezes who holds a task", .frozenSilence) {
            Mutant(effects: { effects, event, _ in
                guard case .client(.requested(_, .beginBackgroundTask(let instance, _))) = event,
                    effects.contains(where: { if case .client(.taskChanged) = $0 { true } else { false } })
                else { return effects }
                return effects + [.process(.freeze(instance))]
            })
        },
        Mutation("calls the next expiration handler too soon", .handlerOrder) {
            .replacing {
                guard case .app(.call(let instance, let id, let call, let deadline)) = $0,
                    call.handler == .backgroundTaskWillExpire
                else { return [$0] }
                return [$0, .app(.call(instance, CallID(rawValue: id.rawValue + 1), call, allowance: deadline))]
            }
        },
        Mutation("keeps the board awake after the last task", .keepAwake) {
            .replacing { $0 == .login(.releaseLock(.keepAwake)) ? [] : [$0] }
        },
        Mutation("never keeps the board awake", .keepAwake) {
            .replacing { $0 == .login(.takeLock(.keepAwake)) ? [] : [$0] }
        },
        Mutation("keeps the board awake beyond the budget", .keepAwake) {
            Mutant(effects: { effects, _, _ in
                let isSpent = effects.contains { if case .note(.app(.keepAwakeSpent)) = $0 { true } else { false } }
                return isSpent ? effects.filter { $0 != .login(.releaseLock(.keepAwake)) } : effects
            })
        },
        Mutation("keeps the board awake too shortly", .keepAwake) {
            .configured { app, _ in app.taskBudget = app.taskBudget / 2 }
        },
        Mutation("keeps the board awake in its sleep", .keepAwake) {
            .replacing { if case .note(.sleep(.released)) = $0 { [$0, .login(.takeLock(.keepAwake))] } else { [$0] } }
        },
        Mutation("lets everybody keep the board awake", .keepAwake) {
            .configured { app, _ in app.keepsAwake = true }
        },
        Mutation("waits for tasks beyond the grace", .taskGrace) {
            .configured { _, device in device.taskGrace = device.taskGrace + .seconds(2) }
        },
        Mutation("has no grace", .taskGrace) { .configured { _, device in device.taskGrace = .zero } },
        Mutation("does not tell of memory", .informed) {
            .replacing { if case .app(.inform) = $0 { [] } else { [$0] } }
        },
        Mutation("tells of memory twice", .informed) {
            .replacing { if case .app(.inform) = $0 { [$0, $0] } else { [$0] } }
        },
    ]
}

extension Mutant {
    /// Every policy is altered before the core hears of it.
    static func configured(_ change: @escaping (inout AppPolicy, inout DevicePolicy) -> Void) -> Mutant {
        Mutant(event: { event in
            guard case .configured(var apps, var device) = event else { return event }
            var other = device
            for index in apps.indices {
                other = device
                change(&apps[index], &other)
            }
            device = other
            return .configured(apps, device)
        })
    }

    /// Tasks are given other identifiers.
    static func namingTasks(_ name: @escaping (BackgroundTaskID) -> BackgroundTaskID) -> Mutant {
        replacing { effect in
            switch effect {
            case .client(.taskChanged(let app, let instance, var task, let change)):
                task.id = name(task.id)
                return [.client(.taskChanged(app, instance, task, change))]
            case .client(.reply(let request, .beginBackgroundTask(.begun(let task, let left)))):
                return [.client(.reply(request, .beginBackgroundTask(.begun(name(task), timeRemaining: left))))]
            default: return [effect]
            }
        }
    }

    /// Whose budget is spent goes on.
    static func sparing() -> Mutant {
        Mutant(effects: { effects, _, _ in
            var spared: [InstanceID] = []
            for case .note(.app(.overrun(_, let instance, let reason))) in effects
            where reason.namespace == .backgroundTask {
                spared.append(instance)
            }
            return effects.filter {
                if case .process(.kill(let instance)) = $0 { !spared.contains(instance) } else { true }
            }
        })
    }

    /// Expiration handlers are called in the order in which the tasks began.
    static func callingOldestFirst() -> Mutant {
        var open: [(instance: InstanceID, task: BackgroundTaskID, isCalled: Bool)] = []
        var chosen: BackgroundTaskID?
        return replacing { effect in
            switch effect {
            case .client(.taskChanged(let app, let instance, var task, let change)):
                switch change {
                case .began: open.append((instance, task.id, false))
                case .expiring:
                    if let index = open.firstIndex(where: { $0.instance == instance && !$0.isCalled }) {
                        open[index].isCalled = true
                        task.id = open[index].task
                    }
                    chosen = task.id
                case .ended, .expired, .died: open.removeAll { $0.task == task.id }
                }
                return [.client(.taskChanged(app, instance, task, change))]
            case .app(.call(let instance, let id, .backgroundTaskWillExpire(let task, let name), let deadline)):
                return [
                    .app(
                        .call(instance, id, .backgroundTaskWillExpire(chosen ?? task, name: name), allowance: deadline))
                ]
            default: return [effect]
            }
        }
    }

    /// What was launched for one reason is treated as if it was for another.
    static func launching(_ inner: LaunchReason, for outer: LaunchReason) -> Mutant {
        replacing { effect in
            guard case .process(.spawn(let app, let instance, inner, let background)) = effect else { return [effect] }
            return [.process(.spawn(app, instance, outer, background: background))]
        }
    }

    /// Who was frozen for longer than any budget with a task in its hands is killed for it.
    static func chargingFrozenTime() -> Mutant {
        var held: [(app: AppID, instance: InstanceID, task: BackgroundTaskID)] = []
        var background: Set<AppID> = []
        var frozen: [(instance: InstanceID, at: Nanoseconds)] = []
        var killed: [InstanceID] = []
        return Mutant(effects: { effects, _, instant in
            effects.flatMap { effect -> [Effect] in
                switch effect {
                case .note(.app(.phaseChanged(let app, .background))): background.insert(app)
                case .note(.app(.phaseChanged(let app, _))): background.remove(app)
                case .client(.taskChanged(let app, let instance, let task, .began)):
                    held.append((app, instance, task.id))
                case .client(.taskChanged(_, _, let task, .ended)), .client(.taskChanged(_, _, let task, .expired)),
                    .client(.taskChanged(_, _, let task, .died)):
                    held.removeAll { $0.task == task.id }
                case .process(.freeze(let instance)): frozen.append((instance, instant.monotonic))
                case .process(.thaw(let instance)):
                    let since = frozen.last { $0.instance == instance }?.at ?? instant.monotonic
                    guard held.contains(where: { $0.instance == instance && background.contains($0.app) }),
                        instant.monotonic - since > .seconds(30)
                    else { break }
                    killed.append(instance)
                    return [effect, .process(.kill(instance))]
                case .report(var end) where killed.contains(end.instance):
                    end.reason = .taskBudgetSpent(budget: .seconds(30), held: ["one"], more: 0)
                    return [.report(end)]
                default: break
                }
                return [effect]
            }
        })
    }
}
