import Lifecycle
import LifecycleSimulation

extension MutationTests {
    static let ofConditions = [
        Mutation("turns back at once", .noFlapping) { .configured { _, device in device.debounce = .zero } },
        Mutation("turns back too late", .noFlapping) {
            .configured { _, device in device.debounce = device.debounce + .seconds(1) }
        },
        Mutation("loses the last word", .noFlapping) {
            Mutant(event: { if case .board(.lid(closed: false)) = $0 { nil } else { $0 } })
        },
        Mutation("lets the weaker win", .noFlapping) {
            .configured { _, device in device.responses[.lidClosed] = .inactive }
        },
        Mutation("hovers at a thermal limit", .noFlapping) { .withoutHysteresis() },
        Mutation("does not say that a limit is gone", .noFlapping) {
            .replacing { if case .note(.board(.phaseLimited(.active, _))) = $0 { [] } else { [$0] } }
        },
        Mutation("calls above the limit", .noFlapping) {
            .replacing {
                guard case .app(.call(let instance, let id, .willResignActive, let deadline)) = $0 else { return [$0] }
                return [.app(.call(instance, id, .didBecomeActive, allowance: deadline))]
            }
        },
        Mutation("is never short of memory", .noFlapping) {
            Mutant(event: {
                if case .memory(.read(_, let total, let uses)) = $0 {
                    .memory(.read(available: total, total: total, uses))
                } else {
                    $0
                }
            })
        },
        Mutation("keeps budgets in low power mode", .taskBudget) { .neverSaving() },
        Mutation("keeps the board awake in low power mode", .keepAwake) { .neverSaving() },
        Mutation("wakes the board in low power mode", .darkWake) { .neverSaving() },
        Mutation("sends the board to sleep for nothing", .darkWake) {
            .replacing { if case .note(.board(.lowPowerMode)) = $0 { [$0, .login(.suspendDevice)] } else { [$0] } }
        },
        Mutation("brings apps to the front of a locked session", .requestsAnswered) {
            .configured { _, device in
                for condition in [Condition.sessionLocked, .lidClosed] { device.responses[condition] = .nothing }
            }
        },
        Mutation("keeps apps from the front for too long", .requestsAnswered) {
            .configured { _, device in device.debounce = device.debounce + .seconds(20) }
        },
        Mutation("does not tell of power", .informed) {
            .replacing { if case .app(.inform(_, .powerStateDidChange)) = $0 { [] } else { [$0] } }
        },
        Mutation("tells the wrong supply", .informed) {
            .replacing {
                guard case .app(.inform(let instance, .powerStateDidChange(let external, let level, let saving))) = $0
                else {
                    return [$0]
                }
                return [
                    .app(
                        .inform(
                            instance,
                            .powerStateDidChange(externalPower: !external, batteryLevel: level, lowPowerMode: saving)))
                ]
            }
        },
        Mutation("tells of heat that is over", .informed) {
            .replacing {
                guard case .app(.inform(let instance, .thermalStateDidChange)) = $0 else { return [$0] }
                return [.app(.inform(instance, .thermalStateDidChange(.critical)))]
            }
        },
        Mutation("tells the frozen", .informed) {
            .replacing {
                guard case .process(.freeze(let instance)) = $0 else { return [$0] }
                return [$0, .app(.inform(instance, .thermalStateDidChange(.critical)))]
            }
        },
        Mutation("does not listen to a memory limit again", .informed) {
            .replacing { if case .memory(.watchLimit) = $0 { [] } else { [$0] } }
        },
        Mutation("ends the smallest first", .jetsam) { .reading { (1 << 30) &- $0 } },
        Mutation("ends too many", .jetsam) { .reading { min($0, 1) } },
        Mutation("ends too few", .jetsam) { .reading { $0 == 0 ? 0 : 1 << 40 } },
        Mutation("ends the highest band first", .jetsam) {
            .configured { app, _ in
                app.priorityBand = app.priorityBand < 900 ? 899 - app.priorityBand : app.priorityBand
            }
        },
        Mutation("protects nobody from memory", .jetsam) { .configured { _, device in device.protectedBand = .max } },
        Mutation("reads twice at a time", .jetsam) {
            .replacing { if case .memory(.read) = $0 { [$0, $0] } else { [$0] } }
        },
        Mutation("does not read", .jetsam) { .replacing { if case .memory(.read) = $0 { [] } else { [$0] } } },
        Mutation("takes a warning for critical", .jetsam) {
            Mutant(event: { $0 == .memory(.pressure(.warning)) ? .memory(.pressure(.critical)) : $0 })
        },
        Mutation("takes the kernel's kill for a crash", .jetsam) {
            Mutant(event: { if case .memory(.killed) = $0 { nil } else { $0 } })
        },
        Mutation("ends another one before the last is gone", .jetsam) {
            .endingAnother(.memoryCritical(available: 0, bytes: 1, isProtected: false)) {
                if case .memory(.read) = $0 { true } else { false }
            }
        },
        Mutation("ends nobody for heat", .heat) {
            .configured { _, device in device.responses[.thermalCritical] = .nothing }
        },
        Mutation("ends all bands for heat at once", .heat) { .configured { app, _ in app.priorityBand = 0 } },
        Mutation("protects nobody from heat", .heat) { .configured { _, device in device.protectedBand = .max } },
        Mutation("ends the highest band for heat first", .heat) {
            .configured { app, _ in
                app.priorityBand = app.priorityBand < 900 ? 899 - app.priorityBand : app.priorityBand
            }
        },
        Mutation("does not let the board cool down", .heat) { .endingAnother(.overheated) { _ in true } },
    ]

    static let ofBoards = [
        Mutation("switches off before the apps are gone", .powerOff) {
            .replacing { if case .note(.shutdown(.criticalBattery)) = $0 { [$0, .login(.powerOff)] } else { [$0] } }
        },
        Mutation("never switches off", .powerOff) { .replacing { $0 == .login(.powerOff) ? [] : [$0] } },
        Mutation("asks for the power twice", .powerOff) { .replacing { $0 == .login(.powerOff) ? [$0, $0] : [$0] } },
        Mutation("does not confirm a critical battery", .powerOff) {
            .configured { _, device in device.batteryCritical += 10 }
        },
        Mutation("ignores a critical battery", .powerOff) {
            .configured { _, device in device.responses[.batteryCritical] = .lowPower }
        },
        Mutation("does not hear of the charger", .powerOff) {
            Mutant(event: {
                guard case .board(.power(let reading)) = $0, reading.isExternal == true else { return $0 }
                return nil
            })
        },
        Mutation("never feeds", .hardwareWatchdog) { .replacing { $0 == .watchdog(.feed) ? [] : [$0] } },
        Mutation("feeds twice", .hardwareWatchdog) { .replacing { $0 == .watchdog(.feed) ? [$0, $0] : [$0] } },
        Mutation("feeds too late", .hardwareWatchdog) { .arming { $0 + $0 } },
        Mutation("feeds too often", .hardwareWatchdog) { .arming { $0 / 2 } },
        Mutation("feeds whoever is lost", .hardwareWatchdog) { .configured { app, _ in app.isEssential = false } },
        Mutation("misses who need not be there", .hardwareWatchdog) {
            .configured { app, _ in app.isEssential = true }
        },
        Mutation("does not rest", .hardwareWatchdog) { .replacing { $0 == .watchdog(.rest) ? [] : [$0] } },
        Mutation("does not wake", .hardwareWatchdog) { .replacing { $0 == .watchdog(.wake) ? [] : [$0] } },
        Mutation("is watched in a sleep", .serviceWatchdog) {
            .replacing { $0 == .watchdog(.restService) ? [] : [$0] }
        },
        Mutation("is not watched after a sleep", .serviceWatchdog) {
            .replacing { $0 == .watchdog(.wakeService) ? [] : [$0] }
        },
        Mutation("lets two to the front", .oneInFront) { .configured { _, device in device.front = .many } },
        Mutation("does not bring who was asked for", .oneInFront) {
            Mutant(event: {
                guard case .client(.requested(let id, .activate(let app))) = $0 else { return $0 }
                return .client(.requested(id, .background(app)))
            })
        },
        Mutation("is woken by nothing", .logicalSleep) { .configured { _, device in device.wakeSources = [] } },
        Mutation("is woken by everything", .logicalSleep) { .configured { _, device in device.wakeSources = .all } },
        Mutation("misses the power key", .logicalSleep) {
            Mutant(event: { $0 == .board(.keyPressed(.power)) ? nil : $0 })
        },
        Mutation("leaves who was in front ended", .returns) { .configured { app, _ in app.restart = .never } },
        Mutation("brings back before the board is well", .restartsBounded) {
            .replacing {
                guard case .report(let end) = $0, end.reason.namespace == .jetsam else { return [$0] }
                return [$0, .process(.spawn(end.app, InstanceID(rawValue: 1_000_000), .restart, background: true))]
            }
        },
    ]
}

extension Mutant {
    /// The apps' sizes are altered before the core hears of them.
    static func reading(_ change: @escaping (Int64) -> Int64) -> Mutant {
        Mutant(event: { event in
            guard case .memory(.read(let available, let total, let uses)) = event else { return event }
            let altered = uses.map { MemoryUse(instance: $0.instance, bytes: $0.bytes.map(change)) }
            return .memory(.read(available: available, total: total, altered))
        })
    }

    /// The board's watchdog has another timeout.
    static func arming(_ change: @escaping (Nanoseconds) -> Nanoseconds) -> Mutant {
        Mutant(event: { event in
            guard case .watchdog(.hardware(let timeout?)) = event else { return event }
            return .watchdog(.hardware(timeout: change(timeout)))
        })
    }

    /// What is a little below a thermal limit is well below it.
    static func withoutHysteresis() -> Mutant {
        Mutant(event: { event in
            guard case .board(.temperatures(let readings)) = event else { return event }
            return .board(
                .temperatures(
                    readings.map { reading in
                        var altered = reading
                        for limit in [reading.fair, reading.serious, reading.critical].compactMap({ $0 })
                        where (limit - 3000..<limit).contains(reading.temperature ?? .min) {
                            altered.temperature = limit - 3001
                        }
                        return altered
                    }))
        })
    }

    /// Energy is not saved, whatever the conditions ask.
    static func neverSaving() -> Mutant {
        Mutant(event: { event in
            if case .client(.requested(_, .setLowPower)) = event { return nil }
            guard case .configured(let apps, var device) = event else { return event }
            for condition in Condition.allCases {
                switch device.responses[condition] {
                case .pause, .lowPower, .kill, .powerOff: device.responses[condition] = .nothing
                case .nothing, .inactive, .background, .sleep: break
                }
            }
            return .configured(apps, device)
        })
    }

    /// Once one has been ended for something the next event ends another, too.
    static func endingAnother(_ reason: TerminationReason, on isMeant: @escaping (Event) -> Bool) -> Mutant {
        var alive: [InstanceID] = []
        var more: [InstanceID] = []
        var hasEnded = false
        return Mutant(effects: { effects, event, _ in
            if case .process(.spawned(let instance)) = event { alive.append(instance) }
            var altered: [Effect] = []
            for effect in effects {
                switch effect {
                case .process(.kill(let instance)): alive.removeAll { $0 == instance }
                case .report(var end):
                    alive.removeAll { $0 == end.instance }
                    if end.reason.namespace == reason.namespace { hasEnded = true }
                    if more.contains(end.instance) { end.reason = reason }
                    altered.append(.report(end))
                    continue
                default: break
                }
                altered.append(effect)
            }
            if hasEnded, more.isEmpty, isMeant(event), let instance = alive.popLast() {
                more.append(instance)
                altered.append(.process(.kill(instance)))
            }
            return altered
        })
    }
}
