internal import Lifecycle

/// What an app is told without being waited for: of each kind the latest word, once, as soon as it can hear it (in a
/// sleep, those that are about to be frozen hear of it afterwards).
///
/// Memory: an operator's word, its own limit, or pressure that has grown. Power and heat: what is in force, when it
/// differs from what the app was told last, or knew as it was launched (the battery's level in steps of 5 %).
final class InformationChecker: Checker {
    static let sees: [EffectKind]? = [.boardNotice, .sleepNotice, .reply, .inform, .watchMemoryLimit, .spawn, .report]

    private struct Known: Equatable {
        var isOnBattery: Bool
        var level: Int
        var isLowPower: Bool
        var heat: ThermalState

        init(_ conditions: ConditionKnowledge) {
            isOnBattery = conditions.wasOnBattery
            level = conditions.toldLevel
            isLowPower = conditions.isLowPower
            heat = conditions.heat
        }
    }

    private var pending: [(instance: InstanceID, level: MemoryLevel)] = []
    /// What is said of their own limits is not listened to until then.
    private var quiet: [(instance: InstanceID, end: Nanoseconds)] = []
    private var known: [(instance: InstanceID, what: Known)] = []
    /// In this step: of each kind one.
    private var told: [(instance: InstanceID, kind: Int)] = []
    private var isAwake = true

    func heard(_ event: Event, _ scene: Scene) {
        told = []
        if case .memory(.limitReached(let instance)) = event, let record = scene.chronicle.record(instance),
            record.isSpawned, record.isAlive, !quiet.contains(where: { $0.instance == instance })
        {
            expect(.warning, instance)
            quiet.append((instance, scene.now + .seconds(10)))
        }
    }

    private func expect(_ level: MemoryLevel, _ instance: InstanceID) {
        pending.removeAll { $0.instance == instance }
        pending.append((instance, level))
    }

    /// Pressure has grown: by the first thing that is done, every app that runs is to be told.
    private func notePressure(_ scene: Scene) {
        for record in scene.chronicle.records where record.isSpawned && record.isAlive && !record.isKillAsked {
            expect(scene.conditions.pressure == .critical ? .critical : .warning, record.instance)
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.board(.memoryPressure)): if scene.conditions.hasWorsened { notePressure(scene) }
        case .client(.reply(let id, .app(.done))):
            guard case .client(.requested(id, .warnOfMemory(let app, let level))) = scene.step.event,
                let record = scene.chronicle.records.last(where: { $0.app == app && $0.isAlive })
            else { return }
            expect(level, record.instance)
        case .app(.inform(let instance, let what)):
            judge(what, instance, scene)
            guard let record = scene.chronicle.record(instance) else { return }
            // SIGTERM may have been a warning, and its end is asked for only now.
            let isWarned = scene.step.effects.contains {
                if case .client(.taskChanged(_, instance, _, .expiring)) = $0 { true } else { false }
            }
            if isWarned { return }
            if !scene.isLaunched(record) || record.isKillAsked || record.isTerminateAsked || record.isFreezeAsked {
                violate("\(scene.name(instance)) is told what it cannot hear", scene)
            }
        case .memory(.watchLimit(let instance)): listen(instance, scene)
        case .process(.spawn(_, let instance, _, _)): known.append((instance, Known(scene.conditions)))
        case .note(.sleep(.preparing)): isAwake = false
        case .note(.sleep(.ended)): isAwake = true
        case .report(let end):
            pending.removeAll { $0.instance == end.instance }
            known.removeAll { $0.instance == end.instance }
            quiet.removeAll { $0.instance == end.instance }
        default: break
        }
    }

    private func listen(_ instance: InstanceID, _ scene: Scene) {
        let end = quiet.first { $0.instance == instance }?.end
        if end ?? .max > scene.now { violate("\(scene.name(instance)) is listened to again too soon", scene) }
        quiet.removeAll { $0.instance == instance }
    }

    private func judge(_ what: Information, _ instance: InstanceID, _ scene: Scene) {
        let name = scene.name(instance)
        let now = Known(scene.conditions)
        let place = known.firstIndex { $0.instance == instance }
        var before = place.map { known[$0].what } ?? now
        switch what {
        case .didReceiveMemoryWarning(let level):
            count(0, instance, scene)
            guard let index = pending.firstIndex(where: { $0.instance == instance }) else {
                return violate("\(name) is told what is not so", scene)
            }
            if pending[index].level != level { violate("\(name) is told an older word", scene) }
            pending.remove(at: index)
        case .powerStateDidChange(let isExternal, let level, let isLowPower):
            count(1, instance, scene)
            if isExternal == now.isOnBattery || level != scene.conditions.level || isLowPower != now.isLowPower {
                violate("\(name) is told another state of power than there is", scene)
            }
            before.heat = now.heat
            if before == now { violate("\(name) is told of power, and nothing has changed", scene) }
            if let place {
                let heat = known[place].what.heat
                known[place].what = now
                known[place].what.heat = heat
            }
        case .thermalStateDidChange(let state):
            count(2, instance, scene)
            if state != now.heat { violate("\(name) is told that it is \(state.name)", scene) }
            if before.heat == state { violate("\(name) is told of heat, and nothing has changed", scene) }
            if let place { known[place].what.heat = state }
        }
    }

    private func count(_ kind: Int, _ instance: InstanceID, _ scene: Scene) {
        if told.contains(where: { $0.instance == instance && $0.kind == kind }) {
            violate("\(scene.name(instance)) is told twice", scene)
        }
        told.append((instance, kind))
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for (instance, end) in quiet where scene.chronicle.record(instance).map(scene.isWell) ?? false {
            if scene.now >= end { violate("\(scene.name(instance)) is never listened to again", scene) }
            if step.asksNow?.at ?? .max > end { violate("nothing is due to listen to it again", scene) }
        }
        guard isAwake else { return }
        for (instance, level) in pending where canHear(instance, scene) {
            violate("\(scene.name(instance)) is not told of memory: \(level.name)", scene)
        }
        let now = Known(scene.conditions)
        for (instance, what) in known where what != now && canHear(instance, scene) {
            violate("\(scene.name(instance)) is not told of power or heat", scene)
        }
    }

    private func canHear(_ instance: InstanceID, _ scene: Scene) -> Bool {
        guard let record = scene.chronicle.record(instance) else { return false }
        return scene.isWell(record) && scene.isLaunched(record) && !record.isFreezeAsked
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.informed, message) }
}
