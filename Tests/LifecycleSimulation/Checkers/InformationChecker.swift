internal import Lifecycle

/// What an app is told without being waited for: of each kind the latest word, once, as soon as it can hear it (in a
/// sleep, those that are about to be frozen hear of it afterwards).
final class InformationChecker: Checker {
    private var pending: [(instance: InstanceID, level: MemoryLevel)] = []

    private var isAwake = true

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .reply(let id, .done):
            guard case .requested(id, .warnOfMemory(let app, let level)) = scene.step.event,
                let record = scene.chronicle.records.last(where: { $0.app == app && $0.isAlive })
            else { return }
            pending.removeAll { $0.instance == record.instance }
            pending.append((record.instance, level))
        case .inform(let instance, .didReceiveMemoryWarning(let level)):
            guard let index = pending.firstIndex(where: { $0.instance == instance }) else {
                return violate("\(scene.name(instance)) is told what nobody said", scene)
            }
            if pending[index].level != level { violate("\(scene.name(instance)) is told an older word", scene) }
            pending.remove(at: index)
            guard let record = scene.chronicle.record(instance) else { return }
            if !scene.isLaunched(record) || record.isKillAsked || record.isTerminateAsked || record.isFreezeAsked {
                violate("\(scene.name(instance)) is told what it cannot hear", scene)
            }
        case .note(.sleepPreparing): isAwake = false
        case .note(.sleepEnded): isAwake = true
        case .report(let end): pending.removeAll { $0.instance == end.instance }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for (instance, level) in pending where isAwake {
            guard let record = scene.chronicle.record(instance), scene.isWell(record), scene.isLaunched(record),
                !record.isFreezeAsked
            else { continue }
            violate("\(scene.name(instance)) is not told of memory: \(level.name)", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.informed, message) }
}
